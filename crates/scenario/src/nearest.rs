//! Names in messages: the nearest valid one, or all of them.

pub(crate) use weft_fabric::nearest;

/// Names as listed in a message.
pub(crate) fn list<'a>(names: impl IntoIterator<Item = &'a str>) -> String {
    names.into_iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}

/// "did you mean ...", or all candidates if none is near.
pub(crate) fn suggest<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str> + Clone) -> String {
    match nearest(name, candidates.clone()) {
        Some(nearest) => format!("did you mean `{nearest}`?"),
        None => format!("expected one of {}", list(candidates)),
    }
}
