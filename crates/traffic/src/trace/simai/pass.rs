//! [`Pass`]: the order of the computations and collectives of a workload.

use std::iter::once;

use super::header::{Header, Kind};
use super::layer::{Layer, Part};
use crate::dependencies::MAX_ORDERED;
use crate::trace::error::TraceError;
use weft_units::Duration;

/// A computation, the collective after it, and whether ranks wait for that.
pub struct Step<'a> {
    pub layer: &'a Layer,
    pub part: Part,
    pub is_awaited: bool,
}

/// A pass through all layers.
pub struct Pass<'a> {
    layers: &'a [Layer],
    kind: Kind,
    /// The layers before whose gradients the forward pass is repeated, each with the layer from which on.
    repeated: Vec<(usize, usize)>,
}

impl<'a> Pass<'a> {
    /// The pass of a workload, whose first line has this number.
    ///
    /// # Errors
    /// A forward pass that is repeated without a checkpoint; too many steps.
    pub fn new(layers: &'a [Layer], header: &Header, line: u64) -> Result<Self, TraceError> {
        let refuse = |why: String| TraceError::line(line, why);
        let mut repeated = Vec::new();
        let mut steps = 3 * layers.len() as u64;
        for (name, of) in [("checkpoints", &header.checkpoints), ("checkpoint_initiates", &header.initiates)]
        {
            if let Some(last) = of.last().filter(|last| **last >= layers.len() as u64) {
                let count = layers.len();
                return Err(refuse(format!(
                    "`{name}` has layer {last}; expected numbers from 0, below {count}"
                )));
            }
        }
        for layer in &header.initiates {
            let from = header.checkpoints.range(..=layer).next_back().ok_or_else(|| {
                refuse(format!(
                    "`checkpoint_initiates` has layer {layer}, and none up to it is in `checkpoints`"
                ))
            })?;
            steps = steps.saturating_add(layer - from);
            // Neither is larger than the number of layers.
            repeated.push((*layer as usize, *from as usize));
        }
        if steps > MAX_ORDERED {
            return Err(refuse(format!(
                "with the layers that it repeats, the workload has {steps} parts; expected at most {MAX_ORDERED}"
            )));
        }
        Ok(Self { layers, kind: header.kind, repeated })
    }

    /// Its steps.
    pub fn steps(&self) -> Box<dyn Iterator<Item = Step<'a>> + '_> {
        let step = |layer: &'a Layer, part: Part, is_awaited| Step { layer, part, is_awaited };
        let forward = move |layer: &'a Layer| step(layer, layer.forward, true);
        if self.kind == Kind::Micro {
            // Only the collectives are of interest.
            let alone = |part: Part| Part { takes: Duration::ZERO, ..part };
            return Box::new(self.layers.iter().map(move |layer| step(layer, alone(layer.weights), true)));
        }
        let mut repeated = self.repeated.iter().rev().peekable();
        let backward = self.layers.iter().enumerate().rev().flat_map(move |(at, layer)| {
            let again =
                repeated.next_if(|(initiates, _)| *initiates == at).map_or(at..at, |(_, from)| *from..at);
            let own = once(step(layer, layer.input, true)).chain(once(step(layer, layer.weights, false)));
            self.layers[again].iter().map(forward).chain(own)
        });
        Box::new(self.layers.iter().map(forward).chain(backward))
    }
}
