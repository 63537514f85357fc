//! [`Control`]: the congestion controller that `[transport]` names, and the parameters of one of a module.

use weft_transport::{Config, CongestionControl, ControllerInfo};
use weft_units::Given;

use crate::diagnostic::Problem;
use crate::nearest::{list, nearest};
use crate::section::Section;
use crate::sections::scheme;
use crate::tree::Value;

/// The key that names the controller.
const NAME: &str = "congestion_control";

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
        let Some(Value::Text(name)) = section.node(NAME).map(|node| &node.value) else { return Self::Own };
        if CongestionControl::NAMES.contains(&name.as_str()) {
            return Self::Own;
        }
        if let Some(info) = controllers.iter().find(|info| info.name == name) {
            return Self::OfModule(info);
        }
        let names =
            || CongestionControl::NAMES.iter().copied().chain(controllers.iter().map(|info| info.name));
        match nearest(name, names()) {
            Some(_) => drop(section.choice(NAME, &names().map(|name| (name, ())).collect::<Vec<_>>())),
            None => {
                let span = section.node(NAME).map_or(section.span, |node| node.span);
                let problem = Problem::at(span, format!("`{}` cannot be `{name}`", section.path_of(NAME)));
                let problem = problem.label(format!("expected one of {}", list(names())));
                section.problems.add(problem.help("a controller of your own needs --plugin PATH"));
            }
        }
        Self::Unknown
    }

    /// The keys of the section that are not read as parameters of TCP. Those of controllers that it does not name are
    /// ignored, as in TCP's own.
    pub(crate) fn keys(self, controllers: &[&'static ControllerInfo]) -> Vec<&'static str> {
        let name = match self {
            Self::Own => None,
            Self::OfModule(_) | Self::Unknown => Some(NAME),
        };
        name.into_iter()
            .chain(controllers.iter().flat_map(|info| info.params).map(|param| param.name))
            .collect()
    }

    /// The values given of its own parameters; `None` if one is wrong, which is reported.
    pub(crate) fn given(self, section: &Section<'_>) -> Option<Given> {
        let info = match self {
            Self::Own => return Some(Given::new()),
            Self::OfModule(info) => info,
            Self::Unknown => return None,
        };
        let mut given = Given::new();
        let mut good = true;
        for param in info.params {
            let Some(node) = section.node(param.name) else { continue };
            let value = scheme::value(section, param);
            let expected = value.as_ref().and_then(|value| param.expected(value));
            if let (Some(value), Some(expected)) = (&value, &expected) {
                section.problem(node.span, format!("`{}` is {value}", section.path_of(param.name)), expected);
            }
            match value.filter(|_| expected.is_none()) {
                Some(value) => drop(given.insert(param.name.to_owned(), value)),
                None => good = false,
            }
        }
        good.then_some(given)
    }

    /// Sets it in `config`.
    pub(crate) fn set(self, config: &mut Config) {
        if let Self::OfModule(info) = self {
            config.congestion_control = CongestionControl::Custom(info);
        }
    }
}
