//! Published flow size distributions, unmodified, each with its source. Changes by a study (a cut, a
//! scale) are part of its scenario; the realised mean is part of the result.

use crate::sizes::{CdfPoint, Sizes};

/// A published distribution.
#[derive(Clone, Copy, Debug)]
pub struct Table {
    /// The name in a scenario.
    pub name: &'static str,
    /// The publication it comes from.
    pub source: &'static str,
    /// Bytes in one unit of the size column.
    unit: f64,
    /// Size in units, and the probability of a size up to it.
    knots: &'static [(f64, f64)],
}

impl Table {
    /// The distribution.
    ///
    /// # Panics
    /// Never: a test builds every table.
    pub fn sizes(&self) -> Sizes {
        let knots = self.knots.iter().map(|&(size, p)| CdfPoint { bytes: size * self.unit, probability: p });
        Sizes::new(knots.collect()).expect("every published table is a CDF")
    }
}

/// The table named `name`.
pub fn named(name: &str) -> Option<&'static Table> {
    ALL.iter().find(|table| table.name == name)
}

/// Every published table.
pub const ALL: &[Table] = &[
    Table {
        name: "web-search",
        source: "Alizadeh et al., DCTCP, SIGCOMM 2010: DCTCP_CDF of HKUST-SING/TrafficGenerator",
        unit: 1.0,
        knots: &[
            (0.0, 0.0),
            (10e3, 0.15),
            (20e3, 0.2),
            (30e3, 0.3),
            (50e3, 0.4),
            (80e3, 0.53),
            (200e3, 0.6),
            (1e6, 0.7),
            (2e6, 0.8),
            (5e6, 0.9),
            (10e6, 0.97),
            (30e6, 1.0),
        ],
    },
    Table {
        name: "data-mining",
        source: "Greenberg et al., VL2, SIGCOMM 2009: VL2_CDF of HKUST-SING/TrafficGenerator",
        unit: 1.0,
        knots: &[
            (0.0, 0.0),
            (180.0, 0.1),
            (216.0, 0.2),
            (560.0, 0.3),
            (900.0, 0.4),
            (1_100.0, 0.5),
            (1_870.0, 0.6),
            (3_160.0, 0.7),
            (10e3, 0.8),
            (400e3, 0.9),
            (3.16e6, 0.95),
            (100e6, 0.98),
            (1e9, 1.0),
        ],
    },
    Table {
        name: "web-search-pfabric",
        source: "Alizadeh et al., pFabric, SIGCOMM 2013: packets of 1460 bytes, CDF_dctcp of PIAS-NS2",
        unit: 1_460.0,
        knots: &[
            (0.0, 0.0),
            (6.0, 0.15),
            (13.0, 0.2),
            (19.0, 0.3),
            (33.0, 0.4),
            (53.0, 0.53),
            (133.0, 0.6),
            (667.0, 0.7),
            (1_333.0, 0.8),
            (3_333.0, 0.9),
            (6_667.0, 0.97),
            (20_000.0, 1.0),
        ],
    },
    Table {
        name: "data-mining-pfabric",
        source: "Alizadeh et al., pFabric, SIGCOMM 2013: packets of 1460 bytes, CDF_vl2 of PIAS-NS2",
        unit: 1_460.0,
        knots: &[
            (1.0, 0.5),
            (2.0, 0.6),
            (3.0, 0.7),
            (7.0, 0.8),
            (267.0, 0.9),
            (2_107.0, 0.95),
            (66_667.0, 0.99),
            (666_667.0, 1.0),
        ],
    },
    Table {
        name: "facebook-hadoop",
        source: "Roy et al., Inside the Social Network's Network, SIGCOMM 2015: FbHdp of HPCC's generator",
        unit: 1.0,
        knots: &[
            (0.0, 0.0),
            (100.0, 0.01),
            (200.0, 0.02),
            (300.0, 0.05),
            (350.0, 0.15),
            (400.0, 0.2),
            (500.0, 0.3),
            (600.0, 0.4),
            (700.0, 0.5),
            (1_000.0, 0.6),
            (2_000.0, 0.67),
            (7_000.0, 0.7),
            (30e3, 0.72),
            (50e3, 0.82),
            (80e3, 0.87),
            (120e3, 0.9),
            (300e3, 0.95),
            (1e6, 0.975),
            (2e6, 0.99),
            (10e6, 1.0),
        ],
    },
    Table {
        name: "facebook",
        source: "Facebook's flows in kB: FB_CDF of HKUST-SING/TrafficGenerator",
        unit: 1_000.0,
        knots: &[
            (0.0, 0.0),
            (3.0, 0.28),
            (10.0, 0.32),
            (12.0, 0.44),
            (75.0, 0.5),
            (250.0, 0.75),
            (350.0, 0.9),
            (1_000.0, 0.965),
            (2_515.0, 0.98),
            (6_326.0, 0.99),
            (10_032.0, 0.995),
            (15_910.0, 0.997),
            (23_009.0, 0.9992),
            (24_094.0, 0.9996),
            (25_000.0, 0.9999),
            (100e3, 0.99999),
            (1e6, 1.0),
        ],
    },
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_means_are_those_of_the_literature() {
        for (name, megabytes) in [
            ("web-search", 1.711),
            ("data-mining", 12.66),
            ("web-search-pfabric", 1.67),
            ("data-mining-pfabric", 7.47),
            ("facebook", 0.342),
        ] {
            let mean = named(name).unwrap().sizes().mean() / 1e6;
            assert!((mean / megabytes - 1.0).abs() < 0.005, "{name}: {mean} MB, not {megabytes} MB");
        }
        assert_eq!(ALL.iter().map(|table| table.sizes().knots().len()).min(), Some(8));
    }
}
