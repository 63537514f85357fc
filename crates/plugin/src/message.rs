//! The messages that cross the border as JSON.

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use weft_sim::module::Ended;
use weft_switching::{
    Contradiction, Descriptor, Explores, Hops, Need, Overlay, ParamInfo, ParamKind, ParamValue, SchemeSpec,
};
use weft_transport::{Code, ControllerInfo};
use weft_units::Range;

/// An answer; a panic of the module is one, too.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Reply<T> {
    /// The answer.
    Answer(T),
    /// Message and position of a panic.
    Panic(String),
}

/// A [`Descriptor`] without its functions.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Described {
    pub name: String,
    summary: String,
    decides: String,
    observes: String,
    source: String,
    pub params: Vec<Param>,
    needs: Vec<Need>,
    explores: Option<Explores>,
    has_own_frames: bool,
    next_hops: Option<Hops>,
    tag_bytes: u32,
    overlay: Overlay,
    /// Whether there may be fabrics that it does not run on.
    pub is_choosy: bool,
}

/// A [`ParamInfo`].
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Param {
    pub name: String,
    kind: ParamKind<Vec<String>>,
    default: ParamValue,
    range: Range,
    unit: String,
    doc: String,
    elsewhere: String,
}

/// A [`ControllerInfo`] without its code.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct DescribedController {
    pub name: String,
    summary: String,
    source: String,
    pub params: Vec<Param>,
}

/// The extension that a module provides.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Extension {
    /// A scheme.
    Scheme(Box<Described>),
    /// A congestion controller of TCP.
    Controller(DescribedController),
}

impl Extension {
    /// Its name in scenarios.
    pub fn name(&self) -> &str {
        match self {
            Self::Scheme(scheme) => &scheme.name,
            Self::Controller(controller) => &controller.name,
        }
    }

    /// The names of its parameters.
    pub fn params(&self) -> impl Iterator<Item = &str> + Clone {
        let params = match self {
            Self::Scheme(scheme) => &scheme.params,
            Self::Controller(controller) => &controller.params,
        };
        params.iter().map(|param| param.name.as_str())
    }
}

impl From<&ParamInfo> for Param {
    fn from(param: &ParamInfo) -> Self {
        Self {
            name: param.name.to_owned(),
            kind: param.kind.map(|words| words.iter().map(|&word| word.to_owned()).collect()),
            default: param.default.into(),
            range: param.range,
            unit: param.unit.to_owned(),
            doc: param.doc.to_owned(),
            elsewhere: param.elsewhere.to_owned(),
        }
    }
}

impl Param {
    fn leak(self) -> ParamInfo {
        ParamInfo {
            name: text(self.name),
            kind: self.kind.map(|words| list(words.into_iter().map(text))),
            default: self.default.map(text),
            range: self.range,
            unit: text(self.unit),
            doc: text(self.doc),
            elsewhere: text(self.elsewhere),
        }
    }
}

impl From<&Descriptor> for Described {
    fn from(scheme: &Descriptor) -> Self {
        Self {
            name: scheme.name.to_owned(),
            summary: scheme.summary.to_owned(),
            decides: scheme.decides.to_owned(),
            observes: scheme.observes.to_owned(),
            source: scheme.source.to_owned(),
            params: scheme.params.iter().map(Param::from).collect(),
            needs: scheme.needs.to_vec(),
            explores: scheme.explores,
            has_own_frames: scheme.has_own_frames,
            next_hops: scheme.next_hops,
            tag_bytes: scheme.tag_bytes,
            overlay: scheme.overlay,
            is_choosy: scheme.is_choosy(),
        }
    }
}

impl Described {
    /// The descriptor, which stays in memory for ever, as those of the registry do.
    pub fn leak(self) -> Descriptor {
        Descriptor {
            name: text(self.name),
            summary: text(self.summary),
            decides: text(self.decides),
            observes: text(self.observes),
            source: text(self.source),
            params: list(self.params.into_iter().map(Param::leak)),
            needs: list(self.needs.into_iter()),
            explores: self.explores,
            has_own_frames: self.has_own_frames,
            next_hops: self.next_hops,
            tag_bytes: self.tag_bytes,
            overlay: self.overlay,
            ..Descriptor::PLAIN
        }
    }
}

