//! Distributes graphs to worker processes, which are restarted if they end.

use std::io;
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;

use crate::check::Kind;
use crate::session::{Found, Outcome};
use crate::worker::{Doing, Reply, Request, Worker};

/// Result for one graph, and the crashes of its workers.
pub struct Tried {
    /// Number of the graph.
    pub number: u64,
    pub outcome: Outcome,
    /// Activities of the workers that crashed.
    pub ended: Vec<Doing>,
}

/// Tests graphs; returns the results in order.
pub fn tried(seed: u64, numbers: Range<u64>, jobs: usize) -> io::Result<Vec<Tried>> {
    let next = AtomicU64::new(numbers.start);
    let all = Mutex::new(Vec::new());
    let work = || -> io::Result<()> {
        let mut hand = Hand::new(seed)?;
        loop {
            let number = next.fetch_add(1, Ordering::Relaxed);
            if number >= numbers.end {
                return Ok(());
            }
            let tried = hand.tried(number)?;
            all.lock().unwrap_or_else(PoisonError::into_inner).push(tried);
        }
    };
    thread::scope(|scope| {
        let threads: Vec<_> = (0..jobs.max(1)).map(|_| scope.spawn(work)).collect();
        let ended =
            threads.into_iter().map(|thread| thread.join().map_err(|_| io::Error::other("a panic"))?);
        ended.collect::<io::Result<()>>()
    })?;
    let mut all = all.into_inner().unwrap_or_else(PoisonError::into_inner);
    all.sort_by_key(|tried| tried.number);
    Ok(all)
}

/// A worker; its process is replaced if it ends.
pub struct Hand {
    seed: u64,
    worker: Worker,
}

impl Hand {
    /// Starts a worker.
    pub fn new(seed: u64) -> io::Result<Hand> {
        Ok(Hand { seed, worker: Worker::start(seed)? })
    }

    fn ask(&mut self, request: &Request) -> io::Result<Result<Reply, Doing>> {
        let answer = self.worker.ask(request);
        if answer.is_err() {
            self.worker = Worker::start(self.seed)?;
        }
        Ok(answer)
    }

    /// Tests a graph.
    /// If ONNX Runtime crashes on the drawn graph, the graph is tested without ONNX Runtime. If ONNX Runtime
    /// crashes twice on the result of onnx-fix, that is a fault of the result.
    fn tried(&mut self, number: u64) -> io::Result<Tried> {
        let mut ended: Vec<Doing> = Vec::new();
        loop {
            let is_judged = !ended.contains(&Doing::Drawn);
            let outcome = match self.ask(&Request { number, is_judged, shows: None })? {
                Ok(Reply::Tried(outcome)) => outcome,
                Ok(_) => return Err(io::Error::other("an answer to something else")),
                Err(Doing::Ours(what)) => Outcome::of(Found::ended(Kind::Panics, &what)),
                Err(Doing::Made) if ended.contains(&Doing::Made) => {
                    Outcome::of(Found::ended(Kind::Fails, "ONNX Runtime"))
                }
                Err(doing) => {
                    ended.push(doing);
                    continue;
                }
            };
            return Ok(Tried { number, outcome, ended });
        }
    }

    /// Returns a fault as text, with a graph that has the fault, reduced as far as possible.
    /// If the reduction crashes, returns a message instead.
    pub fn shown(&mut self, number: u64, at: usize) -> io::Result<String> {
        for is_judged in [true, false] {
            if let Ok(Reply::Shown(text)) = self.ask(&Request { number, is_judged, shows: Some(at) })? {
                return Ok(text);
            }
        }
        Ok(format!("--- graph {number}: cannot be reduced, the process crashes"))
    }
}
