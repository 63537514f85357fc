//! Comparisons of warm and cold paths.

use weft_switching::over;

use crate::settings::Settings;

/// The schemes whose runs may start cold: one that resolves addresses before the first packet of a flow, one that does not.
#[derive(Default)]
pub(crate) struct ColdStarts {
    resolving: Option<&'static str>,
    other: Option<&'static str>,
}

impl ColdStarts {
    /// Adds a point of the scenario.
    pub(crate) fn add(&mut self, settings: &Settings) {
        if settings.run.start_is_given {
            return;
        }
        let resolves = settings.descriptor.explores.is_some() && over::resolves(&settings.scheme);
        let kind = if resolves { &mut self.resolving } else { &mut self.other };
        kind.get_or_insert(settings.descriptor.name);
    }

    /// Warns of a comparison in which only some schemes resolve addresses.
    pub(crate) fn warning(&self) -> Option<String> {
        let (resolving, other) = (self.resolving?, self.other?);
        Some(format!(
            "`{resolving}` resolves an address before the first packet of a flow, `{other}` does not: set run.warm = true to \
             compare their paths alone, or set run.warm = false to keep the cold start and silence this warning"
        ))
    }
}
