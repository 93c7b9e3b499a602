//! Fuzzes the readers with randomly corrupted files: no tool may panic, hang, or exhaust memory.
//!
//! Cases are deterministic: `onnx:17` is always the same file. Each case runs in a thread with its name, so that a
//! stack overflow names the file, too. `tests/bytes` runs any number of cases with an optimized build.

mod archive;
mod examine;
pub mod meter;
mod mutate;
mod protobuf;
mod seeds;

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

use fastrand::Rng;
use onnx_lint::read::sniff::Kind;

use self::examine::Tools;
use self::meter::Meter;
use self::seeds::Seeds;

/// Number of files, unless `ONNX_LINT_BYTES` is set.
const COUNT: u64 = 2600;

/// Limits for one file: CPU time in seconds, and peak memory, which may grow with the size of the file.
/// The time limit of an unoptimized build is ten times as high.
const MAX_SECONDS: f64 = if cfg!(debug_assertions) { 20.0 } else { 2.0 };
const MAX_BYTES: usize = 50 << 20;
const MAX_BYTES_A_BYTE: usize = 20;

/// Wall-clock time after which a run is considered to hang.
const HANGS: Duration = Duration::from_secs(120);

/// Kind of a file: an input to lint, or a file that configures the tools.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reader {
    Evidence(Kind),
    /// A model with external data.
    External,
    /// The weights of a valid TorchScript graph.
    State,
    Rules,
    Config,
    Baseline,
}

const READERS: [(&str, Reader); 13] = [
    ("onnx", Reader::Evidence(Kind::Onnx)),
    ("text", Reader::Evidence(Kind::OnnxText)),
    ("textproto", Reader::Evidence(Kind::Textproto)),
    ("json", Reader::Evidence(Kind::Json)),
    ("pt2", Reader::Evidence(Kind::Pt2)),
    ("torchscript", Reader::Evidence(Kind::TorchScript)),
    ("log", Reader::Evidence(Kind::Log)),
    ("python", Reader::Evidence(Kind::Python)),
    ("external", Reader::External),
    ("state", Reader::State),
    ("rules", Reader::Rules),
    ("config", Reader::Config),
    ("baseline", Reader::Baseline),
];

/// One corrupted file.
#[derive(Clone, Copy)]
struct Case {
    name: &'static str,
    reader: Reader,
    number: u64,
}

impl Case {
    fn new(index: u64, readers: &[(&'static str, Reader)]) -> Case {
        let count = readers.len() as u64;
        let (name, reader) = readers[(index % count) as usize];
        Case { name, reader, number: index / count }
    }

    fn content(&self, seeds: &Seeds) -> Vec<u8> {
        let seeds = seeds.of(self.reader);
        let mut rng = Rng::with_seed(self.number);
        let mut bytes = seeds[rng.usize(..seeds.len())].clone();
        let other = &seeds[rng.usize(..seeds.len())];
        // The first files are the unchanged seeds.
        if self.number >= seeds.len() as u64 {
            mutate::mutate(self.reader, &mut bytes, other, &mut rng);
        } else {
            bytes.clone_from(&seeds[self.number as usize]);
        }
        bytes
    }
}

impl fmt::Display for Case {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "{}:{}", self.name, self.number)
    }
}

/// Runs the tools on one file; returns an error if they exceed a limit or panic.
fn verdict(case: Case, bytes: Vec<u8>, tools: &'static Tools, folder: &Path) -> Result<(), String> {
    let (folder, allowed) = (folder.to_owned(), MAX_BYTES + MAX_BYTES_A_BYTE * bytes.len());
    let (done, is_done) = channel();
    let run = move || {
        let meter = Meter::start();
        tools.examine(case.reader, case.number, &bytes, &folder);
        // Sending fails if the case took too long and the receiver was dropped.
        let _ = done.send(());
        (meter.seconds(), meter.most_bytes())
    };
    let thread =
        thread::Builder::new().name(case.to_string()).spawn(run).map_err(|error| error.to_string())?;
    if let Err(RecvTimeoutError::Timeout) = is_done.recv_timeout(HANGS) {
        return Err("does not end".to_owned());
    }
    let (seconds, most) = thread.join().map_err(|_| "panics".to_owned())?;
    if seconds > MAX_SECONDS {
        return Err(format!("takes {seconds:.1} s"));
    }
    if most > allowed {
        return Err(format!("takes {} MB", most >> 20));
    }
    Ok(())
}

/// Returns the number in an environment variable.
fn number(variable: &str) -> Option<u64> {
    std::env::var(variable)
        .ok()
        .map(|text| text.parse().unwrap_or_else(|_| panic!("{variable}={text} is not a number")))
}

#[test]
fn corrupted_files_cause_no_panic_hang_or_memory_exhaustion() {
    let count = number("ONNX_LINT_BYTES").unwrap_or(COUNT);
    let first = number("ONNX_LINT_BYTES_FROM").unwrap_or(0);
    let only = std::env::var("ONNX_LINT_BYTES_OF").unwrap_or_default();
    let readers: Vec<_> = READERS.into_iter().filter(|(name, _)| only.is_empty() || *name == only).collect();
    let (tools, seeds): (&Tools, Seeds) = (Box::leak(Box::new(Tools::new())), Seeds::collect());
    let (next, faults) = (AtomicU64::new(first), Mutex::new(Vec::new()));
    let work = || {
        let folder = tempfile::tempdir().expect("a folder");
        loop {
            let index = next.fetch_add(1, Ordering::Relaxed);
            if index >= first + count {
                return;
            }
            let case = Case::new(index, &readers);
            let bytes = case.content(&seeds);
            if let Err(what) = verdict(case, bytes.clone(), tools, folder.path()) {
                let kept = keep(case, &bytes);
                faults
                    .lock()
                    .expect("no thread panics with the lock")
                    .push(format!("{case} {what}: {}", kept.display()));
            }
        }
    };
    thread::scope(|scope| {
        let threads = thread::available_parallelism().map_or(1, Into::into);
        (0..threads).for_each(|_| drop(scope.spawn(work)));
    });
    let faults = faults.into_inner().expect("no thread panics with the lock");
    println!("{count} corrupted files from {first} on: {} faults", faults.len());
    assert!(faults.is_empty(), "{} faults:\n{}", faults.len(), faults.join("\n"));
}

/// Saves a file that causes a fault, for debugging.
fn keep(case: Case, bytes: &[u8]) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("bytes");
    std::fs::create_dir_all(&folder).expect("a folder");
    let path = folder.join(format!("{}-{}", case.number, examine::file_name(case.reader)));
    std::fs::write(&path, bytes).expect("a file");
    path
}
