//! Makes the batch of graphs dynamic, and compares a run on `N` samples with `N` separate runs.
//! The runs are made in our evaluator and in ONNX Runtime.
//!
//! A child process tests the graphs, since ONNX Runtime crashes on some of them. After a crash, another child process
//! tests the crashed graph without ONNX Runtime, and the parent continues.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Write, stdout};
use std::process::{Command, Stdio};

use onnx_lint::batching::{self, Samples};
use onnx_lint::fix::{FreeDim, Options, fix};
use onnx_lint::graph::{DeclaredDim, ElemType, Model, TypeKind, ValueId};
use onnx_lint::infer::eval::{Array, Val};
use onnx_lint::rules::registry::RuleSet;
use onnx_lint::{infer, write};

use crate::case::{Case, Feeds, SIZES, SYMBOLS, run};
use crate::draft::Draft;
use crate::fill::{self, Fill};
use crate::graph::{self, OPSETS};
use crate::random::Random;
use crate::runtime;
use crate::same::differs;

/// The verdict on a graph.
enum Verdict {
    /// The graph fails on single samples, or `onnx-fix` rejects it for another reason than dynamic axes.
    Invalid,
    Right,
    /// The operators that cannot be made dynamic, each with the reason.
    Refused(Vec<String>),
    Wrong(String),
}

/// A graph with inputs of one sample, and their batch axes.
struct Drawn {
    case: Case,
    axes: Vec<(ValueId, usize)>,
}

fn draw(mut random: Random) -> Option<Drawn> {
    let opset = random.between(*OPSETS.start(), *OPSETS.end()) as u16;
    let count = 1 + random.below(2);
    let nodes = 1 + random.below(7);
    let mut draft = Draft::new(opset, random);
    let mut axes = Vec::new();
    for _ in 0..count {
        let rank = draft.random.of_these([1, 2, 2, 3, 3, 4, 4]);
        let axis = if draft.random.once_in(4) { draft.random.below(rank) } else { 0 };
        let mut shape: Vec<usize> = (0..rank).map(|_| draft.random.of_these([1, 2, 3, 4])).collect();
        shape[axis] = 1;
        let elem =
            draft.random.of_these([ElemType::Float, ElemType::Float, ElemType::Float, ElemType::Int64]);
        let array = fill::array(elem, &shape, &Fill::Any, &mut draft.random)?;
        axes.push((draft.input(array, Fill::Any), axis));
    }
    graph::grow(&mut draft, nodes);
    let is_static = draft.random.once_in(2);
    let mut case = graph::finish(draft);
    pin(&mut case.model, &axes, is_static);
    Some(Drawn { case, axes })
}

/// Declares the batch axes with size 1 and, if `is_static`, all input dimensions as static.
fn pin(model: &mut Model, axes: &[(ValueId, usize)], is_static: bool) {
    let main = model.main;
    for port in &mut model.graphs[main].inputs {
        let kind = port.info.ty.as_mut().map(|ty| &mut ty.kind);
        let Some(TypeKind::Tensor { shape: Some(dims), .. }) = kind else { continue };
        for (axis, dim) in dims.iter_mut().enumerate() {
            if is_static && let DeclaredDim::Param(name) = &dim.dim {
                let at = SYMBOLS.iter().position(|symbol| **symbol == **name).unwrap_or(0);
                dim.dim = DeclaredDim::Value(SIZES[0][at] as i64);
            } else if is_static && dim.dim == DeclaredDim::Absent {
                dim.dim = DeclaredDim::Value(SIZES[0][0] as i64);
            }
            if axes.contains(&(port.value, axis)) {
                dim.dim = DeclaredDim::Value(1);
            }
        }
    }
}

