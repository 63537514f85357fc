//! The start times and number of flows of one group: turns its load or number into an arrival rate,
//! with the random streams of the group.

use rand_core::{RngCore, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use weft_units::{Duration, Time};

use crate::arrivals::Arrivals;
use crate::error::TrafficError;
use crate::flow::MAX_FLOWS;
use crate::group::{Drawn, Intensity};
use crate::load_of::LoadOf;
use crate::offer::Offer;
use crate::pairs::Pattern;
use crate::places::Places;

/// The random streams of a group, one per purpose, so that extra draws from one do not affect the others.
pub(crate) struct Streams {
    pub(crate) arrivals: Xoshiro256PlusPlus,
    pub(crate) pairs: Xoshiro256PlusPlus,
    pub(crate) sizes: Xoshiro256PlusPlus,
    pub(crate) jitter: Xoshiro256PlusPlus,
}

impl Streams {
    /// The streams of the `occurrence`-th group named `name`, in a run with `seed`.
    pub(crate) fn of(seed: u64, name: &str, occurrence: u64) -> Self {
        let draw = |seed: u64| Xoshiro256PlusPlus::seed_from_u64(seed).next_u64();
        let named = name.bytes().fold(draw(seed), |hash, byte| draw(hash ^ u64::from(byte)));
        let mut group = Xoshiro256PlusPlus::seed_from_u64(named ^ occurrence);
        let mut next = || Xoshiro256PlusPlus::seed_from_u64(group.next_u64());
        Self { arrivals: next(), pairs: next(), sizes: next(), jitter: next() }
    }
}

/// The arrivals of one group.
pub(crate) struct Schedule<'a> {
    pub(crate) pattern: Pattern<'a>,
    /// Picoseconds after the group's start, in order.
    pub(crate) times: Box<dyn Iterator<Item = u64>>,
    /// The maximum number of flows.
    pub(crate) most: u64,
    /// The requested load.
    pub(crate) load: Option<f64>,
    /// The offered load, if flows arrive over time.
    pub(crate) offer: Option<Offer>,
}

impl<'a> Schedule<'a> {
    pub(crate) fn new(
        group: usize,
        drawn: &'a Drawn,
        places: &'a Places,
        duration: Duration,
        room: u64,
        streams: &mut Streams,
    ) -> Result<Self, TrafficError> {
        let pairs = |error| TrafficError::Pairs { group, error };
        let in_turn = drawn.arrivals != Arrivals::Poisson;
        let pattern = drawn.pairs.pattern(places, in_turn, &mut streams.pairs).map_err(pairs)?;
        let batch = pattern.batch();
        let span = duration.saturating_sub(drawn.start).ps() as f64;
        let from = Time::ZERO + drawn.start;
        let until = |ps: f64| from + Duration::from_ps(ps as u64);
        let flow_bits = 8.0 * drawn.sizes.mean();
        let made = MAX_FLOWS - room;
        let fits = |flows: f64| match flows <= room as f64 {
            true => Ok(()),
            false => Err(TrafficError::TooMany { group, flows: flows + made as f64 }),
        };
        if drawn.arrivals == Arrivals::AtOnce {
            if let Some(intensity) = drawn.intensity {
                return Err(TrafficError::AtOnce { group, what: intensity.what() });
            }
            let round = pattern.round().map(|arrivals| arrivals * batch);
            let most = drawn.count.or(round).ok_or(TrafficError::Unbounded { group })?;
            fits(most as f64)?;
            let times = drawn.arrivals.exactly(most.div_ceil(batch), span, &mut streams.arrivals);
            return Ok(Self { pattern, times: Box::new(times.into_iter()), most, load: None, offer: None });
        }
        let demand = pattern.demand();
        let Some(intensity) = drawn.intensity else {
            let most = drawn.count.ok_or(TrafficError::Unbounded { group })?;
            fits(most as f64)?;
            let times = drawn.arrivals.exactly(most.div_ceil(batch), span, &mut streams.arrivals);
            let bps = most as f64 * flow_bits / (span * 1e-12).max(1e-12);
            let offer = Offer { bps, span: (from, until(span)), demand };
            let times = Box::new(times.into_iter());
            return Ok(Self { pattern, times, most, load: None, offer: Some(offer) });
        };
        let (value, no_capacity) =
            (intensity.value(), |of: LoadOf, why| TrafficError::NoCapacity { group, of: of.word(), why });
        if !(value.is_finite() && value > 0.0) {
            return Err(TrafficError::Intensity { group, what: intensity.what(), value });
        }
        let (flows_per_second, load) = match intensity {
            Intensity::FlowsPerSecond(flows) => (flows, None),
            Intensity::Load { share, of } => {
                let (capacity, crossing) = match of {
                    LoadOf::FabricUplinks => (places.uplink_capacity(), demand.crossing()),
                    LoadOf::HostLinks => (places.host_capacity(), 1.0),
                };
                if capacity <= 0.0 {
                    return Err(no_capacity(of, "these links have no capacity"));
                }
                if crossing <= 0.0 {
                    return Err(no_capacity(of, "no flow leaves its rack"));
                }
                (share * capacity / (flow_bits * crossing), Some(share))
            }
        };
        let expected = flows_per_second * span * 1e-12;
        let most = drawn.count.unwrap_or(u64::MAX);
        fits(expected.min(most as f64))?;
        let per_ps = flows_per_second / batch as f64 * 1e-12;
        let times = drawn.arrivals.at_rate(per_ps, span, streams.arrivals.clone());
        let lasts = until(span.min(most as f64 / flows_per_second * 1e12));
        let offer = Some(Offer { bps: flows_per_second * flow_bits, span: (from, lasts), demand });
        // A Poisson process may exceed its expected number, but never the room.
        let most = most.min(room);
        Ok(Self { pattern, times: Box::new(times), most, load, offer })
    }
}
