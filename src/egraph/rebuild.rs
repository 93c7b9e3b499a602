//! Restores the invariants of the e-graph.

use quanta::Clock;

use super::EGraph;

/// Merges congruent classes, and updates the facts of all classes.
///
/// `egg` times this with the clock of `quanta`, whose first use spins for calibration (0.6 to 14 ms
/// measured, more on a busy machine). The time is unused, so a mock clock replaces it.
pub fn rebuild(egraph: &mut EGraph) {
    let (still, _) = Clock::mock();
    quanta::with_clock(&still, || egraph.rebuild());
}
