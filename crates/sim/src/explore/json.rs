//! An exploration as JSON, for the animated page. Times are picoseconds since the scene's start.

use serde_json::{Value, json};
use weft_fabric::Fabric;
use weft_scenario::Plan;
use weft_switching::KeptPort;
use weft_units::{LinkId, NodeId, Time};

use super::recording::Explored;
use super::scene::{Change, Fate, Frame, Hop, Scene};
use crate::fabric_json::{links_json, nodes};

impl Explored {
    /// Fabric, flow and scenes; nodes and links are numbered in list order.
    pub fn json(&self, plan: &Plan) -> Value {
        let (fabric, flow) = (&plan.fabric, &self.flow);
        let mut scenes = vec![scene_json(fabric, "exploration", &self.exploration, None)];
        if let Ok(recovery) = &self.recovery {
            let failure = Some((recovery.failed_at, recovery.link));
            scenes.push(scene_json(fabric, "recovery", &recovery.scene, failure));
        }
        json!({
            "name": plan.name,
            "label": plan.label,
            "seed": plan.seed,
            "scheme": plan.scheme.name,
            "flow": {
                "flow": flow.id.0,
                "from": fabric.host_node(flow.src).0,
                "to": fabric.host_node(flow.dst).0,
                "sport": flow.sport,
                "dport": flow.dport,
                "bytes": flow.bytes,
                "start_ps": flow.start.ps(),
            },
            "flows": plan.traffic.flows.len(),
            "lock_ps": self.lock.ps(),
            "fabric": {
                "name": fabric.name(),
                "nodes": nodes(fabric),
                "links": links_json(fabric),
            },
            "scenes": scenes,
            "no_recovery": self.recovery.as_ref().err(),
        })
    }
}

fn scene_json(fabric: &Fabric, kind: &str, scene: &Scene, failure: Option<(Time, LinkId)>) -> Value {
    let since = |time: Time| time.saturating_since(scene.begin).ps();
    let end = scene.frames.iter().filter_map(|frame| frame.end).map(|(at, _)| at).max();
    let end = end.max(scene.done).unwrap_or(scene.begin);
    let kept = scene.kept.iter().map(|(&node, &kept)| Change { at: scene.begin, node, kept });
    let changes = kept.chain(scene.changes.iter().copied());
    let links = scene.links.iter();
    json!({
        "kind": kind,
        "begin_ps": scene.begin.ps(),
        "end": since(end),
        "done": scene.done.map(since),
        "failure": failure.map(|(at, link)| json!({ "at": since(at), "link": link.0 })),
        "frames": scene.frames.iter().map(|frame| frame_json(fabric, frame, since)).collect::<Vec<_>>(),
        "kept": changes.map(|change| json!({
            "at": since(change.at),
            "node": change.node.0,
            "source": kept_json(fabric, change.node, change.kept.source),
            "destination": kept_json(fabric, change.node, change.kept.destination),
        })).collect::<Vec<_>>(),
        "links": links.map(|(at, link, up)| json!({ "at": since(*at), "link": link.0, "up": up })).collect::<Vec<_>>(),
        "path": scene.path.iter().map(|link| link.0).collect::<Vec<_>>(),
        "cut": scene.cut,
    })
}

/// An entry as the link of its port and whether it is confirmed.
fn kept_json(fabric: &Fabric, node: NodeId, kept: Option<KeptPort>) -> Value {
    let entry = kept.and_then(|kept| Some((fabric.link_at(node, kept.port)?, kept.confirmed)));
    entry.map_or(Value::Null, |(link, confirmed)| json!({ "link": link.0, "confirmed": confirmed }))
}

fn frame_json(fabric: &Fabric, frame: &Frame, since: impl Fn(Time) -> u64) -> Value {
    let hop = |hop: &Hop| {
        json!({
            "link": hop.link.0,
            "what": hop.what.name(),
            "payload": hop.what.payload,
            "sent": since(hop.sent),
            "left": hop.crossed.map(|(left, _)| since(left)),
            "arrived": hop.crossed.map(|(_, arrived)| since(arrived)),
        })
    };
    let end = frame.end.map(|(at, fate)| {
        let (fate, reason) = match fate {
            Fate::Dropped(reason) => ("dropped", Some(reason.name())),
            Fate::Consumed => ("consumed", None),
            Fate::Delivered => ("delivered", None),
        };
        let node = frame.last_place(fabric).and_then(Result::ok).map(|node| node.0);
        json!({ "at": since(at), "fate": fate, "reason": reason, "node": node })
    });
    json!({
        "number": frame.number,
        "copy_of": frame.copy_of,
        "hops": frame.hops.iter().map(hop).collect::<Vec<_>>(),
        "end": end,
    })
}