/// Concatenates tensors along an axis.
fn joined(parts: &[&Array], axis: usize) -> Option<Array> {
    let mut shape = parts.first()?.shape().to_vec();
    let outer: usize = shape[..axis].iter().product();
    let inner: usize = shape[axis..].iter().product();
    let rows: Vec<Array> = parts.iter().map(|part| (*part).clone()).collect();
    let all = Array::gathered(rows[0].elem(), &rows.iter().collect::<Vec<_>>()).ok()?;
    shape[axis] *= parts.len();
    let size = outer * inner;
    let order: Vec<usize> = (0..outer)
        .flat_map(|block| {
            (0..parts.len()).flat_map(move |part| (0..inner).map(move |at| part * size + block * inner + at))
        })
        .collect();
    all.take(shape, &order).ok()
}

fn tensors(vals: &[Val]) -> Option<Vec<&Array>> {
    vals.iter().map(|val| if let Val::Tensor(array) = val { Some(&**array) } else { None }).collect()
}

/// Returns the first difference between the outputs of one run on all samples and a run per sample.
fn compare(model: &Model, each: &[Vec<Val>], all: &[Val]) -> Option<String> {
    let facts = infer::infer(model, infer::Options::default());
    let outputs = &model.graphs[model.main].outputs;
    for (at, got) in all.iter().enumerate() {
        let wanted: Vec<Val> = each.iter().map(|outputs| outputs[at].clone()).collect();
        let (Some(parts), Val::Tensor(found)) = (tensors(&wanted), got) else { continue };
        if parts.iter().any(|part| part.shape() != parts[0].shape()) {
            return Some(format!("output {at} has different shapes for different samples"));
        }
        if found.rank() != parts[0].rank() {
            return Some(format!(
                "output {at} has a different rank: {:?} for {:?}",
                found.shape(),
                parts[0].shape()
            ));
        }
        let axis = (0..found.rank()).find(|&axis| found.shape()[axis] != parts[0].shape()[axis]);
        let wanted = match axis {
            None if facts[outputs[at].value].shape().and_then(|shape| shape.dim(0)?.as_const())
                == Some(1)
                && model.producer(outputs[at].value).is_some()
                && !parts[0].is_empty() =>
            {
                return Some(format!("output {at} has one row for all samples: {:?}", found.shape()));
            }
            None => {
                if let Some(other) = wanted.iter().find_map(|one| differs(&wanted[0], one)) {
                    return Some(format!(
                        "output {at} differs between samples, but has no batch axis: {other}"
                    ));
                }
                wanted[0].clone()
            }
            Some(axis) => match joined(&parts, axis) {
                Some(array) => Val::from(array),
                None => return Some(format!("output {at} cannot be concatenated")),
            },
        };
        if let Some(what) = differs(&wanted, got) {
            return Some(format!("output {at}: {what}"));
        }
    }
    None
}

fn feeds(drawn: &Drawn, samples: usize, random: &mut Random) -> Option<(Vec<Feeds>, Feeds)> {
    let case = &drawn.case;
    let shared = case.feeds(0, &Fill::Any, random)?;
    let mut each = Vec::new();
    for _ in 0..samples {
        let own = case.feeds(0, &Fill::Any, random)?;
        let mut feeds = shared.clone();
        for (value, _) in &drawn.axes {
            let name = &case.model.values[*value].name;
            feeds.insert(name.clone(), own.get(name)?.clone());
        }
        each.push(feeds);
    }
    let mut all = shared;
    for (value, axis) in &drawn.axes {
        let name = &case.model.values[*value].name;
        let parts: Vec<Val> = each.iter().map(|feeds| feeds[name].clone()).collect();
        all.insert(name.clone(), Val::from(joined(&tensors(&parts)?, *axis)?));
    }
    Some((each, all))
}

/// Returns the options that make the batch axes of a graph dynamic.
fn options(drawn: &Drawn) -> Options {
    let dynamic = drawn.axes.iter().map(|&(value, axis)| FreeDim {
        input: drawn.case.model.values[value].name.to_string(),
        axis: axis as i64,
        name: "N".to_owned(),
        holds: None,
    });
    Options { dynamic: dynamic.collect(), ..Options::default() }
}

