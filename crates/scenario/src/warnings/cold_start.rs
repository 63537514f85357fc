//! Comparisons of warm and cold paths.

use weft_switching::over;

use crate::settings::Settings;

/// Warns of a comparison in which only some schemes resolve addresses before the first packet of a flow.
pub(crate) fn of_cold_starts(settings: impl Iterator<Item = Settings>) -> Option<String> {
    let cold: Vec<_> = settings.filter(|settings| !settings.run.start_is_given).collect();
    let resolves =
        |settings: &Settings| settings.descriptor.explores.is_some() && over::resolves(&settings.scheme);
    let resolving = cold.iter().find(|settings| resolves(settings))?.descriptor;
    let other = cold.iter().find(|settings| !resolves(settings))?.descriptor;
    Some(format!(
        "`{}` resolves an address before the first packet of a flow, `{}` does not: set run.warm = true to compare \
         their paths alone, or set run.warm = false to keep the cold start and silence this warning",
        resolving.name, other.name
    ))
}
