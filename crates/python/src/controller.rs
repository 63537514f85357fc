//! [`Controller`]: the controller for Python, OpenFlow bytes in and out.

use pyo3::exceptions::PyValueError;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyList, PyString};
use weft_control::{
    Core, Duration, Kind, Offence, PortNo, Settings, Show, Smoc, Southbound, SouthboundLimits, SpanningTree,
    Stop, SwitchId, SwitchPort, Time, Trouble,
};

/// An offence of a port: kind, datapath id, port, MAC address, IP address, count.
type Offended<'py> = (Bound<'py, PyString>, u64, u32, Option<String>, Option<String>, u64);

/// The settings of the core, except the expected fabric.
#[pyfunction]
pub fn controller_settings() -> PyResult<String> {
    serde_json::to_string(Settings::PARAMS).map_err(|error| PyValueError::new_err(error.to_string()))
}

/// Messages to send: datapath ids and bytes.
type Sends<'py> = Bound<'py, PyList>;

/// See `python/weft/_weft.pyi`.
#[pyclass]
pub struct Controller {
    southbound: Southbound,
    /// The first time.
    origin: Option<f64>,
    /// The latest time.
    now: Time,
}

#[pymethods]
impl Controller {
    #[new]
    fn new(settings: &str) -> PyResult<Self> {
        let wrong = |error: weft_control::SettingsError| PyValueError::new_err(error.to_string());
        let settings = Settings::from_json(settings).map_err(wrong)?;
        let limits = SouthboundLimits::of(&settings);
        let core: Core = match settings.controller {
            Kind::Smoc => Box::new(Smoc::new(settings).map_err(wrong)?),
            Kind::SpanningTree => Box::new(SpanningTree::new(settings).map_err(wrong)?),
        };
        Ok(Self { southbound: Southbound::new(core, limits), origin: None, now: Time::ZERO })
    }

