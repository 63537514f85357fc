//! Traces: flows read from a table, CSV or Parquet, passed in as the bytes of its file.
//!
//! Columns are found by name: `src`, `dst` (host names), `bytes`, a start as `start` (text with a unit),
//! `start_s` or `start_ps` (one of them), and optionally `class`, `dscp`, `sport` and `dport`. Other columns are
//! ignored, so the `flows.parquet` of a result can be used as a trace. Lists of conweave-ns3 and HPCC have fixed
//! columns. Connection matrices of htsim, GOAL files, execution traces of Chakra and workloads of SimAI say which flows wait for
//! which.

mod chakra;
mod columns;
mod conweave;
mod csv;
mod error;
mod goal;
mod htsim;
mod matching;
mod order;
mod parquet;
mod read;
mod simai;
mod value;

pub use chakra::read_chakra;
pub use conweave::read_conweave;
pub use csv::read_csv;
pub use error::{Place, TraceError};
pub use goal::read_goal;
pub use htsim::{Failure, read_htsim};
pub use parquet::read_parquet;
pub use read::Read;
pub(crate) use read::without_mark;
pub use simai::{is_simai, read_simai};
pub use value::FindHost;

#[cfg(test)]
mod tests {
    use weft_units::{HostId, Time};

    use super::*;
    use crate::lane::Lane;
    use crate::listed::ListedFlow;

    #[test]
    fn a_mark_before_the_text_is_skipped_and_a_long_word_is_cut_in_messages() {
        type Read = fn(&[u8]) -> Result<(), TraceError>;
        let readers: [(Read, &str, &str); 4] = [
            (|text| read_goal(text).map(drop), "num_ranks 1 rank 0 { }", "num_ranks 2 WORD"),
            (|text| read_htsim(text).map(drop), "Nodes 2\nConnections 0\n", "Nodes 2\nWORD\n"),
            (|text| read_conweave(text, &find).map(drop), "0\n", "WORD\n"),
            (
                |text| read_csv(text, &find).map(drop),
                "src,dst,bytes,start_ps\n",
                "src,dst,bytes,start_ps\nh0,WORD,1,0\n",
            ),
        ];
        for (read, good, bad) in readers {
            read([b"\xef\xbb\xbf", good.as_bytes()].concat().as_slice()).unwrap();
            let error = read(bad.replace("WORD", &"x".repeat(5_000)).as_bytes()).unwrap_err().to_string();
            assert!(error.contains(&format!("{}...", "x".repeat(40))) && error.len() < 250, "{error}");
        }
    }

    pub(super) fn find(name: &str) -> Result<HostId, String> {
        let id = name.strip_prefix('h').and_then(|id| id.parse().ok()).filter(|id| *id < 16);
        id.map(HostId).ok_or_else(|| format!("there is no node `{name}`"))
    }

    pub(super) fn flow(src: u32, dst: u32, bytes: u64, start: u64, class: Option<&str>) -> ListedFlow {
        ListedFlow {
            src: HostId(src),
            dst: HostId(dst),
            bytes,
            start: Time::from_ps(start),
            class: class.map(str::to_owned),
            dscp: None,
            ports: None,
            lane: Lane::Any,
        }
    }
}
