//! Restores the invariants of the e-graph.

use quanta::Clock;

use super::EGraph;

/// Merges what became equal, and brings the facts of all classes up to date.
///
/// `egg` measures how long it takes by the clock of `quanta`, which spins to calibrate itself on first use, longer the
/// busier the machine is (0.6 to 14 ms were seen). Nobody reads that time, so here it stands still.
pub fn rebuild(egraph: &mut EGraph) {
    let (still, _) = Clock::mock();
    quanta::with_clock(&still, || egraph.rebuild());
}
