//! Coupled congestion control: the controller of a subflow sees all subflows.

use super::Config;
use super::connection::Connection;
use crate::congestion::MptcpCongestion;

impl Connection {
    /// Passes all subflows to a subflow's controller.
    pub(super) fn observe(&mut self, cfg: &Config, number: usize) {
        if cfg.congestion() == MptcpCongestion::Uncoupled {
            return;
        }
        self.paths.clear();
        let mut own = usize::MAX;
        for (other, subflow) in self.subflows.iter().enumerate() {
            if let Some(path) = subflow.path(&cfg.subflow) {
                if other == number {
                    own = self.paths.len();
                }
                self.paths.push(path);
            }
        }
        let endpoint = &mut self.subflows[number].endpoint;
        if let Some(controller) = endpoint.tx.congestion.existing_mut() {
            controller.on_paths(&self.paths, own, endpoint.tx.acked);
        }
    }
}
