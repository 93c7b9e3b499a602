//! Many graphs, one after the other: what was drawn, what of it counts, and what was found.

use std::collections::BTreeMap;
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::ExitCode;

use onnx_lint::write;
use rayon::prelude::*;

use crate::case::{Case, SIZES, is_as_declared, run};
use crate::check::{Before, Kind, Rules, Way, check, errors, reread};
use crate::fill::Fill;
use crate::graph::{self, OPSETS};
use crate::judge;
use crate::near;
use crate::random::Random;
use crate::reduce::Shown;

pub struct Session {
    seed: u64,
    rules: Rules,
    examples: Vec<near::Example>,
}

/// Whether a fault is one that is known, and not mended yet; or a difference to ONNX Runtime that stays.
fn is_open(kind: &str, cause: &str) -> bool {
    let mut page = include_str!("DIFFERENCES.md").lines().filter_map(|line| line.strip_prefix("| "));
    if kind == "Differs" && page.any(|line| line.split(" |").next() == Some(cause)) {
        return true;
    }
    let lines = include_str!("open.tsv").lines().filter(|line| !line.starts_with('#'));
    lines.map(|line| line.split('\t')).any(|mut line| line.next() == Some(kind) && line.next() == Some(cause))
}

/// What came of one graph.
#[derive(Default)]
struct Outcome {
    /// Why it does not count, if it does not.
    invalid: Option<String>,
    is_near: bool,
    operators: Vec<String>,
    fired: Vec<String>,
    converted: usize,
    refused: usize,
    /// ONNX Runtime was asked.
    judged: usize,
    shown: Vec<(String, Shown)>,
}

impl Session {
    pub fn new(seed: u64) -> Self {
        Session { seed, rules: Rules::new(), examples: near::examples() }
    }

    fn random(&self, number: u64) -> Random {
        Random::of(self.seed, number)
    }

    /// The graph of this number.
    fn case(&self, number: u64) -> Option<Case> {
        let random = self.random(number);
        match number % 2 {
            0 => Some(graph::draw(random)),
            _ => near::draw(&self.examples, random),
        }
    }

