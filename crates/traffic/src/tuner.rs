//! [`Tuner`]: a table of algorithms by size, as NCCL's example of a tuner plugin reads it (`ext-tuner/example` in NVIDIA/nccl):
//! `collective_type,min_bytes,max_bytes,algorithm,protocol,channels,nNodes,nRanks[,numPipeOps[,regBuff]]`. The first line that fits a
//! collective applies; -1 fits all, or keeps the number of channels.

use thiserror::Error;
use weft_units::alternatives;

use crate::collective::{Algorithm, Collective};
use crate::protocol::Protocol;
use crate::trace::without_mark;
use crate::words::short;

/// Why a text is no such table.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[error("line {line}: {why}")]
pub struct TunerError {
    /// The line, counted from 1.
    pub line: usize,
    /// The problem there, with the offending text and the expected one.
    pub why: String,
}

/// A table of algorithms by size.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Tuner {
    rules: Vec<Rule>,
}

/// The choice of a table.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Choice {
    /// The collective.
    pub collective: Collective,
    /// The line of the table that applies; `None` if none does, and the collective is as it was.
    pub line: Option<usize>,
}

/// A line of the table.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Rule {
    line: usize,
    collective: &'static str,
    bytes: (u64, u64),
    algorithm: &'static str,
    protocol: Protocol,
    channels: Option<u64>,
    nodes: Option<u64>,
    ranks: Option<u64>,
    /// One operation at a time, and a buffer that is not registered: the only case here.
    fits_here: bool,
}

/// A collective of NCCL.
struct Known {
    name: &'static str,
    /// Weft's algorithms that are this collective.
    all: &'static [Algorithm],
    /// NCCL's algorithms, with Weft's.
    of_nccl: &'static [(&'static str, Algorithm)],
}

/// NCCL's collectives.
const COLLECTIVES: [Known; 5] = [
    Known {
        name: "allreduce",
        all: &[
            Algorithm::RingAllReduce,
            Algorithm::HalvingDoublingAllReduce,
            Algorithm::TreeAllReduce,
            Algorithm::DoubleTreeAllReduce,
            Algorithm::HierarchicalAllReduce,
            Algorithm::NvlsAllReduce,
            Algorithm::NvlsTreeAllReduce,
        ],
        of_nccl: &[
            ("ring", Algorithm::RingAllReduce),
            ("tree", Algorithm::DoubleTreeAllReduce),
            ("nvls", Algorithm::NvlsAllReduce),
            ("nvls_tree", Algorithm::NvlsTreeAllReduce),
        ],
    },
    Known {
        name: "allgather",
        all: &[Algorithm::AllGather, Algorithm::NvlsAllGather],
        of_nccl: &[("ring", Algorithm::AllGather), ("nvls", Algorithm::NvlsAllGather)],
    },
    Known {
        name: "reducescatter",
        all: &[Algorithm::ReduceScatter, Algorithm::NvlsReduceScatter],
        of_nccl: &[("ring", Algorithm::ReduceScatter), ("nvls", Algorithm::NvlsReduceScatter)],
    },
    Known { name: "broadcast", all: &[Algorithm::Broadcast], of_nccl: &[("ring", Algorithm::Broadcast)] },
    Known { name: "reduce", all: &[], of_nccl: &[] },
];

/// NCCL's algorithms.
const ALGORITHMS: [&str; 7] = ["ring", "tree", "collnet_direct", "collnet_chain", "nvls", "nvls_tree", "pat"];

impl Known {
    /// Weft's algorithm for this collective by one of NCCL, or the names of those that there are.
    fn algorithm(&self, name: &str) -> Result<Algorithm, String> {
        let found = self.of_nccl.iter().find(|(known, _)| *known == name);
        found.map(|(_, algorithm)| *algorithm).ok_or_else(|| {
            let names: Vec<String> = self.of_nccl.iter().map(|(known, _)| format!("`{known}`")).collect();
            alternatives(&names)
        })
    }
}

