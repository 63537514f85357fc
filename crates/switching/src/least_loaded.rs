//! [`least_loaded`]: a random one of the ports with the least load.

use rand_core::RngCore;
use weft_units::PortId;

use crate::hash::pick;
use crate::switch::Context;

/// A random one of those `ports` (at least one) for which `load` is the least.
#[inline]
pub(crate) fn least_loaded<C: Context, L: Ord>(
    ctx: &mut C,
    ports: &[PortId],
    mut load: impl FnMut(&C, PortId) -> L,
) -> PortId {
    let mut least: Option<L> = None;
    let mut count = 0;
    for port in ports {
        let this = load(ctx, *port);
        match &least {
            Some(known) if this > *known => {}
            Some(known) if this == *known => count += 1,
            _ => (least, count) = (Some(this), 1),
        }
    }
    let drawn = pick(ctx.random().next_u64(), count);
    let mut ties = ports.iter().filter(|port| Some(load(ctx, **port)) == least);
    *ties.nth(drawn).expect("a draw is below the number of ports")
}

#[cfg(test)]
mod tests {
    use weft_units::Time;

    use super::*;
    use crate::stream;
    use crate::switch::Idle;

    #[test]
    fn every_port_with_the_least_load_is_drawn_and_no_other() {
        let mut ctx = Idle(Time::ZERO, stream(1, "least loaded", 0));
        let ports: Vec<PortId> = (0..5).map(PortId).collect();
        let loads = [3, 1, 2, 1, 1];
        let mut counts = [0; 5];
        for _ in 0..3_000 {
            counts[least_loaded(&mut ctx, &ports, |_, port| loads[port.index()]).index()] += 1;
        }
        assert_eq!((counts[0], counts[2]), (0, 0), "{counts:?}");
        assert!([1, 3, 4].iter().all(|port| counts[*port] > 900), "{counts:?}");
    }
}