fn tried(seed: u64, number: u64, rules: &RuleSet) -> Verdict {
    let Some(drawn) = draw(Random::of(seed, number)) else { return Verdict::Invalid };
    let model = &drawn.case.model;
    let mut random = Random::of(seed ^ 0x5eed, number);
    let options = options(&drawn);
    let mut runs = Vec::new();
    for samples in [3, 2] {
        let Some((each, all)) = feeds(&drawn, samples, &mut random) else { return Verdict::Invalid };
        let ran: Option<Vec<Vec<Val>>> =
            each.iter().map(|feeds| Some(run(model, feeds).ok()?.outputs)).collect();
        let Some(ran) = ran else { return Verdict::Invalid };
        runs.push((each, all, ran));
    }
    let outcome = fix(model.clone(), &options, rules);
    if let Some(finding) = outcome.findings.first() {
        if &*finding.code != "EXP018" {
            return match &*finding.code {
                // A fault that also occurs without dynamic axes is not a fault of making axes dynamic.
                "FIX002" if !fix(model.clone(), &Options::default(), rules).findings.is_empty() => {
                    Verdict::Invalid
                }
                "FIX002" => Verdict::Wrong(finding.message.clone()),
                _ => Verdict::Invalid,
            };
        }
        let facts = infer::infer(model, infer::Options::default());
        let samples = Samples::new(drawn.axes.clone(), 1);
        let found = batching::plan(model, &facts, &samples).err().unwrap_or_default();
        let named = found.iter().map(|one| {
            let op = one.node.map_or("interface".to_owned(), |node| model.nodes[node].op_name());
            let why = one.why.split('`').step_by(2).collect::<Vec<_>>().join("…");
            format!("{op}: {why}")
        });
        return Verdict::Refused(named.collect());
    }
    for (each, all, ran) in runs {
        match run(&outcome.model, &all) {
            Ok(found) => {
                if let Some(what) = compare(model, &ran, &found.outputs) {
                    return Verdict::Wrong(what);
                }
            }
            Err(why) => return Verdict::Wrong(format!("no longer runs: {why:?}")),
        }
        let Ok(mut before) = runtime::load(model) else { continue };
        let judged: Option<Vec<Vec<Val>>> =
            each.iter().map(|feeds| before.run(feeds).ok()?.into_iter().collect()).collect();
        let Some(judged) = judged else { continue };
        // ONNX Runtime is not a reference if it differs from our evaluator.
        let agrees = ran.iter().flatten().zip(judged.iter().flatten()).all(|(a, b)| differs(a, b).is_none());
        if !agrees {
            continue;
        }
        let mut after = match runtime::load(&outcome.model) {
            Ok(after) => after,
            Err(why) if runtime::is_missing(&why) => continue,
            Err(why) => return Verdict::Wrong(format!("ONNX Runtime rejects it: {why}")),
        };
        // Reads of uninitialized memory and comparisons of NaN differ between runs.
        let mut wrong = None;
        for _ in 0..3 {
            wrong = match after.run(&all) {
                Ok(found) => {
                    let found: Option<Vec<Val>> = found.into_iter().collect();
                    found
                        .and_then(|found| compare(model, &judged, &found))
                        .map(|what| format!("in ONNX Runtime: {what}"))
                }
                Err(why) if runtime::is_missing(&why) => None,
                Err(why) => Some(format!("ONNX Runtime fails: {why}")),
            };
            if wrong.is_none() {
                break;
            }
        }
        if let Some(what) = wrong {
            return Verdict::Wrong(what);
        }
    }
    Verdict::Right
}