/// Reads a table from the bytes of its file.
///
/// # Errors
/// A line that is not valid.
pub fn read_tuner(bytes: &[u8]) -> Result<Tuner, TunerError> {
    let text = std::str::from_utf8(without_mark(bytes)).map_err(|_| {
        let why = "this is not UTF-8 text; expected lines of a tuner's table".to_owned();
        TunerError { line: 1, why }
    })?;
    let mut rules = Vec::new();
    for (line, text) in (1..).zip(text.lines().map(str::trim)) {
        // The head that names the columns.
        if !text.is_empty() && !text.starts_with(['#']) && !text.starts_with("collective") {
            rules.push(rule(text, line).map_err(|why| TunerError { line, why })?);
        }
    }
    match rules.is_empty() {
        false => Ok(Tuner { rules }),
        true => Err(TunerError { line: 1, why: "the table has no rules".to_owned() }),
    }
}

/// The rule of a line.
fn rule(text: &str, line: usize) -> Result<Rule, String> {
    let fields: Vec<&str> = text.split(',').map(str::trim).take(11).collect();
    let (8..=10, [collective, least, most, algorithm, protocol, channels, nodes, ranks, rest @ ..]) =
        (fields.len(), fields.as_slice())
    else {
        let found = if fields.len() > 10 { "more".to_owned() } else { fields.len().to_string() };
        return Err(format!(
            "a rule has 8 to 10 fields, and here are {found}: collective, min_bytes, max_bytes, algorithm, protocol, channels, \
             nNodes, nRanks, numPipeOps, regBuff"
        ));
    };
    let one_of = |what: &str, word: &str, names: &[&'static str]| {
        let known = names.iter().find(|name| **name == word).copied();
        known.ok_or_else(|| {
            format!("{what} `{}` is unknown; expected one of {}", short(word), names.join(", "))
        })
    };
    let size =
        |text: &str| text.parse::<u64>().map_err(|_| format!("`{}` is not a number of bytes", short(text)));
    let count = |what: &str, text: &str, most: u64| match text {
        "-1" => Ok(None),
        _ => {
            let count = text.parse::<u64>().ok().filter(|count| (1..=most).contains(count));
            let expected = || format!("{what} is `{}`; expected 1 to {most}, or -1", short(text));
            count.map(Some).ok_or_else(expected)
        }
    };
    let (least, most) = (size(least)?, size(most)?);
    if least > most {
        return Err(format!("no size is from {least} to {most} bytes; expected the smaller number first"));
    }
    for (name, text) in ["numPipeOps", "regBuff"].iter().zip(rest) {
        if text.parse::<i64>().is_err() {
            return Err(format!("{name} is `{}`; expected a number, or -1", short(text)));
        }
    }
    let collectives = COLLECTIVES.map(|known| known.name);
    Ok(Rule {
        line,
        collective: one_of("the collective", collective, &collectives)?,
        bytes: (least, most),
        algorithm: one_of("the algorithm", algorithm, &ALGORITHMS)?,
        protocol: one_of("the protocol", protocol, Protocol::WORDS)?.parse().unwrap_or(Protocol::Simple),
        channels: count("the number of channels", channels, Collective::MOST_CHANNELS)?,
        nodes: count("nNodes", nodes, u32::MAX.into())?,
        ranks: count("nRanks", ranks, u32::MAX.into())?,
        fits_here: rest.iter().zip(["1", "0"]).all(|(text, here)| [here, "-1"].contains(text)),
    })
}

