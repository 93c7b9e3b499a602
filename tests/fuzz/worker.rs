//! A worker process that tests graphs.
//! ONNX Runtime crashes on some graphs, and hangs on others. A worker that hangs ends itself. If a worker
//! ends, only the result of its current graph is lost, and the parent process has received its last activity.

use std::io::{BufRead, BufReader, Lines, Write, stdin, stdout};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::{Child, ChildStdin, ChildStdout, Command, ExitCode, Stdio};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

use cpu_time::ProcessTime;
use serde::{Deserialize, Serialize};

use crate::check::panic_text;
use crate::runtime;
use crate::session::{Outcome, Session};

/// Request to test a graph.
#[derive(Serialize, Deserialize)]
pub struct Request {
    pub number: u64,
    /// Whether ONNX Runtime judges the graph, too.
    pub is_judged: bool,
    /// Index of the fault to reduce; `None` tests the graph.
    pub shows: Option<usize>,
}

/// Message of a worker.
#[derive(Serialize, Deserialize)]
pub enum Reply {
    /// The worker begins this activity. If the worker crashes, the activity sent last caused the crash.
    Doing(Doing),
    Tried(Outcome),
    Shown(String),
}

/// Activity of a worker.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Doing {
    /// Our own code: a crash is a fault.
    Ours(String),
    /// ONNX Runtime runs the drawn graph.
    Drawn,
    /// ONNX Runtime runs the transformed graph, after the drawn one.
    Made,
}

static TELLS: AtomicBool = AtomicBool::new(false);

/// Number of activities sent. The worker makes progress as long as this number grows.
static WORDS: AtomicU64 = AtomicU64::new(0);

/// CPU time without a message after which the worker is considered to hang.
/// The limit is a thousand times the CPU time for one graph.
const SILENCE: Duration = Duration::from_secs(20);

/// Sends the next activity to the parent, if there is one.
pub fn doing(next: Doing) {
    if TELLS.load(Ordering::Relaxed) {
        WORDS.fetch_add(1, Ordering::Relaxed);
        reply(&Reply::Doing(next));
    }
}

/// Ends the process if it works too long without a message.
fn watch() {
    let (mut heard, mut since) = (0, ProcessTime::now());
    loop {
        thread::sleep(SILENCE / 10);
        let words = WORDS.load(Ordering::Relaxed);
        if words != heard {
            (heard, since) = (words, ProcessTime::now());
        } else if since.elapsed() > SILENCE {
            std::process::abort();
        }
    }
}

fn reply(reply: &Reply) {
    let Ok(line) = serde_json::to_string(reply) else { return };
    // If the parent is gone, reading the next request fails, too.
    let _ = writeln!(stdout(), "{line}");
}

/// Answers requests until the input ends.
pub fn serve(session: &Session) -> ExitCode {
    TELLS.store(true, Ordering::Relaxed);
    std::panic::set_hook(Box::new(|_| {}));
    thread::spawn(watch);
    let requests = stdin().lines().map_while(Result::ok);
    for request in requests.filter_map(|line| serde_json::from_str::<Request>(&line).ok()) {
        runtime::set_asked(request.is_judged);
        doing(Doing::Ours("drawing".to_owned()));
        let answer = || match request.shows {
            Some(at) => Reply::Shown(session.shown(request.number, at)),
            None => Reply::Tried(session.tried(request.number).0),
        };
        reply(&catch_unwind(AssertUnwindSafe(answer)).unwrap_or_else(|panic| match request.shows {
            Some(_) => Reply::Shown(session.text(request.number)),
            None => Reply::Tried(Outcome::panicked(&panic_text(&*panic))),
        }));
    }
    ExitCode::SUCCESS
}

/// Handle of a worker process in its parent.
pub struct Worker {
    child: Child,
    requests: ChildStdin,
    replies: Lines<BufReader<ChildStdout>>,
}

impl Worker {
    /// Starts a worker process.
    pub fn start(seed: u64) -> std::io::Result<Worker> {
        let mut child = Command::new(std::env::current_exe()?)
            .args(["--worker", "--seed", &seed.to_string()])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()?;
        let missing = || std::io::Error::other("a worker without pipes");
        let requests = child.stdin.take().ok_or_else(missing)?;
        let replies = BufReader::new(child.stdout.take().ok_or_else(missing)?).lines();
        Ok(Worker { child, requests, replies })
    }

    /// Sends a request and returns the reply.
    ///
    /// # Errors
    /// The worker crashed; the error is its last activity.
    pub fn ask(&mut self, request: &Request) -> Result<Reply, Doing> {
        let mut last = Doing::Ours("starting".to_owned());
        let asked =
            serde_json::to_string(request).is_ok_and(|line| writeln!(self.requests, "{line}").is_ok());
        while let Some(Ok(line)) = self.replies.next().filter(|_| asked) {
            match serde_json::from_str(&line) {
                Ok(Reply::Doing(doing)) => last = doing,
                Ok(reply) => return Ok(reply),
                // Not a reply: ONNX Runtime printed this line.
                Err(_) => {}
            }
        }
        Err(last)
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        // The process may have ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