/// Tests graphs, and prints a line with the verdict for each.
pub fn serve(seed: u64, first: u64, graphs: u64, is_judged: bool) {
    let rules = RuleSet::patterns();
    runtime::set_asked(is_judged);
    for number in first..first + graphs {
        let line = match tried(seed, number, &rules) {
            Verdict::Invalid => "invalid".to_owned(),
            Verdict::Right => "right".to_owned(),
            Verdict::Refused(why) => format!("refused\t{}", why.join("\t")),
            Verdict::Wrong(what) => format!("wrong\t{}", what.replace(['\n', '\t'], " ")),
        };
        let _ = writeln!(stdout(), "@{number}\t{line}");
        let _ = stdout().flush();
    }
}

/// Prints a graph, and the result of making it dynamic.
pub fn show(seed: u64, number: u64) {
    let Some(drawn) = draw(Random::of(seed, number)) else { return };
    let model = &drawn.case.model;
    println!("{}", write::text::write(model));
    for (value, axis) in &drawn.axes {
        println!("--dynamic {}:{axis}=N", model.values[*value].name);
    }
    let options = options(&drawn);
    let outcome = fix(model.clone(), &options, &RuleSet::patterns());
    outcome.findings.iter().for_each(|finding| println!("{}: {}", finding.code, finding.message));
    println!("{}", write::text::write(&outcome.model));
    match tried(seed, number, &RuleSet::patterns()) {
        Verdict::Invalid => println!("invalid"),
        Verdict::Right => println!("right"),
        Verdict::Refused(why) => println!("refused: {why:?}"),
        Verdict::Wrong(what) => println!("wrong: {what}"),
    }
}

/// Verdicts on many graphs.
#[derive(Default)]
struct Tally {
    counts: BTreeMap<String, u64>,
    refused: BTreeMap<String, u64>,
    wrong: Vec<(u64, String)>,
}

impl Tally {
    /// Counts the verdict in a line of a child process; returns the number of the graph.
    fn add(&mut self, line: &str) -> Option<u64> {
        let mut fields = line.strip_prefix('@')?.split('\t');
        let number = fields.next()?.parse().ok()?;
        let verdict = fields.next()?;
        *self.counts.entry(verdict.to_owned()).or_default() += 1;
        for field in fields {
            match verdict {
                "wrong" => self.wrong.push((number, field.to_owned())),
                _ => *self.refused.entry(field.to_owned()).or_default() += 1,
            }
        }
        Some(number)
    }
}

/// Tests graphs in child processes. Returns true if no verdict is wrong.
pub fn run_all(seed: u64, first: u64, graphs: u64) -> std::io::Result<bool> {
    let mut tally = Tally::default();
    let (mut next, end) = (first, first + graphs);
    let mut is_judged = true;
    while next < end {
        // A graph on which ONNX Runtime crashed is tested without ONNX Runtime, in its own process.
        let count = if is_judged { end - next } else { 1 };
        let mut child = Command::new(std::env::current_exe()?)
            .args(["--batched-worker", "--seed", &seed.to_string(), "--first", &next.to_string()])
            .args(["--graphs", &count.to_string()])
            .args(if is_judged { &[][..] } else { &["--alone"][..] })
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()?;
        let from = next;
        if let Some(out) = child.stdout.take() {
            for line in BufReader::new(out).lines().map_while(Result::ok) {
                if let Some(number) = tally.add(&line) {
                    next = number + 1;
                }
            }
        }
        let ended = child.wait()?.success();
        if !ended && !is_judged && next == from {
            tally.wrong.push((next, "the process ends".to_owned()));
            next += 1;
        }
        is_judged = ended || next != from && !is_judged;
    }
    println!("batches made dynamic: {:?}", tally.counts);
    let mut refused: Vec<(&String, &u64)> = tally.refused.iter().collect();
    refused.sort_by_key(|(_, count)| std::cmp::Reverse(**count));
    let most = if std::env::args().any(|argument| argument == "--refusals") { usize::MAX } else { 10 };
    refused.iter().take(most).for_each(|(what, count)| println!("  refused {count:6} {what}"));
    tally.wrong.iter().take(40).for_each(|(number, what)| println!("  wrong {number}: {what}"));
    Ok(tally.wrong.is_empty())
}