impl From<&ControllerInfo> for DescribedController {
    fn from(info: &ControllerInfo) -> Self {
        Self {
            name: info.name.to_owned(),
            summary: info.summary.to_owned(),
            source: info.source.to_owned(),
            params: info.params.iter().map(Param::from).collect(),
        }
    }
}

impl DescribedController {
    /// The controller, whose code is in a module with this SHA-256. It stays in memory for ever.
    pub fn leak(self, sha256: &str) -> &'static ControllerInfo {
        Box::leak(Box::new(ControllerInfo {
            name: text(self.name),
            summary: text(self.summary),
            source: text(self.source),
            params: list(self.params.into_iter().map(Param::leak)),
            code: Code::Module(text(sha256.to_owned())),
        }))
    }
}

fn text(text: String) -> &'static str {
    text.leak()
}

fn list<T>(items: impl Iterator<Item = T>) -> &'static [T] {
    items.collect::<Vec<_>>().leak()
}

/// A question about parameters and, with a fabric, about parameters on this fabric.
#[derive(Serialize, Deserialize)]
pub struct Check {
    pub spec: SchemeSpec,
    /// The fabric as a TOML file.
    pub fabric: Option<String>,
}

/// A [`Contradiction`].
#[derive(Serialize, Deserialize)]
pub struct ParamError {
    pub param: String,
    pub message: String,
    pub expected: String,
}

impl From<Contradiction> for ParamError {
    fn from(wrong: Contradiction) -> Self {
        Self { param: wrong.param.to_owned(), message: wrong.message, expected: wrong.expected }
    }
}

/// A run to carry out.
#[derive(Serialize, Deserialize)]
pub struct Run {
    pub scenario: Source,
    pub point: String,
    pub target: String,
    pub threads: usize,
}

/// A scenario.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Source {
    pub text: String,
    pub file: String,
    pub sets: Vec<String>,
    /// The extensions of other modules that it may name.
    pub others: Vec<Extension>,
}

/// How a run ended.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RunOutcome {
    Ended {
        size: Ended,
        /// The reason why it had one thread although more were requested.
        alone: Option<String>,
    },
    Stopped,
    Failed {
        why: String,
        is_disk_full: bool,
    },
}

/// A value as JSON.
pub fn json<T: Serialize>(value: &T) -> Vec<u8> {
    serde_json::to_vec(value).expect("a value of strings, numbers and lists has no map with other keys")
}

/// The value of JSON.
///
/// # Errors
/// The bytes are not one.
pub fn parsed<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, String> {
    serde_json::from_slice(bytes)
        .map_err(|error| format!("the other side of the border sent no sense: {error}"))
}

#[cfg(test)]
mod tests {
    use weft_switching::registry;
    use weft_units::Given;

    use super::*;

    #[test]
    fn a_descriptor_is_the_same_on_the_other_side() {
        for scheme in registry().iter().filter(|scheme| !scheme.is_at_hosts) {
            let there: Described = parsed(&json(&Described::from(scheme))).unwrap();
            assert_eq!(there.is_choosy, scheme.misfit.is_some());
            let there = there.leak();
            // Functions do not cross the border, and their addresses say nothing: the optimizer copies and merges functions.
            let here = Descriptor {
                linux_mode: None,
                contradiction: there.contradiction,
                misfit: None,
                split: there.split,
                knows_interfaces: there.knows_interfaces,
                ..*scheme
            };
            assert_eq!(format!("{there:?}"), format!("{here:?}"), "{}", scheme.name);
            let spec = SchemeSpec { name: scheme.name.to_owned(), params: Given::default() };
            assert!(
                (there.contradiction)(&spec).is_none()
                    && (there.split)(&spec).is_none()
                    && !(there.knows_interfaces)(&spec),
                "{}",
                scheme.name
            );
        }
    }
}
