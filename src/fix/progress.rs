//! Progress of a run, for displays.

use std::fmt;
use std::sync::Arc;

/// Receiver of phase names.
type Receiver = dyn Fn(&str) + Send + Sync;

/// Callback that receives the name of each phase at its start: "optimizing, round 2".
#[derive(Clone, Default)]
pub struct Progress(Option<Arc<Receiver>>);

impl Progress {
    /// Creates a progress receiver. `receive` must not influence the result of the run.
    pub fn new(receive: impl Fn(&str) + Send + Sync + 'static) -> Self {
        Progress(Some(Arc::new(receive)))
    }

    /// Reports the start of a phase.
    pub fn enter(&self, phase: &str) {
        if let Some(receive) = &self.0 {
            receive(phase);
        }
    }
}

impl fmt::Debug for Progress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.0.is_some() { "Progress(..)" } else { "Progress(none)" })
    }
}
