//! Tests one graph: draws it, checks that it is valid, and finds faults.

use std::fmt::Write;

use onnx_lint::write;
use serde::{Deserialize, Serialize};

use crate::case::{Case, SIZES, is_as_declared, run};
use crate::check::{Before, Kind, Rules, Way, check, errors, reread};
use crate::fill::Fill;
use crate::graph::{self, OPSETS};
use crate::judge;
use crate::near;
use crate::random::Random;
use crate::reduce::Shown;
use crate::worker::{self, Doing};

/// Draws and tests graphs for one seed.
pub struct Session {
    seed: u64,
    rules: Rules,
    examples: Vec<near::Example>,
}

/// Result for one graph.
#[derive(Default, Serialize, Deserialize)]
pub struct Outcome {
    /// The reason why the graph is invalid and was not tested, if any.
    pub invalid: Option<String>,
    /// Operators in the graph.
    pub operators: Vec<String>,
    /// Codes of applied rules.
    pub fired: Vec<String>,
    /// Number of successful conversions.
    pub converted: usize,
    /// Number of refused conversions.
    pub refused: usize,
    /// 1 if ONNX Runtime agrees with our evaluator on some run, else 0.
    pub judged: usize,
    pub found: Vec<Found>,
}

/// A fault of a graph.
#[derive(Serialize, Deserialize)]
pub struct Found {
    pub kind: Kind,
    /// The cause: a rule, an operator, or a message.
    pub cause: String,
    /// Number of nodes of the graph.
    pub nodes: usize,
}

impl Found {
    fn new(shown: &Shown, rules: &Rules) -> Found {
        Found { kind: shown.fault.kind, cause: shown.cause(rules), nodes: shown.model.nodes.len() }
    }

    /// Creates a fault for a crash of the process during an activity.
    pub fn ended(kind: Kind, what: &str) -> Found {
        Found { kind, cause: format!("the process crashes: {what}"), nodes: 0 }
    }
}

impl Outcome {
    /// Creates an outcome with only a fault.
    pub fn of(found: Found) -> Outcome {
        Outcome { found: vec![found], ..Outcome::default() }
    }

    /// Creates an outcome with only a panic.
    pub fn panicked(text: &str) -> Outcome {
        Outcome::of(Found { kind: Kind::Panics, cause: text.to_owned(), nodes: 0 })
    }

    fn invalid(why: impl Into<String>) -> Outcome {
        Outcome { invalid: Some(why.into()), ..Outcome::default() }
    }
}

impl Session {
    /// Loads the rules and their examples.
    pub fn new(seed: u64) -> Self {
        Session { seed, rules: Rules::new(), examples: near::examples() }
    }

    fn random(&self, number: u64) -> Random {
        Random::of(self.seed, number)
    }

    /// Draws the graph with this number.
    fn case(&self, number: u64) -> Option<Case> {
        let random = self.random(number);
        match number % 2 {
            0 => Some(graph::draw(random)),
            _ => near::draw(&self.examples, random),
        }
    }

    /// Returns runs of a model, at sizes and with elements that work, or the reason why none does.
    fn runs(&self, case: &Case, random: &mut Random) -> Result<Vec<Before>, String> {
        const FILLS: [Fill; 4] = [Fill::Any, Fill::Positive, Fill::Extreme, Fill::UpTo(2)];
        let mut runs: Vec<Before> = Vec::new();
        let mut why = "no inputs".to_owned();
        for sizes in 0..SIZES.len() {
            for fill in [&FILLS[sizes % 4], &FILLS[(sizes + 1) % 4]] {
                let Some(feeds) = case.feeds(sizes, fill, random) else { continue };
                match run(&case.model, &feeds) {
                    Ok(ran) if !is_as_declared(&case.model, &ran, sizes) => {
                        why = "it is not as declared".to_owned();
                    }
                    Ok(ran) => runs.push(Before::new(feeds, sizes, case.is_traced, ran)),
                    Err(refused) => why = format!("{}: {:?}", refused.op, refused.why),
                }
            }
        }
        if runs.is_empty() { Err(why) } else { Ok(runs) }
    }

