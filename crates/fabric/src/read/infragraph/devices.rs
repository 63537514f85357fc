//! [`Layouts`]: the components of each device, those of devices within devices included, as one row of numbers.

use std::collections::{BTreeMap, BTreeSet};

use super::document::{Component, Device, Edge, End, Kind, unknown};
use super::endpoint::{Piece, index_count, indices, pair_count, pairs};
use super::links::Link;
use super::table::{Fault, Word};
use crate::bounds::{MAX_CABLES, MAX_NODES};
use crate::{FabricError, visible};

/// Levels of devices within devices.
const DEEPEST: u32 = 32;

/// What is left of the endpoints and pairs that all edges of a file may select together.
pub(super) struct Budget(u64);

impl Budget {
    const ALL: u64 = 4 * MAX_CABLES;

    pub fn new() -> Self {
        Self(Self::ALL)
    }

    /// Uses `count` of it up.
    pub fn take(&mut self, count: u64) -> Result<(), FabricError> {
        let left = self.0.checked_sub(count);
        self.0 = left.ok_or(FabricError::TooMany {
            what: "endpoint of the file's edges",
            most: Self::ALL,
            given: (Self::ALL - self.0).saturating_add(count),
        })?;
        Ok(())
    }
}

/// A component of a device in the row of its numbers.
struct Part<'y> {
    component: &'y Component<'y>,
    /// Numbers of each copy.
    size: usize,
    /// The number of the first copy, or of what is in it.
    offset: usize,
    /// The layout of each copy, if it is a device.
    device: Option<usize>,
}

impl Part<'_> {
    /// Whether it has no numbers. Devices within it are not visited: their number is not bounded by the size.
    fn is_empty(&self) -> bool {
        self.size == 0
    }
}

/// The components of a device, numbered.
struct Layout<'y> {
    device: &'y Device<'y>,
    parts: Vec<Part<'y>>,
    size: usize,
    depth: u32,
}

/// An edge between two numbers of a device.
#[derive(Clone, Copy, Debug)]
pub(super) struct Inner<'y> {
    pub ends: [u32; 2],
    pub link: &'y Link<'y>,
}

/// All devices of a file.
pub(super) struct Layouts<'y> {
    layouts: Vec<Layout<'y>>,
    by_name: BTreeMap<&'y str, usize>,
}