    /// The runs of a model, at sizes and on numbers that it takes; why there are none.
    fn runs(&self, case: &Case, random: &mut Random) -> Result<Vec<Before>, String> {
        const FILLS: [Fill; 4] = [Fill::Any, Fill::Positive, Fill::Extreme, Fill::UpTo(2)];
        let mut runs: Vec<Before> = Vec::new();
        let mut why = "no inputs".to_owned();
        for sizes in 0..SIZES.len() {
            for fill in [&FILLS[sizes % 4], &FILLS[(sizes + 1) % 4]] {
                let Some(feeds) = case.feeds(sizes, fill, random) else { continue };
                match run(&case.model, &feeds) {
                    Ok(ran) if !is_as_declared(&case.model, &ran.outputs, sizes) => {
                        why = "its outputs are not as declared".to_owned();
                    }
                    Ok(ran) => runs.push(Before::new(feeds, sizes, ran)),
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

    fn outcome(&self, number: u64) -> Outcome {
        let mut outcome = Outcome { is_near: number % 2 == 1, ..Outcome::default() };
        let Some(case) = self.case(number) else {
            outcome.invalid = Some("not drawn".to_owned());
            return outcome;
        };
        let Some(model) = reread(&case.model) else {
            outcome.invalid = Some("not read".to_owned());
            return outcome;
        };
        let case = Case { model, fills: case.fills };
        if let Some(error) = errors(&case.model).into_iter().next() {
            outcome.invalid = Some(format!("lint {}", error.split(':').next().unwrap_or("")));
            return outcome;
        }
        let mut random = self.random(number ^ (1 << 60));
        let mut runs = match self.runs(&case, &mut random) {
            Ok(runs) => runs,
            Err(why) => {
                outcome.invalid = Some(format!("run {why}"));
                return outcome;
            }
        };
        outcome.operators = case.model.nodes.iter().map(|(_, node)| node.op_name()).collect();
        judge::ask(&case.model, &mut runs);
        outcome.judged = usize::from(runs.iter().any(|before| before.judged.is_some()));
        for way in self.ways(&mut random) {
            match check(&case.model, &runs, &way, self.rules.of(&way)) {
                Ok(Some(report)) => {
                    outcome.converted += usize::from(matches!(way, Way::Convert { .. }));
                    outcome.fired.extend(report.rules.into_keys());
                }
                Ok(None) => outcome.refused += usize::from(matches!(way, Way::Convert { .. })),
                Err(fault) => {
                    let is_ours = fault.kind != Kind::Differs;
                    let shown = Shown { model: case.model.clone(), runs: runs.clone(), way, fault };
                    outcome.shown.push((shown.cause(&self.rules), shown));
                    if is_ours {
                        break;
                    }
                }
            }
        }
        outcome
    }

    /// Prints one graph.
    pub fn show(&self, number: u64) -> ExitCode {
        if let Some(case) = self.case(number) {
            println!("{}", write::text::write(&case.model));
            println!("{:?}", errors(&case.model));
        }
        let outcome = self.outcome(number);
        println!("invalid: {:?}", outcome.invalid);
        for (_, shown) in outcome.shown {
            let shown = shown.reduced(&self.rules);
            print_shown(number, &shown.cause(&self.rules), &shown);
        }
        ExitCode::SUCCESS
    }

    pub fn run(&self, numbers: Range<u64>) -> ExitCode {
        std::panic::set_hook(Box::new(|_| {}));
        let count = numbers.end - numbers.start;
        let guarded = |number: u64| {
            let outcome = catch_unwind(AssertUnwindSafe(|| self.outcome(number)));
            outcome.unwrap_or_else(|panic| {
                let text = panic.downcast_ref::<String>().cloned();
                let text = text.or_else(|| panic.downcast_ref::<&str>().map(|text| (*text).to_owned()));
                Outcome { invalid: Some(format!("PANIC at {number}: {text:?}")), ..Outcome::default() }
            })
        };
        let outcomes: Vec<(u64, Outcome)> =
            numbers.into_par_iter().map(|number| (number, guarded(number))).collect();
        let mut invalid: BTreeMap<(bool, String), usize> = BTreeMap::new();
        let mut operators: BTreeMap<String, usize> = BTreeMap::new();
        let mut fired: BTreeMap<String, usize> = BTreeMap::new();
        let mut causes: BTreeMap<(String, String), Vec<(u64, Shown)>> = BTreeMap::new();
        let (mut converted, mut refused, mut judged, mut valid, mut near) = (0, 0, 0, 0, (0, 0));
        for (number, outcome) in outcomes {
            near.1 += usize::from(outcome.is_near);
            if let Some(why) = outcome.invalid {
                *invalid.entry((outcome.is_near, why)).or_default() += 1;
                continue;
            }
            near.0 += usize::from(outcome.is_near);
            valid += 1;
            converted += outcome.converted;
            refused += outcome.refused;
            judged += outcome.judged;
            for op in outcome.operators {
                *operators.entry(op).or_default() += 1;
            }
            for code in outcome.fired {
                *fired.entry(code).or_default() += 1;
            }
            for (blamed, shown) in outcome.shown {
                let key = (format!("{:?}", shown.fault.kind), blamed);
                causes.entry(key).or_default().push((number, shown));
            }
        }
        println!("## Not counted");
        let mut invalid: Vec<_> = invalid.into_iter().collect();
        invalid.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
        for ((is_near, why), count) in invalid.iter().take(40) {
            println!("{count:6} {} {why}", if *is_near { "near" } else { "free" });
        }
        println!("## Operators reached: {}", operators.len());
        for (op, count) in &operators {
            print!("{op} {count}  ");
        }
        println!("\n## Rules fired: {}", fired.len());
        println!("## Faults");
        let mut causes: Vec<_> = causes.into_iter().collect();
        causes.sort_by_key(|(_, shown)| std::cmp::Reverse(shown.len()));
        let mut total = 0;
        let (mut faults, mut is_known) = (causes.len(), 0);
        for ((kind, cause), shown) in causes {
            if is_open(&kind, &cause) {
                println!("### {} times, known: {kind} by {cause}", shown.len());
                (faults, is_known) = (faults - 1, is_known + shown.len());
                continue;
            }
            total += shown.len();
            println!("### {} times", shown.len());
            let smallest = shown.into_iter().min_by_key(|(_, shown)| shown.model.nodes.len());
            if let Some((number, smallest)) = smallest {
                let smallest = smallest.reduced(&self.rules);
                print_shown(number, &smallest.cause(&self.rules), &smallest);
            }
        }
        println!(
            "{count} graphs, {valid} valid (near {}/{}), {judged} judged, {converted} converted, {refused} refused, {total} faults of {} causes, {is_known} known ones",
            near.0, near.1, faults
        );
        if total == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
    }
}

fn print_shown(number: u64, blamed: &str, shown: &Shown) {
    println!(
        "--- {:?} by {blamed} in {:?}, graph {number}: {}",
        shown.fault.kind, shown.way, shown.fault.what
    );
    println!("{}", write::text::write(&shown.model).trim_end());
    if let Some(before) = shown.runs.first() {
        let mut feeds: Vec<_> = before.feeds.iter().collect();
        feeds.sort_by_key(|(name, _)| (*name).clone());
        let used: Vec<_> = shown.model.graphs[shown.model.main]
            .inputs
            .iter()
            .map(|port| shown.model.values[port.value].name.clone())
            .collect();
        for (name, val) in feeds.into_iter().filter(|(name, _)| used.contains(name)) {
            println!("    {name} = {val:?}");
        }
    }
}