    fn ways(&self, random: &mut Random) -> Vec<Way> {
        let opset = random.between(*OPSETS.start(), *OPSETS.end());
        let last = if random.once_in(4) {
            Way::Mend { unsafely: random.once_in(2) }
        } else {
            Way::Optimise { exactly: false }
        };
        vec![
            Way::Compute,
            Way::Infer,
            Way::Optimise { exactly: true },
            Way::Convert { opset, optimise: random.once_in(2) },
            last,
        ]
    }

    /// Tests one graph; also returns the models and inputs that show its faults.
    pub fn tried(&self, number: u64) -> (Outcome, Vec<Shown>) {
        let case = match self.counted(number) {
            Ok(case) => case,
            Err(why) => return (Outcome::invalid(why), Vec::new()),
        };
        let mut random = self.random(number ^ (1 << 60));
        let mut runs = match self.runs(&case, &mut random) {
            Ok(runs) => runs,
            Err(why) => return (Outcome::invalid(format!("run {why}")), Vec::new()),
        };
        judge::ask(&case.model, &mut runs);
        let mut outcome = Outcome {
            operators: case.model.nodes.iter().map(|(_, node)| node.op_name()).collect(),
            judged: usize::from(runs.iter().any(|before| before.judged.is_some())),
            ..Outcome::default()
        };
        let mut all = Vec::new();
        for way in self.ways(&mut random) {
            worker::doing(Doing::Ours(format!("{way:?}")));
            match check(&case.model, &runs, &way, self.rules.of(&way)) {
                Ok(Some(report)) => {
                    outcome.converted += usize::from(matches!(way, Way::Convert { .. }));
                    outcome.fired.extend(report.rules.into_keys());
                }
                Ok(None) => outcome.refused += usize::from(matches!(way, Way::Convert { .. })),
                Err(fault) => {
                    let is_ours = !fault.kind.is_about_runtime();
                    let shown = Shown { model: case.model.clone(), runs: runs.clone(), way, fault };
                    outcome.found.push(Found::new(&shown, &self.rules));
                    all.push(shown);
                    if is_ours {
                        break;
                    }
                }
            }
        }
        (outcome, all)
    }

    /// Returns the graph with this number, encoded and decoded again, if our linter finds no error.
    fn counted(&self, number: u64) -> Result<Case, String> {
        let case = self.case(number).ok_or("not drawn")?;
        let model = reread(&case.model).ok_or("not read")?;
        match errors(&model).into_iter().next() {
            Some(error) => Err(format!("lint {}", error.split(':').next().unwrap_or(""))),
            None => Ok(Case { model, ..case }),
        }
    }

    /// Returns a fault of a graph as text, with the reduced graph.
    pub fn shown(&self, number: u64, at: usize) -> String {
        match self.tried(number).1.into_iter().nth(at) {
            Some(shown) => self.described(number, &shown.reduced(&self.rules)),
            None => self.text(number),
        }
    }

    /// Prints one graph and all its faults.
    pub fn show(&self, number: u64) {
        println!("{}", self.text(number));
        let (outcome, all) = self.tried(number);
        println!("invalid: {:?}", outcome.invalid);
        for shown in all {
            println!("{}", self.described(number, &shown.reduced(&self.rules)));
        }
    }

    /// Returns a drawn graph as text.
    pub fn text(&self, number: u64) -> String {
        let text = self.case(number).map(|case| write::text::write(&case.model));
        format!("--- graph {number}:\n{}", text.unwrap_or_default().trim_end())
    }

    fn described(&self, number: u64, shown: &Shown) -> String {
        let (fault, model) = (&shown.fault, &shown.model);
        let cause = shown.cause(&self.rules);
        let mut text =
            format!("--- {:?} by {cause} in {:?}, graph {number}: {}\n", fault.kind, shown.way, fault.what);
        text += write::text::write(model).trim_end();
        let Some(before) = shown.runs.first() else { return text };
        let mut feeds: Vec<_> = before.feeds.iter().collect();
        feeds.sort_by_key(|(name, _)| (*name).clone());
        let inputs = &model.graphs[model.main].inputs;
        let is_used = |name: &str| inputs.iter().any(|port| &*model.values[port.value].name == name);
        for (name, val) in feeds.into_iter().filter(|(name, _)| is_used(name)) {
            let _ = write!(text, "\n    {name} = {val:?}");
        }
        text
    }
}