    fn received<'py>(
        &mut self,
        py: Python<'py>,
        now: f64,
        dpid: u64,
        data: &[u8],
        place: usize,
    ) -> PyResult<(usize, Sends<'py>, Option<Bound<'py, PyAny>>)> {
        let now = self.at(now);
        let (place, stop) = self.southbound.received(now, SwitchId(dpid), data, place);
        let found = match stop {
            Stop::Rest | Stop::Other => None,
            Stop::Lldp { port, frame } => {
                Some((port.0, PyBytes::new(py, frame)).into_pyobject(py)?.into_any())
            }
            Stop::Malformed(error) => Some(PyString::new(py, &error.to_string()).into_any()),
        };
        Ok((place, self.sends(py)?, found))
    }

    fn switch_up<'py>(
        &mut self,
        py: Python<'py>,
        now: f64,
        dpid: u64,
        ports: Vec<u32>,
        answers: Vec<Bound<'py, PyBytes>>,
    ) -> PyResult<Sends<'py>> {
        let ports: Vec<PortNo> = ports.into_iter().map(PortNo).filter(|port| port.is_real()).collect();
        let now = self.at(now);
        let answers: Vec<&[u8]> = answers.iter().map(|answer| answer.as_bytes()).collect();
        self.southbound.switch_up(now, SwitchId(dpid), &ports, &answers);
        self.sends(py)
    }

    fn switch_down<'py>(
        &mut self,
        py: Python<'py>,
        now: f64,
        dpid: u64,
        left_alone: bool,
    ) -> PyResult<Sends<'py>> {
        let now = self.at(now);
        self.southbound.switch_down(now, SwitchId(dpid), left_alone);
        self.sends(py)
    }

    fn port_changed<'py>(
        &mut self,
        py: Python<'py>,
        now: f64,
        dpid: u64,
        port: u32,
        up: bool,
    ) -> PyResult<Sends<'py>> {
        let (now, at) = (self.at(now), SwitchPort::new(dpid, port));
        self.southbound.tell(now, |core, now, out| core.port_changed(now, at, up, out));
        self.sends(py)
    }

    fn link_changed<'py>(
        &mut self,
        py: Python<'py>,
        now: f64,
        source: (u64, u32),
        target: (u64, u32),
        up: bool,
    ) -> PyResult<Sends<'py>> {
        let [from, to] = [source, target].map(|(dpid, port)| SwitchPort::new(dpid, port));
        let now = self.at(now);
        self.southbound.tell(now, |core, now, out| core.link_changed(now, from, to, up, out));
        self.sends(py)
    }

    fn refused<'py>(
        &mut self,
        py: Python<'py>,
        now: f64,
        dpid: u64,
        xid: u32,
        reason: &str,
    ) -> PyResult<Sends<'py>> {
        let now = self.at(now);
        self.southbound.refused(now, SwitchId(dpid), xid, reason);
        self.sends(py)
    }

    fn frames<'py>(
        &mut self,
        py: Python<'py>,
        frames: Vec<(u64, u32, Bound<'py, PyBytes>)>,
    ) -> PyResult<Sends<'py>> {
        for (dpid, port, frame) in &frames {
            self.southbound.send_frame(SwitchPort::new(*dpid, *port), frame.as_bytes());
        }
        self.sends(py)
    }

    fn next_deadline(&self) -> f64 {
        match (self.southbound.next_deadline(), self.origin) {
            (Time::MAX, _) | (_, None) => f64::INFINITY,
            // Rounded up, so that the deadline has passed when the caller wakes.
            (deadline, Some(origin)) => origin + deadline.as_secs_f64() + 1e-6,
        }
    }

    fn on_deadline<'py>(&mut self, py: Python<'py>, now: f64) -> PyResult<Sends<'py>> {
        let now = self.at(now);
        self.southbound.on_deadline(now);
        self.sends(py)
    }

    fn set_ups(&mut self) -> Vec<f64> {
        self.southbound.set_ups().map(Duration::as_secs_f64).collect()
    }

    fn troubles<'py>(&mut self, py: Python<'py>) -> Vec<(Bound<'py, PyString>, u64, usize)> {
        let named = |trouble| match trouble {
            Trouble::Late(switch) => (intern!(py, "late").clone(), switch.0, 1),
            Trouble::Backlog(switch) => (intern!(py, "backlog").clone(), switch.0, 1),
            Trouble::Repaired(switch, rules) => (intern!(py, "repaired").clone(), switch.0, rules),
        };
        self.southbound.troubles().map(named).collect()
    }

    fn offences<'py>(&mut self, py: Python<'py>) -> Vec<Offended<'py>> {
        let row = |one: Offence| {
            let kind = PyString::intern(py, one.kind.name());
            let (mac, address) = (one.mac.map(|mac| mac.to_string()), one.address.map(|ip| ip.to_string()));
            (kind, one.at.switch.0, one.at.port.0, mac, address, one.count)
        };
        self.southbound.offences().into_iter().map(row).collect()
    }

    fn installing(&self) -> usize {
        self.southbound.installing()
    }

    #[pyo3(signature = (what, limit = 1000))]
    fn show(&self, what: &str, limit: usize) -> PyResult<String> {
        let Some(found) = Show::named(what) else {
            let names = Show::ALL.map(Show::name).join(", ");
            return Err(PyValueError::new_err(format!("unknown view {what:?}: expected one of {names}")));
        };
        Ok(self.southbound.core().show(self.now, found, limit).to_string())
    }

    fn counters<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let counters = PyDict::new(py);
        for (name, count) in self.southbound.counters() {
            counters.set_item(name, count)?;
        }
        Ok(counters)
    }
}

impl Controller {
    /// Converts the time for the core.
    fn at(&mut self, now: f64) -> Time {
        let origin = *self.origin.get_or_insert(now);
        self.now = self.now.max(Time::ZERO + Duration::from_secs_f64(now - origin));
        self.now
    }

    /// The messages to send.
    fn sends<'py>(&mut self, py: Python<'py>) -> PyResult<Sends<'py>> {
        let sends = PyList::empty(py);
        let mut failed = Ok(());
        self.southbound.send(|switch, bytes| {
            if failed.is_ok() {
                failed = sends.append((switch.0, PyBytes::new(py, bytes)));
            }
        });
        failed.map(|()| sends)
    }
}