impl Tuner {
    /// The collective with the algorithm, protocol and number of channels of the first rule that fits it, among ranks of so many
    /// servers; as it is if none does, with chunks only if its algorithm has some.
    ///
    /// # Errors
    /// The rule has an algorithm that Weft does not have.
    pub fn choose(&self, collective: &Collective, ranks: u64, nodes: u64) -> Result<Choice, String> {
        let chunks = |of: Algorithm| if of.has_chunks() { collective.chunks } else { 1 };
        let kept = Collective { chunks: chunks(collective.algorithm), ..*collective };
        let as_it_is = Choice { collective: kept, line: None };
        let of = COLLECTIVES.iter().find(|known| known.all.contains(&collective.algorithm));
        let Some(known) = of else { return Ok(as_it_is) };
        let fits = |rule: &&Rule| {
            let (least, most) = rule.bytes;
            rule.collective == known.name
                && (least..=most).contains(&collective.bytes)
                && rule.ranks.is_none_or(|count| count == ranks)
                && rule.nodes.is_none_or(|count| count == nodes)
                && rule.fits_here
        };
        let Some(rule) = self.rules.iter().find(fits) else { return Ok(as_it_is) };
        let algorithm = known.algorithm(rule.algorithm).map_err(|expected| {
            let (line, bytes, name) = (rule.line, collective.bytes, known.name);
            format!(
                "line {line} of the tuner's table chooses `{}` for {bytes} bytes of `{name}`, which Weft does not have; expected \
                 {expected}",
                rule.algorithm
            )
        })?;
        let chunks = chunks(algorithm);
        let channels = rule.channels.unwrap_or(collective.channels);
        let collective = Collective { algorithm, chunks, channels, protocol: rule.protocol, ..*collective };
        Ok(Choice { collective, line: Some(rule.line) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const TABLE: &str = "# NCCL's example\n\
        collective_type,min_bytes,max_bytes,algorithm,protocol,channels,nNodes,nRanks,numPipeOps,regBuff\n\
        allreduce,0,65536,tree,ll,2,1,-1,-1,-1\n\
        allreduce, 65537, 1048576, ring, simple, 4, 4, 32, 1, 0\n\
        \n\
        allreduce,65537,1048576,ring,simple,1,-1,-1,4,-1\n\
        allreduce,1048577,4294967295,ring,ll128,-1,-1,-1\n\
        allreduce,4294967296,8589934592,collnet_chain,simple,-1,-1,-1\n\
        allgather,0,100,tree,simple,-1,-1,-1\n\
        reduce,0,4294967295,tree,simple,-1,-1,-1\n\
        allreduce,8589934593,17179869184,nvls,simple,4,1,-1\n\
        allreduce,8589934593,17179869184,nvls_tree,simple,-1,-1,-1\n\
        allgather,101,1000,nvls,simple,-1,1,-1\n\
        allgather,101,1000,ring,simple,-1,-1,-1\n\
        reducescatter,0,1000,nvls,simple,2,-1,-1\n\
        broadcast,0,1000,nvls,simple,2,-1,-1\n";

    fn choose(algorithm: Algorithm, bytes: u64, ranks: u64, nodes: u64) -> Result<Collective, String> {
        let collective = Collective { channels: 3, ..Collective::new(algorithm, bytes, 6) };
        let choice = read_tuner(TABLE.as_bytes()).unwrap().choose(&collective, ranks, nodes);
        choice.map(|choice| choice.collective)
    }

    #[test]
    fn the_first_rule_that_fits_chooses() {
        let chosen = |bytes, ranks, nodes| {
            let found = choose(Algorithm::HalvingDoublingAllReduce, bytes, ranks, nodes).unwrap();
            let chunks = if found.algorithm.has_chunks() { 6 } else { 1 };
            assert_eq!(found.chunks, chunks, "{}", found.algorithm);
            (found.algorithm.word(), found.protocol.word(), found.channels)
        };
        assert_eq!(chosen(65_536, 8, 1), ("double-tree-all-reduce", "ll", 2));
        assert_eq!(chosen(65_537, 32, 4), ("ring-all-reduce", "simple", 4));
        // Neither another number of nodes nor several operations at a time.
        assert_eq!(chosen(65_537, 32, 2), ("halving-doubling-all-reduce", "simple", 3));
        assert_eq!(chosen(2_000_000, 32, 2), ("ring-all-reduce", "ll128", 3));
        assert_eq!(chosen(1 << 34, 8, 1), ("nvls-all-reduce", "simple", 4));
        assert_eq!(chosen(1 << 34, 16, 2), ("nvls-tree-all-reduce", "simple", 3));
        for (own, nodes, chosen) in [
            (Algorithm::AllGather, 1, Algorithm::NvlsAllGather),
            (Algorithm::NvlsAllGather, 2, Algorithm::AllGather),
            (Algorithm::ReduceScatter, 1, Algorithm::NvlsReduceScatter),
        ] {
            assert_eq!(choose(own, 200, 8, nodes).unwrap().algorithm, chosen);
        }
        let other = choose(Algorithm::AllToAll, 50, 8, 1).unwrap();
        assert_eq!((other.algorithm, other.channels, other.chunks), (Algorithm::AllToAll, 3, 1));
        for (algorithm, bytes, message) in [
            (
                Algorithm::RingAllReduce,
                1 << 32,
                "line 8 of the tuner's table chooses `collnet_chain` for 4294967296 bytes of `allreduce`, which Weft does not \
                 have; expected `ring`, `tree`, `nvls` or `nvls_tree`",
            ),
            (
                Algorithm::AllGather,
                50,
                "line 9 of the tuner's table chooses `tree` for 50 bytes of `allgather`, which Weft does not have; expected `ring` or \
                 `nvls`",
            ),
            (
                Algorithm::Broadcast,
                200,
                "line 16 of the tuner's table chooses `nvls` for 200 bytes of `broadcast`, which Weft does not have; expected `ring`",
            ),
        ] {
            assert_eq!(choose(algorithm, bytes, 8, 1), Err(message.to_owned()));
        }
    }

    #[test]
    fn errors_name_their_line() {
        let good = "allreduce,0,9,ring,simple,1,-1,-1";
        for (text, message) in [
            ("# nothing\n", "line 1: the table has no rules"),
            (
                "\nallreduce,0,9,ring",
                "line 2: a rule has 8 to 10 fields, and here are 4: collective, min_bytes",
            ),
            (&format!("{good},-1,-1,-1"), "line 1: a rule has 8 to 10 fields, and here are more"),
            (
                &good.replace("allreduce", "alltoall"),
                "line 1: the collective `alltoall` is unknown; expected one of allreduce",
            ),
            (
                &good.replace("ring", "rings"),
                "line 1: the algorithm `rings` is unknown; expected one of ring, tree",
            ),
            (
                &good.replace("simple", "LL"),
                "line 1: the protocol `LL` is unknown; expected one of simple, ll128, ll",
            ),
            (&good.replace(",0,", ",-5,"), "line 1: `-5` is not a number of bytes"),
            (&good.replace(",0,", ",10,"), "line 1: no size is from 10 to 9 bytes"),
            (&good.replace(",1,", ",65,"), "line 1: the number of channels is `65`; expected 1 to 64, or -1"),
            (&format!("{good},x"), "line 1: numPipeOps is `x`; expected a number, or -1"),
        ] {
            let error = read_tuner(text.as_bytes()).unwrap_err().to_string();
            assert!(error.starts_with(message), "{error}, not {message}");
        }
    }

    proptest! {
        #[test]
        fn no_change_of_a_table_makes_it_panic(at in any::<usize>(), byte in any::<u8>(), bytes in any::<u64>()) {
            let mut text = TABLE.as_bytes().to_vec();
            let at = at % text.len();
            text[at] = byte;
            if let Ok(tuner) = read_tuner(&text) {
                let collective = Collective::new(Algorithm::RingAllReduce, bytes, 1);
                if let Ok(chosen) = tuner.choose(&collective, 8, 1) {
                    prop_assert!((1..=Collective::MOST_CHANNELS).contains(&chosen.collective.channels));
                }
            }
        }
    }
}
