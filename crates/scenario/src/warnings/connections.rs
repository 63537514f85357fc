//! Comparisons of transports that open a connection for each message.

use crate::sections::traffic::{GroupSettings, has_single_messages};
use crate::settings::Settings;

/// The transports that carry collectives whose `connections` are not given.
#[derive(Default)]
pub(crate) struct Transports {
    /// Protocol and profile of each, and whether it opens a connection for each message.
    found: Vec<(&'static str, String, bool)>,
    /// Whether some collective has a single message between any two ranks.
    has_single_messages: bool,
}

impl Transports {
    /// Adds a point of the scenario.
    pub(crate) fn add(&mut self, settings: &Settings) {
        let transport = &settings.transport;
        let mut collectives = settings.traffic.iter().filter_map(GroupSettings::opening).peekable();
        if collectives.peek().is_none() || !transport.protocol.config().has_connections() {
            return;
        }
        self.has_single_messages |= collectives.any(has_single_messages);
        let own = (transport.protocol.name(), transport.profile.clone(), !transport.keeps_connections());
        if !self.found.contains(&own) {
            self.found.push(own);
        }
    }

    /// Warns of a comparison in which the opening of connections hides the protocols.
    pub(crate) fn warning(&self) -> Option<String> {
        let first = self.found.iter().find(|(.., opens)| *opens)?;
        let mut others = self.found.iter().filter(|other| *other != first);
        let protocol = self.found.iter().find(|other| other.0 != first.0);
        let names = protocol.map(|other| [first.0, other.0]);
        let [one, other] = names.or_else(|| Some([&*first.1, &*others.next()?.1]))?;
        let who =
            if protocol.is_some_and(|other| !other.2) { format!("of `{one}`") } else { "of both".into() };
        let repeats = if self.has_single_messages { " and repeats = 10" } else { "" };
        Some(format!(
            "`{one}` and `{other}` are compared with a new connection for each message of a collective {who}, so handshakes \
             and slow start decide between them: set connections = \"persistent\"{repeats} in [traffic] to compare them on open \
             connections, or set connections = \"per-message\" to keep this and silence this warning"
        ))
    }
}
