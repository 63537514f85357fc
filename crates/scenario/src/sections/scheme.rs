//! `[scheme]`: the path-selection scheme and its parameters.

use std::collections::BTreeMap;

use weft_fabric::Fabric;
use weft_switching::{Descriptor, SchemeSpec, Schemes, registry};
use weft_transport::Protocol;

use crate::diagnostic::Problem;
use crate::key::{Key, Kind, key};
use crate::nearest::{list, nearest};
use crate::section::Section;
use crate::source::Span;
use crate::synonym::synonym;

/// The key that names the scheme.
pub(crate) const NAME: Key = key("name", Kind::Choice(names), "", "path-selection scheme");

/// The names of the registry's schemes.
fn names() -> Vec<&'static str> {
    registry().iter().map(|scheme| scheme.name).collect()
}

/// The positions of `[scheme]` and its keys.
#[derive(Clone, Debug)]
pub(crate) struct At {
    section: Span,
    keys: Vec<(String, Span)>,
}

impl At {
    pub(crate) fn of(section: &Section<'_>) -> Self {
        let keys = section.table.0.iter().map(|entry| (entry.key.clone(), entry.span)).collect();
        Self { section: section.span, keys }
    }

    /// The position of a key, or of the section if the key is missing.
    pub(crate) fn key(&self, name: &str) -> Span {
        self.keys.iter().find(|(key, _)| key == name).map_or(self.section, |(_, span)| *span)
    }
}

/// The problem if the scheme cannot run on the fabric.
pub(crate) fn misfit(scheme: &Descriptor, spec: &SchemeSpec, at: &At, fabric: &Fabric) -> Option<Problem> {
    let wrong = scheme.misfit_of(spec, fabric)?;
    Some(Problem::at(at.key(wrong.param), wrong.message).label(wrong.expected))
}

/// Reads `[scheme]`, one of `schemes`. A parameter of one of `others`, the other schemes of the sweep, is ignored.
pub(crate) fn decode(
    section: &Section<'_>,
    schemes: &Schemes,
    others: &[&Descriptor],
) -> Option<(&'static Descriptor, SchemeSpec)> {
    if section.node("name").is_none() {
        let label = format!("expected `name`, one of {}", list(schemes.iter().map(|scheme| scheme.name)));
        section.problem(section.span, "[scheme] has no `name`", label);
        return None;
    }
    let choices: Vec<_> = schemes.iter().map(|scheme| (scheme.name, scheme)).collect();
    let name = section.get::<String>("name")?;
    let names = || schemes.iter().map(|scheme| scheme.name);
    let is_known =
        || nearest(&name.value, names()).is_some() || synonym("scheme.name", &name.value).is_some();
    if schemes.get(&name.value).is_none() && !is_known() {
        let problem = Problem::at(name.span, format!("`scheme.name` cannot be `{}`", name.value));
        let problem = problem.label(format!("expected one of {}", list(names())));
        let of_hosts = Protocol::all().into_iter().find_map(|protocol| {
            let choice = protocol.config().path_choice()?;
            choice.values.contains(&name.value.as_str()).then_some((protocol, choice))
        });
        section.problems.add(problem.help(match of_hosts {
            Some((protocol, choice)) => format!(
                "it is a choice of {} hosts: transport.protocol = \"{}\", transport.{} = \"{}\", and a scheme that hashes \
                 entropy, such as \"ecmp\"",
                choice.hosts,
                protocol.name(),
                choice.key,
                name.value
            ),
            None => "a scheme of your own needs --plugin PATH".to_owned(),
        }));
        return None;
    }
    let scheme = section.choose(&name, "name", &choices)?.value;
    let mut params = BTreeMap::new();
    let mut good = true;
    for entry in section.table.0.iter().filter(|entry| entry.key != "name") {
        let has = |scheme: &Descriptor| scheme.params.iter().find(|param| param.name == entry.key);
        if let Some(param) = has(scheme) {
            match section.param(param, "") {
                Some(value) => drop(params.insert(entry.key.clone(), value)),
                None => good = false,
            }
        } else if !others.iter().any(|other| has(other).is_some()) {
            good = false;
            section.problems.add(unknown(schemes, scheme, others, &entry.key, entry.span));
        }
    }
    let spec = SchemeSpec { name: scheme.name.to_owned(), params };
    if let Some(wrong) = good.then(|| scheme.contradiction_of(&spec)).flatten() {
        let entry = section.table.0.iter().find(|entry| entry.key == wrong.param);
        section.problem(entry.map_or(section.span, |entry| entry.span), wrong.message, wrong.expected);
        good = false;
    }
    good.then_some((scheme, spec))
}

/// The problem that none of the scenario's schemes, `scheme` and `others`, has a parameter `key`: the same for each of them.
fn unknown(schemes: &Schemes, scheme: &Descriptor, others: &[&Descriptor], key: &str, span: Span) -> Problem {
    let own: Vec<&Descriptor> = if others.len() > 1 { others.to_vec() } else { vec![scheme] };
    let message = match own.as_slice() {
        [only] => format!("the scheme `{}` has no parameter `{key}`", only.name),
        _ => format!(
            "none of the schemes {} has a parameter `{key}`",
            list(own.iter().map(|scheme| scheme.name))
        ),
    };
    let problem = Problem::at(span, message);
    let mut names: Vec<&str> = own.iter().flat_map(|scheme| scheme.params).map(|param| param.name).collect();
    names.sort_unstable();
    names.dedup();
    let has = |other: &&Descriptor| other.params.iter().any(|param| param.name == key);
    let owners: Vec<&str> = schemes.iter().filter(|other| has(other)).map(|other| other.name).collect();
    let problem = match (owners.as_slice(), nearest(key, names.iter().copied().chain([NAME.name]))) {
        ([], Some(nearest)) => return problem.label(format!("did you mean `{nearest}`?")),
        ([], None) if names.is_empty() && own.len() == 1 => return problem.label("it has no parameters"),
        ([], None) if names.is_empty() => return problem.label("they have no parameters"),
        ([], None) => return problem.label(format!("expected one of {}", list(names))),
        (_, Some(nearest)) => problem
            .label(format!("did you mean `{nearest}`?"))
            .help(format!("`{key}` belongs to {}", list(owners))),
        (_, None) => problem.label(format!("belongs to {}", list(owners))),
    };
    match names.as_slice() {
        [] => problem,
        _ => problem.help(format!("the parameters here are {}", list(names))),
    }
}
