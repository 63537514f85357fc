//! Logs ports that exceed a rate limit (floods, new stations, explorations), each at most once in ten seconds.

use std::time::Duration;

use weft_switching::DropReason;

use super::ports::Role;
use super::shared::Shared;
use crate::clock;
use crate::counters::Reason;
use crate::error::PlaneError;
use crate::plane::Plane;

/// Polling interval.
const LOOK: Duration = Duration::from_secs(1);

/// Frames dropped up to the last poll.
#[derive(Default)]
struct Before {
    /// Drops by a rate limit, on all ports together; `None` before the first poll.
    limited: Option<u64>,
    /// Drops for any reason, by ingress port.
    dropped: Vec<u64>,
}

impl Before {
    /// If any frame exceeded a limit since the last poll: the host port with most drops since then, and their number.
    /// Fabric ports do not count, since they drop the late copies of every flood.
    fn worst(
        &mut self,
        limited: u64,
        dropped: Vec<u64>,
        is_host: impl Fn(u16) -> bool,
    ) -> Option<(u16, u64)> {
        let exceeded = self.limited.replace(limited).is_some_and(|before| limited > before);
        let before = std::mem::replace(&mut self.dropped, dropped);
        let rises = self.dropped.iter().zip(before).map(|(now, before)| now.saturating_sub(before));
        let worst = (0..).zip(rises).filter(|&(port, _)| is_host(port)).max_by_key(|&(_, rise)| rise);
        worst.filter(|&(_, rise)| exceeded && rise > 0)
    }
}

/// Frames dropped by rate limits, and frames dropped per port.
fn dropped(plane: &Plane) -> Result<(u64, Vec<u64>), PlaneError> {
    let all = plane.counters()?.dropped;
    let limited = all.iter().find(|(reason, _)| *reason == Reason::Switch(DropReason::RateLimited));
    Ok((
        limited.map_or(0, |(_, frames)| *frames),
        plane.port_counters()?.iter().map(|port| port.dropped).collect(),
    ))
}

/// Logs ports that exceed limits, until the task is aborted.
pub async fn watch(shared: Shared) {
    let mut before = Before::default();
    loop {
        {
            let mut switch = shared.lock();
            let now = clock::now();
            match dropped(&switch.plane) {
                Ok((limited, of_ports)) => {
                    let ports = &switch.ports;
                    let is_host =
                        |port| ports.get(usize::from(port)).is_some_and(|port| port.role == Role::Host);
                    let worst = before.worst(limited, of_ports, is_host);
                    if let Some((number, frames)) = worst
                        && let Some(left_out) = switch.log_limit.admit(number, "excess", now)
                        && let Some(port) = switch.ports.get(usize::from(number))
                    {
                        tracing::warn!(
                            interface = %port.name, frames, left_out,
                            "a port exceeds its rate limits (flood_rate, flood_share, station_rate, exploration_rate) and its frames \
                             are dropped: is a host there attacking?"
                        );
                    }
                }
                Err(error) => {
                    if let Some(left_out) = switch.log_limit.admit(0, "counters", now) {
                        tracing::error!(%error, left_out, "reading the drop counters failed");
                    }
                }
            }
        }
        tokio::time::sleep(LOOK).await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_port_with_most_drops_is_named_only_while_limits_are_exceeded() {
        let mut before = Before::default();
        let mut worst = |limited, dropped| before.worst(limited, dropped, |port| port != 2);
        assert_eq!(worst(5, vec![100, 0, 0]), None, "drops before the daemon started");
        assert_eq!(worst(5, vec![900, 0, 0]), None, "drops for other reasons");
        assert_eq!(worst(6, vec![910, 40, 900]), Some((1, 40)), "a fabric port drops late copies");
        assert_eq!(worst(6, vec![910, 40, 900]), None);
        assert_eq!(worst(7, vec![910, 40, 900]), None, "no port has new drops");
    }
}
