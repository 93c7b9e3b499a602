//! Progress line of long runs.
//!
//! The line is drawn on standard error if standard error is a terminal that can move the cursor (`TERM`), the
//! run is not quiet, and the run takes more than a second. The line is erased at the end.

use std::io::{IsTerminal, stderr};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::fix;

/// Duration of a run before the line appears.
const DELAY: Duration = Duration::from_secs(1);

/// Duration between two frames.
const FRAME: Duration = Duration::from_millis(120);

/// Progress line of a run; erased when dropped.
pub struct Progress {
    bar: ProgressBar,
    timer: Option<Timer>,
}

/// Thread that shows the line after the delay, and the sender that stops it.
struct Timer {
    stop: Sender<()>,
    thread: JoinHandle<()>,
}

impl Progress {
    /// Creates a line that is never shown.
    pub fn hidden() -> Self {
        Progress { bar: ProgressBar::hidden(), timer: None }
    }

    /// Starts the line of a run over this many files.
    pub fn start(files: usize, quiet: bool) -> Self {
        let is_dumb = std::env::var_os("TERM").is_none_or(|term| term == "dumb");
        if quiet || is_dumb || !stderr().is_terminal() {
            return Progress::hidden();
        }
        let template = match files {
            0 | 1 => "{spinner} {wide_msg}",
            _ => "{spinner} {pos} of {len} files done; {wide_msg}",
        };
        let style =
            ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_spinner());
        let bar = ProgressBar::with_draw_target(Some(files as u64), ProgressDrawTarget::hidden());
        let bar = bar.with_style(style);
        let (stop, stopped) = channel();
        let shown = bar.clone();
        let thread = thread::spawn(move || {
            if stopped.recv_timeout(DELAY) == Err(RecvTimeoutError::Timeout) {
                shown.set_draw_target(ProgressDrawTarget::stderr());
                shown.enable_steady_tick(FRAME);
            }
        });
        Progress { bar, timer: Some(Timer { stop, thread }) }
    }

    /// Sets the current phase.
    pub fn phase(&self, phase: impl Into<String>) {
        self.bar.set_message(phase.into());
    }

    /// Notes that a file is done.
    pub fn file_done(&self) {
        self.bar.inc(1);
    }

    /// Returns a receiver for the phases of a file.
    pub fn receiver(&self, file: &str) -> fix::Progress {
        if self.timer.is_none() {
            return fix::Progress::default();
        }
        let (bar, file) = (self.bar.clone(), file.to_owned());
        fix::Progress::new(move |phase| bar.set_message(format!("{file}: {phase}")))
    }

    /// Runs `print` while the line is erased.
    pub fn suspend<T>(&self, print: impl FnOnce() -> T) -> T {
        self.bar.suspend(print)
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if let Some(Timer { stop, thread }) = self.timer.take() {
            // The thread may have ended before.
            let _ = stop.send(());
            let _ = thread.join();
            self.bar.finish_and_clear();
        }
    }
}
