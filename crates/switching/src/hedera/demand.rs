//! Natural demands of flows: their rates if only the hosts' links limited them (Al-Fares et al., "Hedera: dynamic flow
//! scheduling for data center networks", NSDI 2010, section 4.2, figure 5).

/// Shares closer than this, relatively, are equal.
const TOLERANCE: f64 = 1e-9;

/// The demands of `flows`, each from and to a place in `capacities`: the rates of the hosts' links, in any unit.
///
/// Senders divide their capacity evenly, receivers limit the flows above an even share of theirs, until nothing changes.
pub(super) fn estimate(flows: &[[usize; 2]], capacities: &[f64]) -> Vec<f64> {
    let mut demands = vec![0.0; flows.len()];
    let mut converged = vec![false; flows.len()];
    let ends = [0, 1].map(|end| {
        let mut of_host = vec![Vec::new(); capacities.len()];
        flows.iter().enumerate().for_each(|(flow, hosts)| of_host[hosts[end]].push(flow));
        of_host
    });
    // Every round but the last fixes a flow.
    for _ in 0..=flows.len() {
        let before = demands.clone();
        for (own, capacity) in ends[0].iter().zip(capacities) {
            send(own, *capacity, &mut demands, &converged);
        }
        for (own, capacity) in ends[1].iter().zip(capacities) {
            receive(own, *capacity, &mut demands, &mut converged);
        }
        if demands.iter().zip(&before).all(|(now, before)| (now - before).abs() <= TOLERANCE * now) {
            break;
        }
    }
    demands
}

/// The paper's Est-Src: the flows that no receiver limits share the rest evenly.
fn send(own: &[usize], capacity: f64, demands: &mut [f64], converged: &[bool]) {
    let limited: f64 = own.iter().filter(|flow| converged[**flow]).map(|flow| demands[*flow]).sum();
    let free = own.iter().filter(|flow| !converged[**flow]);
    let share = (capacity - limited).max(0.0) / free.clone().count() as f64;
    free.for_each(|flow| demands[*flow] = share);
}

/// The paper's Est-Dst: if the flows exceed the capacity, those above an even share of it get that share.
fn receive(own: &[usize], capacity: f64, demands: &mut [f64], converged: &mut [bool]) {
    let total: f64 = own.iter().map(|flow| demands[*flow]).sum();
    if total <= capacity * (1.0 + TOLERANCE) {
        return;
    }
    let mut limited = own.to_vec();
    let mut rest = capacity;
    let share = loop {
        let share = rest / limited.len() as f64;
        let count = limited.len();
        limited.retain(|flow| {
            let is_limited = demands[*flow] >= share * (1.0 - TOLERANCE);
            rest -= if is_limited { 0.0 } else { demands[*flow] };
            is_limited
        });
        if limited.len() == count || limited.is_empty() {
            break share;
        }
    };
    for flow in limited {
        (demands[flow], converged[flow]) = (share, true);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn close(found: &[f64], expected: &[f64]) {
        let differs = found.iter().zip(expected).any(|(a, b)| (a - b).abs() > 1e-6);
        assert!(!differs && found.len() == expected.len(), "{found:?}, expected {expected:?}");
    }

    /// The paper's figure 4: four hosts, of which host 2 sends to hosts 0 and 3.
    #[test]
    fn the_papers_example_converges_to_thirds() {
        let flows = [[0, 1], [0, 2], [0, 3], [1, 0], [1, 0], [1, 2], [2, 0], [2, 3], [3, 1], [3, 1]];
        let third = 1.0 / 3.0;
        let mut expected = [third; 10];
        expected[7] = 2.0 * third;
        close(&estimate(&flows, &[1.0; 4]), &expected);
    }

    #[test]
    fn senders_and_receivers_limit_flows_by_their_own_rates() {
        close(&estimate(&[[0, 1]], &[1.0, 1.0]), &[1.0]);
        close(&estimate(&[[0, 1]], &[10.0, 1.0]), &[1.0]);
        close(&estimate(&[[0, 2], [0, 1], [1, 2]], &[1.0; 3]), &[0.5, 0.5, 0.5]);
        close(
            &estimate(&[[0, 3], [1, 3], [2, 3], [2, 0]], &[1.0; 4]),
            &[1.0 / 3.0, 1.0 / 3.0, 1.0 / 3.0, 2.0 / 3.0],
        );
        close(&estimate(&[], &[1.0]), &[]);
    }
}
