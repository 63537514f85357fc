//! Path sets of any graph, and the nearest valid name to a wrong one.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use serde_json::json;
use weft_fabric::MAX_NODES;
use weft_fabric::path_set::{Graph, Order};

#[pyfunction]
pub fn path_set(
    py: Python<'_>,
    nodes: usize,
    edges: Vec<(u32, u32)>,
    start: u32,
    end: u32,
    order: &str,
    count: usize,
) -> PyResult<String> {
    let order: Order = order.parse().map_err(|order| {
        let known = Order::ALL.map(|order| format!("`{order}`")).join(" or ");
        PyValueError::new_err(format!("`{order}` is not an order of paths: expected {known}"))
    })?;
    if nodes as u64 > MAX_NODES {
        return Err(PyValueError::new_err(format!(
            "{nodes} nodes are too many: expected at most {MAX_NODES}"
        )));
    }
    let ends = edges.iter().enumerate().map(|(edge, &(a, b))| (format!("edge {edge}"), a.max(b)));
    for (what, node) in ends.chain([("the start".to_owned(), start), ("the end".to_owned(), end)]) {
        if node as usize >= nodes {
            let there = nodes.checked_sub(1).map(|last| format!("the nodes are 0 to {last}"));
            let there = there.unwrap_or_else(|| "there are no nodes".to_owned());
            return Err(PyValueError::new_err(format!("{what} is at node {node}, but {there}")));
        }
    }
    let graph = py.detach(|| Graph::new(nodes, &edges));
    let mut set = graph.path_set(start, end, order);
    let mut paths = Vec::new();
    while paths.len() < count {
        py.check_signals()?;
        let Some(path) = py.detach(|| set.next()) else { break };
        paths.push(json!([path.nodes, path.edges]));
    }
    Ok(json!(paths).to_string())
}

#[pyfunction]
pub fn nearest(name: &str, candidates: Vec<String>) -> Option<String> {
    weft_fabric::nearest(name, candidates.iter().map(String::as_str)).map(str::to_owned)
}
