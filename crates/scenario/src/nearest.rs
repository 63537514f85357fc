//! Names in messages: the nearest right one to a wrong one, or all that there are.

pub(crate) use weft_fabric::nearest;

/// Names as a message lists them.
pub(crate) fn list<'a>(names: impl IntoIterator<Item = &'a str>) -> String {
    names.into_iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}

/// "did you mean ...", or what there is where nothing is near.
pub(crate) fn suggest<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str> + Clone) -> String {
    match nearest(name, candidates.clone()) {
        Some(nearest) => format!("did you mean `{nearest}`?"),
        None => format!("expected one of {}", list(candidates)),
    }
}
