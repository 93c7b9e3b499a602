//! Summarizes many graphs: operators, rules, validity, and faults.

use std::collections::BTreeMap;

use crate::check::Kind;
use crate::crew::{Hand, Tried};
use crate::differences;
use crate::session::Found;
use crate::worker::Doing;

/// Returns true if a fault is known and open, or is an accepted difference from ONNX Runtime.
fn is_open(kind: Kind, cause: &str) -> bool {
    if kind == Kind::Refused || kind == Kind::Differs && differences::is_known(cause) {
        return true;
    }
    let name = format!("{kind:?}");
    let lines = include_str!("open.tsv").lines().filter(|line| !line.starts_with('#'));
    lines
        .map(|line| line.split('\t'))
        .any(|mut line| line.next() == Some(&*name) && line.next() == Some(cause))
}

/// Position of a fault: the graph, and the index among its faults.
struct Place {
    number: u64,
    at: usize,
    nodes: usize,
}

/// Counts over many graphs.
#[derive(Default)]
pub struct Tally {
    graphs: usize,
    valid: usize,
    near: (usize, usize),
    judged: usize,
    converted: usize,
    refused: usize,
    invalid: BTreeMap<(bool, String), usize>,
    operators: BTreeMap<String, usize>,
    fired: BTreeMap<String, usize>,
    causes: BTreeMap<(Kind, String), Vec<Place>>,
    ended: BTreeMap<Doing, Vec<u64>>,
}

impl Tally {
    /// Adds the result for a graph.
    pub fn add(&mut self, tried: Tried) {
        let Tried { number, outcome, ended } = tried;
        let is_near = number % 2 == 1;
        self.graphs += 1;
        self.near.1 += usize::from(is_near);
        for doing in ended {
            self.ended.entry(doing).or_default().push(number);
        }
        for (at, Found { kind, cause, nodes }) in outcome.found.into_iter().enumerate() {
            self.causes.entry((kind, cause)).or_default().push(Place { number, at, nodes });
        }
        if let Some(why) = outcome.invalid {
            *self.invalid.entry((is_near, why)).or_default() += 1;
            return;
        }
        self.valid += 1;
        self.near.0 += usize::from(is_near);
        self.judged += outcome.judged;
        self.converted += outcome.converted;
        self.refused += outcome.refused;
        for op in outcome.operators {
            *self.operators.entry(op).or_default() += 1;
        }
        for code in outcome.fired {
            *self.fired.entry(code).or_default() += 1;
        }
    }

    /// Prints the summary. Returns true if there is no new fault.
    pub fn print(self, hand: &mut Hand) -> std::io::Result<bool> {
        println!("## Not counted");
        let mut invalid: Vec<_> = self.invalid.into_iter().collect();
        invalid.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
        for ((is_near, why), count) in invalid.iter().take(40) {
            println!("{count:6} {} {why}", if *is_near { "near" } else { "free" });
        }
        println!("## Operators reached: {}", self.operators.len());
        for (op, count) in &self.operators {
            print!("{op} {count}  ");
        }
        println!("\n## Rules fired: {}", self.fired.len());
        if !self.ended.is_empty() {
            println!("## Crashes of ONNX Runtime");
        }
        for (doing, numbers) in &self.ended {
            println!("{:6} {doing:?}: graphs {numbers:?}", numbers.len());
        }
        println!("## Faults");
        let mut causes: Vec<_> = self.causes.into_iter().collect();
        causes.sort_by_key(|(_, places)| std::cmp::Reverse(places.len()));
        let (mut total, mut faults, mut known) = (0, 0, 0);
        for ((kind, cause), places) in causes {
            if is_open(kind, &cause) {
                let first = places.first().map_or(0, |place| place.number);
                println!("### {} times, known: {kind:?} by {cause}, first in graph {first}", places.len());
                known += usize::from(kind != Kind::Refused) * places.len();
                continue;
            }
            (total, faults) = (total + places.len(), faults + 1);
            println!("### {} times: {kind:?} by {cause}", places.len());
            if let Some(smallest) = places.into_iter().min_by_key(|place| (place.nodes, place.number)) {
                println!("{}", hand.shown(smallest.number, smallest.at)?);
            }
        }
        println!(
            "{} graphs, {} valid (near {}/{}), {} judged, {} converted, {} refused, {} crashes of ONNX Runtime, \
             {total} faults of {faults} causes, {known} known ones",
            self.graphs,
            self.valid,
            self.near.0,
            self.near.1,
            self.judged,
            self.converted,
            self.refused,
            self.ended.values().map(Vec::len).sum::<usize>(),
        );
        Ok(total == 0)
    }
}