impl<'y> Layouts<'y> {
    /// Numbers the components of `devices`.
    pub fn new(devices: &'y [Device<'y>]) -> Result<Self, Fault> {
        let mut made = Self { layouts: Vec::new(), by_name: BTreeMap::new() };
        let found = devices.iter().map(|device| (device.name, device)).collect();
        for device in devices {
            made.add(device, &found, &mut Vec::new())?;
        }
        Ok(made)
    }

    /// The layout of a device; `path` are the devices that contain it.
    fn add(
        &mut self,
        device: &'y Device<'y>,
        found: &BTreeMap<&'y str, &'y Device<'y>>,
        path: &mut Vec<&'y str>,
    ) -> Result<usize, Fault> {
        if let Some(known) = self.by_name.get(device.name) {
            return Ok(*known);
        }
        path.push(device.name);
        let (mut parts, mut size, mut depth) = (Vec::new(), 0_usize, 0);
        for component in &device.components {
            let Word { text, byte } = component.name;
            let element = format!("device `{}`, component `{}`", visible(device.name), visible(text));
            let inner = match component.kind {
                Kind::Device => {
                    let Some(inner) = found.get(text) else {
                        let why = unknown("device", text, found.keys().copied());
                        return Err(Fault::said(byte, &element, why));
                    };
                    if path.contains(&text) {
                        return Err(Fault::said(byte, &element, "this device contains itself"));
                    }
                    let at = if path.len() > DEEPEST as usize {
                        None
                    } else {
                        Some(self.add(inner, found, path)?)
                    };
                    match at.filter(|at| self.layouts[*at].depth < DEEPEST) {
                        Some(at) => Some(at),
                        None => {
                            let why = format!("devices are nested more than {DEEPEST} levels deep");
                            return Err(Fault::said(byte, &element, why));
                        }
                    }
                }
                _ => None,
            };
            let each = inner.map_or(1, |inner| self.layouts[inner].size);
            depth = depth.max(inner.map_or(0, |inner| self.layouts[inner].depth + 1));
            let offset = size;
            let total = (each as u64).saturating_mul(component.count.into()).saturating_add(size as u64);
            if total > MAX_NODES {
                let why =
                    FabricError::TooMany { what: "component of a device", most: MAX_NODES, given: total };
                return Err(Fault::new(byte, &element, why));
            }
            size = total as usize;
            parts.push(Part { component, size: each, offset, device: inner });
        }
        path.pop();
        let at = self.layouts.len();
        self.layouts.push(Layout { device, parts, size, depth });
        self.by_name.insert(device.name, at);
        Ok(at)
    }

    /// The device with this name.
    pub fn find(&self, name: &str) -> Result<usize, String> {
        self.by_name.get(name).copied().ok_or_else(|| unknown("device", name, self.by_name.keys().copied()))
    }

    /// The name of a device.
    pub fn name(&self, at: usize) -> &'y str {
        self.layouts[at].device.name
    }

    /// How many numbers a device has.
    pub fn size(&self, at: usize) -> usize {
        self.layouts[at].size
    }

    /// The kind of each number of a device.
    pub fn kinds(&self, at: usize) -> Vec<Kind> {
        let mut kinds = Vec::with_capacity(self.layouts[at].size);
        for part in self.layouts[at].parts.iter().filter(|part| !part.is_empty()) {
            let each = part.device.map_or_else(|| vec![part.component.kind], |inner| self.kinds(inner));
            (0..part.component.count).for_each(|_| kinds.extend_from_slice(&each));
        }
        kinds
    }

    /// The path of a number of a device, such as `cx5.0.port.1`.
    pub fn path(&self, at: usize, number: u32) -> String {
        let (mut at, mut number, mut path) = (at, number as usize, String::new());
        loop {
            let parts = &self.layouts[at].parts;
            let part = &parts[parts.partition_point(|part| part.offset <= number) - 1];
            let copy = (number - part.offset) / part.size;
            path += &format!("{}{}.{copy}", if path.is_empty() { "" } else { "." }, part.component.name.text);
            let Some(inner) = part.device else { return path };
            (at, number) = (inner, (number - part.offset) % part.size);
        }
    }

    /// The numbers of a device that an endpoint such as `cx5[0:2].port` selects.
    pub fn select(
        &self,
        at: usize,
        component: Word<'_>,
        element: &str,
        budget: &mut Budget,
    ) -> Result<Vec<u32>, Fault> {
        let fault = |why: String| Fault::said(component.byte, element, why);
        let (mut selected, mut layout) = (vec![0], Some(at));
        for text in component.text.split('.') {
            let piece = Piece::read(text).map_err(fault)?;
            let Some(within) = layout else {
                return Err(fault(format!(
                    "`{}` has something before `.{}` that is no device",
                    visible(component.text),
                    visible(piece.name)
                )));
            };
            let Layout { device, parts, .. } = &self.layouts[within];
            let Some(part) = parts.iter().find(|part| part.component.name.text == piece.name) else {
                let what = format!("component of device `{}` named", visible(device.name));
                let names = parts.iter().map(|part| part.component.name.text);
                return Err(fault(unknown(&what, piece.name, names)));
            };
            let copies = piece.range(part.component.count).map_err(fault)?;
            let count = (selected.len() as u64).saturating_mul(index_count(copies));
            budget.take(count).map_err(|why| Fault::new(component.byte, element, why))?;
            let first = |from: u32, copy: u32| from + (part.offset + copy as usize * part.size) as u32;
            selected =
                selected.iter().flat_map(|from| indices(copies).map(|copy| first(*from, copy))).collect();
            layout = part.device;
        }
        if layout.is_some() {
            let why =
                format!("`{}` is a device: name one of its components, after a dot", visible(component.text));
            return Err(fault(why));
        }
        Ok(selected)
    }

    /// The edges within a device, each pair once per link.
    pub fn edges(&self, at: usize, budget: &mut Budget) -> Result<Vec<Inner<'y>>, Fault> {
        let layout = &self.layouts[at];
        let mut edges = Vec::new();
        for part in layout.parts.iter().filter(|part| !part.is_empty()) {
            let Some(inner) = part.device else { continue };
            let inside = self.edges(inner, budget)?;
            let copies = u64::from(part.component.count).saturating_mul(inside.len() as u64);
            budget.take(copies).map_err(|why| Fault::new(part.component.name.byte, "", why))?;
            for copy in 0..part.component.count as usize {
                let shift = (part.offset + copy * part.size) as u32;
                edges.extend(
                    inside.iter().map(|edge| Inner { ends: edge.ends.map(|end| end + shift), ..*edge }),
                );
            }
        }
        let mut seen = BTreeSet::new();
        for edge in &layout.device.edges {
            let links = &layout.device.links;
            for (a, b) in self.joined(at, edge, budget)? {
                if a != b && seen.insert((a.min(b), a.max(b), edge.link)) {
                    edges.push(Inner { ends: [a, b], link: &links[edge.link] });
                }
            }
        }
        Ok(edges)
    }

    /// The pairs of an edge within a device.
    fn joined(&self, at: usize, edge: &'y Edge<'y>, budget: &mut Budget) -> Result<Vec<(u32, u32)>, Fault> {
        let mut end = |end: &End<'y>| {
            let path = end.within.map(|within| format!("{}.{}", within.text, end.component.text));
            let text = path.as_deref().unwrap_or(end.component.text);
            self.select(at, Word { text, byte: end.component.byte }, &edge.element, budget)
        };
        let [a, b] = [end(&edge.ends[0])?, end(&edge.ends[1])?];
        self.pairs(edge, &a, &b, budget)
    }

    /// The pairs of an edge, within the budget.
    pub fn pairs<T: Copy>(
        &self,
        edge: &Edge<'_>,
        a: &[T],
        b: &[T],
        budget: &mut Budget,
    ) -> Result<Vec<(T, T)>, Fault> {
        let count = pair_count(edge.scheme, [a.len(), b.len()]);
        budget.take(count).map_err(|why| Fault::new(edge.byte, &edge.element, why))?;
        Ok(pairs(edge.scheme, a, b))
    }
}
