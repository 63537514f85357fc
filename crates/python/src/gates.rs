//! [`GatePlan`]: the gates of Tag-and-Forward, and the ways through them, for Python.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use weft_fabric::gates::{self, Direction, Numbering, SwitchGates, TagWidth};
use weft_fabric::{Fabric, LinkSpec, build, read};
use weft_units::HostId;

use crate::describe::fabric_of;
use crate::error::ScenarioError;

/// A switch, and the port and gate through which a frame leaves it.
type Hop<'a> = (&'a str, u16, u32);

/// A cable: a node and its port at either end.
type Cable<'a> = (&'a str, u16, &'a str, u16);

#[pyfunction]
#[pyo3(signature = (k, external = 0))]
pub fn tag_forward_state(k: u32, external: u32) -> PyResult<String> {
    let state = weft_control::tag_forward::state(k, external);
    let state = state.ok_or_else(|| {
        wrong(format!("there is no fat-tree of k = {k}: expected an even number, 2 to 1024"))
    })?;
    serde_json::to_string(&state).map_err(wrong)
}

/// See `python/weft/_weft.pyi`.
#[pyclass(frozen)]
pub struct GatePlan {
    pub fabric: Fabric,
    pub plan: gates::GatePlan,
}

#[pymethods]
impl GatePlan {
    #[staticmethod]
    #[pyo3(signature = (name, text, width = "narrow", external_places = None))]
    fn of_file(
        py: Python<'_>,
        name: &str,
        text: &str,
        width: &str,
        external_places: Option<u32>,
    ) -> PyResult<Self> {
        Self::of(py, fabric_file(name, text)?, width, external_places)
    }

    #[staticmethod]
    #[pyo3(signature = (text, name, base_dir, sets, width = "narrow", external_places = None))]
    fn of_scenario(
        py: Python<'_>,
        text: &str,
        name: &str,
        base_dir: &str,
        sets: Vec<String>,
        width: &str,
        external_places: Option<u32>,
    ) -> PyResult<Self> {
        Self::of(py, fabric_of(text, name, base_dir, &sets)?, width, external_places)
    }

    #[staticmethod]
    #[pyo3(signature = (k, routers = 0, width = "narrow"))]
    fn fat_tree(py: Python<'_>, k: u32, routers: u32, width: &str) -> PyResult<Self> {
        let link = LinkSpec::default();
        let fabric = py.detach(|| build::fat_tree_with_routers(k, routers, &link, &link, &link));
        Self::of(py, fabric.map_err(wrong)?, width, None)
    }

    fn given(&self, py: Python<'_>, switches: &str) -> PyResult<Self> {
        let fabric = self.fabric.clone();
        let switches: Vec<SwitchGates> = serde_json::from_str(switches)
            .map_err(|error| wrong(format!("this is not a valid list of switch gates: {error}")))?;
        let plan = py.detach(|| gates::GatePlan::given(&fabric, self.plan.width(), switches));
        let plan = plan.map_err(wrong)?;
        Ok(Self { fabric, plan })
    }

    fn json(&self) -> String {
        self.plan.to_json()
    }

    fn hosts(&self) -> Vec<&str> {
        (0..self.fabric.host_count() as u32).map(|host| self.fabric.host_name(HostId(host))).collect()
    }

    fn warnings(&self) -> Vec<String> {
        self.fabric.notes().to_vec()
    }

    fn cables(&self) -> Vec<Cable<'_>> {
        let name = |node| self.fabric.node(node).name.as_str();
        let pairs = self.fabric.links().chunks_exact(2).map(|pair| &pair[0]);
        pairs.map(|link| (name(link.from), link.from_port.0, name(link.to), link.to_port.0)).collect()
    }

    fn bits(&self) -> ((u32, u32), (u32, u32)) {
        let needed = |direction| {
            let gates = self.plan.switches().flat_map(|(_, gates)| gates.toward(direction));
            gates.map(|gate| u32::BITS - gate.gate.0.leading_zeros()).max().unwrap_or(0)
        };
        let width = self.plan.width();
        ((needed(Direction::Down), width.down_bits()), (needed(Direction::Up), width.up_bits()))
    }

    fn choices(&self, source: &str, destination: &str) -> PyResult<usize> {
        Ok(self.plan.choices(self.host(source)?, self.host(destination)?))
    }

    fn steering(
        &self,
        source: &str,
        destination: &str,
        choice: usize,
    ) -> PyResult<Option<(&str, u32, u32, u32)>> {
        let steering = self.plan.steering(self.host(source)?, self.host(destination)?, choice);
        Ok(steering.map(|(at, steering)| {
            (self.fabric.node(at).name.as_str(), steering.gate.0, steering.up, steering.down)
        }))
    }

    fn route(&self, source: &str, destination: &str, choice: usize) -> PyResult<Option<Vec<Hop<'_>>>> {
        let steering = self.plan.steering(self.host(source)?, self.host(destination)?, choice);
        let route = steering.and_then(|(at, steering)| self.plan.route(at, steering));
        Ok(route.map(|hops| {
            let hop = |hop: gates::Hop| (self.fabric.node(hop.switch).name.as_str(), hop.port.0, hop.gate.0);
            hops.into_iter().map(hop).collect()
        }))
    }
}

impl GatePlan {
    fn of(py: Python<'_>, fabric: Fabric, width: &str, external_places: Option<u32>) -> PyResult<Self> {
        let numbering = Numbering { width: parsed(width)?, external_places };
        let plan = py.detach(|| gates::GatePlan::of(&fabric, &numbering));
        let plan = plan.map_err(wrong)?;
        Ok(Self { fabric, plan })
    }

    fn host(&self, name: &str) -> PyResult<HostId> {
        let node = self.fabric.find(name).map_err(wrong)?;
        self.fabric.node(node).host.ok_or_else(|| wrong(format!("`{name}` is a switch: expected a host")))
    }
}

pub fn wrong(message: impl ToString) -> PyErr {
    PyValueError::new_err(message.to_string())
}

fn fabric_file(name: &str, text: &str) -> PyResult<Fabric> {
    let fabric = read::file(name, text.as_bytes(), &LinkSpec::default());
    fabric.map_err(|wrong| ScenarioError::new_err(format!("{name}: {wrong}")))
}

fn parsed(width: &str) -> PyResult<TagWidth> {
    width.parse().map_err(|error| wrong(format!("{error}, not `{width}`")))
}
