//! [`Provisioner`]: the Tag-and-Forward configuration of a fat-tree's switches, for Python, as request bodies for
//! their control sockets (docs/switchd.md).

use std::collections::BTreeMap;
use std::net::IpAddr;

use pyo3::prelude::*;
use serde::Serialize;
use weft_control::tag_forward::{self, FlowChange, FlowRule, GroupId, PRIORITY, Way};
use weft_fabric::Fabric;
use weft_units::{LinkId, NodeId, PortId};

use crate::gates::{GatePlan, wrong};

/// See `python/weft/_weft.pyi`.
#[pyclass]
pub struct Provisioner {
    fabric: Fabric,
    provisioner: tag_forward::Provisioner,
}

/// The body of `PUT /v1/flows`.
#[derive(Serialize)]
struct Flows<'a> {
    priority: u16,
    rules: Vec<FlowRule>,
    groups: Vec<Group<'a>>,
}

/// A group in the control socket's format.
#[derive(Serialize)]
struct Group<'a> {
    id: GroupId,
    ways: &'a [Way],
}

/// A change in the control socket's format.
fn change_json(change: &FlowChange) -> PyResult<String> {
    serde_json::to_string(change).map_err(wrong)
}

#[pymethods]
impl Provisioner {
    #[new]
    fn new(py: Python<'_>, plan: &GatePlan, addresses: BTreeMap<String, Vec<String>>) -> PyResult<Self> {
        let (fabric, plan) = (plan.fabric.clone(), plan.plan.clone());
        let mut by_host = vec![Vec::new(); fabric.host_count()];
        for (name, addresses) in addresses {
            let node = fabric.find(&name).map_err(wrong)?;
            let host = fabric.node(node).host;
            let host =
                host.ok_or_else(|| wrong(format!("`{name}` is a switch: only hosts have addresses")))?;
            let parsed = addresses.iter().map(|address| {
                let parsed: Result<IpAddr, _> = address.parse();
                parsed.map_err(|_| wrong(format!("`{address}` is not a valid IP address")))
            });
            by_host[host.index()] = parsed.collect::<PyResult<_>>()?;
        }
        let provisioner =
            py.detach(|| tag_forward::Provisioner::new(&fabric, plan, |host| by_host[host.index()].clone()));
        Ok(Self { fabric, provisioner })
    }

    fn gates(&self, switch: &str) -> PyResult<String> {
        let plan = self.provisioner.plan();
        let gates = plan.switch(self.switch(switch)?);
        let mut body = serde_json::to_value(gates).map_err(wrong)?;
        body["width"] = plan.width().to_string().into();
        Ok(body.to_string())
    }

    #[pyo3(signature = (switch, pairs = None))]
    fn flows(&self, py: Python<'_>, switch: &str, pairs: Option<Vec<(String, String)>>) -> PyResult<String> {
        let node = self.switch(switch)?;
        let all = || {
            let changes = self.provisioner.provision(node).into_iter();
            let added = |change| match change {
                FlowChange::Add(rule) => Some(rule),
                _ => None,
            };
            changes.filter_map(added).collect()
        };
        let rules: Vec<FlowRule> = match pairs {
            None => py.detach(all),
            Some(pairs) => {
                let rules = pairs.iter().filter_map(|(source, destination)| {
                    let pair = (source.parse().ok()?, destination.parse().ok()?);
                    self.provisioner.pair(node, pair.0, pair.1).ok()
                });
                rules.collect()
            }
        };
        let groups = self.provisioner.groups(node).map(|(id, ways)| Group { id, ways });
        let flows = Flows { priority: PRIORITY, rules, groups: groups.collect() };
        py.detach(|| serde_json::to_string(&flows)).map_err(wrong)
    }

    fn link_changed(
        &mut self,
        py: Python<'_>,
        switch: &str,
        port: u16,
        up: bool,
    ) -> PyResult<Vec<(String, u32, String)>> {
        let node = self.switch(switch)?;
        let link: Option<LinkId> = self.fabric.link_at(node, PortId(port));
        let link = link.ok_or_else(|| wrong(format!("`{switch}` has no port {port}")))?;
        let changes = py.detach(|| self.provisioner.link_changed(link, up));
        let mut groups = Vec::new();
        for (node, change) in &changes {
            if let FlowChange::SetGroup { id, .. } = change {
                groups.push((self.fabric.node(*node).name.clone(), id.0, change_json(change)?));
            }
        }
        Ok(groups)
    }

    fn pair(&self, switch: &str, source: &str, destination: &str) -> PyResult<String> {
        let address =
            |text: &str| text.parse().map_err(|_| wrong(format!("`{text}` is not a valid IP address")));
        let (source, destination) = (address(source)?, address(destination)?);
        let rule = self.provisioner.pair(self.switch(switch)?, source, destination).map_err(wrong)?;
        change_json(&FlowChange::Add(rule))
    }
}

impl Provisioner {
    fn switch(&self, name: &str) -> PyResult<NodeId> {
        let node = self.fabric.find(name).map_err(wrong)?;
        let host = self.fabric.node(node).is_host();
        if host { Err(wrong(format!("`{name}` is a host: only switches are provisioned"))) } else { Ok(node) }
    }
}
