//! A process of its own in which graphs are tried. ONNX Runtime ends it on some of them, and comes to no end on others,
//! when it ends itself: then the graph at hand is all that is lost, and what was being done to it is known.

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

#[derive(Serialize, Deserialize)]
pub struct Request {
    pub number: u64,
    /// ONNX Runtime is asked, too.
    pub is_judged: bool,
    /// The fault that is to be shown on the smallest graph, by its place in the outcome; else the graph is tried.
    pub shows: Option<usize>,
}

#[derive(Serialize, Deserialize)]
pub enum Reply {
    /// Said before it is done: the last word of a process that ends.
    Doing(Doing),
    Tried(Outcome),
    Shown(String),
}

/// What a process that ended was at.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Doing {
    /// Our own: whatever ends it is a fault.
    Ours(String),
    /// ONNX Runtime had the graph as it was drawn.
    Drawn,
    /// ONNX Runtime had what was made of a graph that it had run before.
    Made,
}

static TELLS: AtomicBool = AtomicBool::new(false);

/// How many words were said: while it grows, the work goes on.
static WORDS: AtomicU64 = AtomicU64::new(0);

/// The time of a processor that goes by without a word before the process is taken for one that never ends: a
/// thousand times what a graph needs.
const SILENCE: Duration = Duration::from_secs(20);

/// Says what comes next, if anybody listens.
pub fn doing(next: Doing) {
    if TELLS.load(Ordering::Relaxed) {
        WORDS.fetch_add(1, Ordering::Relaxed);
        reply(&Reply::Doing(next));
    }
}

/// Ends the process once it has worked too long without a word.
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
    // Where nobody reads any more, the next request is not there either.
    let _ = writeln!(stdout(), "{line}");
}

/// Answers requests until there are no more.
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

/// Such a process, as its parent sees it.
pub struct Worker {
    child: Child,
    requests: ChildStdin,
    replies: Lines<BufReader<ChildStdout>>,
}

impl Worker {
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

    /// What comes of a request.
    ///
    /// # Errors
    /// What it was doing when it ended.
    pub fn ask(&mut self, request: &Request) -> Result<Reply, Doing> {
        let mut last = Doing::Ours("starting".to_owned());
        let asked =
            serde_json::to_string(request).is_ok_and(|line| writeln!(self.requests, "{line}").is_ok());
        while let Some(Ok(line)) = self.replies.next().filter(|_| asked) {
            match serde_json::from_str(&line) {
                Ok(Reply::Doing(doing)) => last = doing,
                Ok(reply) => return Ok(reply),
                // Whatever ONNX Runtime prints.
                Err(_) => {}
            }
        }
        Err(last)
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
