//! [`Control`]: the congestion controller that `[transport]` names.

use weft_transport::{Config, CongestionControl, ControllerInfo};

use crate::diagnostic::Problem;
use crate::nearest::{list, nearest};
use crate::section::{At, Section};
use crate::synonym::synonym;
use crate::tree::Value;

/// The key that names the controller.
pub(crate) const NAME: &str = "congestion_control";

/// TCP's congestion controller.
#[derive(Clone, Copy)]
pub(crate) enum Control {
    /// One of Weft's own, or the profile's.
    Own,
    /// One of a module.
    OfModule(&'static ControllerInfo),
    /// One that does not exist.
    Unknown,
}

impl Control {
    /// The controller that the section names; reports a name that neither TCP nor one of `controllers` has.
    pub(crate) fn of(section: &Section<'_>, controllers: &[&'static ControllerInfo]) -> Self {
        let Some(node) = section.node(NAME) else { return Self::Own };
        let Value::Text(name) = &node.value else { return Self::Own };
        if CongestionControl::WORDS.contains(&name.as_str()) {
            return Self::Own;
        }
        if let Some(info) = controllers.iter().find(|info| info.name == name) {
            return Self::OfModule(info);
        }
        let names =
            || CongestionControl::WORDS.iter().copied().chain(controllers.iter().map(|info| info.name));
        if nearest(name, names()).is_some() || synonym(&section.path_of(NAME), name).is_some() {
            let text = At { value: name.clone(), span: node.span };
            section.choose(&text, NAME, &names().map(|name| (name, ())).collect::<Vec<_>>());
        } else {
            let problem = Problem::at(node.span, format!("`{}` cannot be `{name}`", section.path_of(NAME)));
            let problem = problem.label(format!("expected one of {}", list(names())));
            section.problems.add(problem.help("a controller of your own needs --plugin PATH"));
        }
        Self::Unknown
    }

    /// The keys of the section that are not read: the name, unless it is one of TCP's own, and the parameters of those
    /// `controllers` that the section does not name.
    pub(crate) fn ignored(self, controllers: &[&'static ControllerInfo]) -> Vec<&'static str> {
        let (name, own) = match self {
            Self::Own => (None, None),
            Self::OfModule(info) => (Some(NAME), Some(info)),
            Self::Unknown => (Some(NAME), None),
        };
        let params = controllers.iter().flat_map(|info| info.params).map(|param| param.name);
        name.into_iter().chain(params.filter(|name| !own.is_some_and(|own| own.has(name)))).collect()
    }

    /// Sets it in `config`.
    pub(crate) fn set(self, config: &mut Config) {
        if let Self::OfModule(info) = self {
            config.congestion_control = CongestionControl::Custom(info);
        }
    }
}
