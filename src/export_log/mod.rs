//! Reader of export logs: warnings and exceptions, attributed to lines of the user's code.
//!
//! A log is any text; unrecognized lines are skipped. TorchScript graphs in a log are used only to find the
//! source lines of operators. The TorchScript reader parses the graphs themselves.

mod cause;
mod code;
mod constants;
mod failure;
mod failures;
mod finding;
mod nodes;
mod rejected;
mod remark;
mod report;
mod suspects;
#[cfg(test)]
mod tests;
mod text;
mod violation;
mod warning;
mod words;

use std::cell::RefCell;
use std::sync::Arc;

use indexmap::IndexMap;
use rustc_hash::FxHashMap;

use crate::diag::{Finding, SourcePlace};
use crate::source::{Frame, SourceFiles, is_library};

use failure::{Chain, Failure};
use nodes::Node;
use suspects::Suspects;
use warning::Guard;

pub use code::branches_on_elements;
pub use remark::{Input, Kind, PythonType, Remark};

/// Returns findings for the faults that an export log reports, at lines of the user's code.
///
/// `name` is the path of the log; its directory, and the parent of this directory, are also searched for the
/// script that ran the export. Duplicates are merged.
pub fn read(text: &str, name: &str, sources: &SourceFiles) -> Vec<Finding> {
    remarks(text, name, sources).iter().filter_map(finding::finding).collect()
}

/// Returns the remarks of an export log, to match them with nodes that came from the same lines.
///
/// The result includes harmless remarks, for which [`read`] returns no finding.
pub fn remarks(text: &str, name: &str, sources: &SourceFiles) -> Vec<Remark> {
    let plain = text::plain(text);
    let mut lines: Vec<&str> = Vec::with_capacity(plain.bytes().filter(|&byte| byte == b'\n').count() + 1);
    lines.extend(plain.lines());
    let nodes = nodes::nodes(&lines);
    let suspects = Suspects::new(name, sources);
    let filled = lines.iter().enumerate().filter(|(_, line)| !line.is_empty());
    let guards = filled.filter_map(|(at, line)| warning::guard(line, at)).collect();
    let written = RefCell::default();
    let log = Log { lines: &lines, nodes: &nodes, guards, written, sources, suspects };
    let mut merged: IndexMap<Fault, Remark> = IndexMap::new();
    let chains = failure::chains(&plain, &lines);
    let failures = chains.iter().filter_map(|chain| log.failure(chain));
    for remark in log.warnings(&chains).into_iter().chain(log.rejections()).chain(failures) {
        let place = remark.place.as_ref().map(|place| (place.file.clone(), place.line));
        merged.entry((remark.kind.clone(), place)).and_modify(|first| first.count += 1).or_insert(remark);
    }
    let mut merged: Vec<Remark> = merged.into_values().collect();
    // Drop remarks about an unnamed unsupported operator if another remark names one.
    let nameless = |kind: &Kind| matches!(kind, Kind::Unsupported { operator, .. } if operator.is_empty());
    if merged.iter().any(|remark| matches!(remark.kind, Kind::Unsupported { .. }) && !nameless(&remark.kind))
    {
        merged.retain(|remark| !nameless(&remark.kind));
    }
    merged.sort_by_key(|remark| remark.log_line);
    merged
}

/// Maximum number of guards to search before an exception.
const MAX_GUARDS: usize = 1000;

/// Key that identifies duplicates: the kind, and the line of a file.
type Fault = (Kind, Option<(Arc<str>, u32)>);

/// A log, with the data that attributes its remarks to source lines.
struct Log<'a> {
    lines: &'a [&'a str],
    nodes: &'a [Node<'a>],
    guards: Vec<Guard<'a>>,
    /// For each graph, the cached node that changes a size in place.
    written: RefCell<FxHashMap<usize, Option<Node<'a>>>>,
    sources: &'a SourceFiles,
    suspects: Suspects<'a>,
}

impl Log<'_> {
    /// Returns the warnings, except for those in the traceback or the message of an exception.
    fn warnings(&self, chains: &[Chain]) -> Vec<Remark> {
        let mut within = chains.iter().flatten().map(|failure| &failure.lines).peekable();
        let mut remarks = Vec::new();
        for (at, line) in self.lines.iter().enumerate() {
            while within.next_if(|lines| lines.end <= at).is_some() {}
            if within.peek().is_some_and(|lines| lines.contains(&at)) {
                continue;
            }
            if line.is_empty() {
                continue;
            }
            if let Some(warning) = warning::warning(line) {
                let place = self.warned_place(&warning, at);
                let in_library = warning.location.is_some() && place.is_none();
                remarks.push(Remark { in_library, ..self.remark(warning.kind, place, at) });
            }
        }
        remarks
    }

    /// Returns the source location of a warning. Python prints the line of code below the warning.
    fn warned_place(&self, warning: &warning::Warning, at: usize) -> Option<SourcePlace> {
        if let Some((file, line)) = warning.location {
            let below = self.lines.get(at + 1).filter(|line| line.starts_with([' ', '\t']));
            let code =
                below.filter(|line| !line.trim_start().starts_with(['%', '#'])).map(|line| line.trim());
            return (!is_library(file)).then(|| self.sources.place(file, line, 0, None, code));
        }
        match warning.kind {
            // PyTorch warns during the conversion, and prints the graph after it.
            Kind::ShapeWrite => self.node_place(self.shape_write(at)),
            _ => None,
        }
    }

    /// Returns the nodes that TensorRT rejects.
    fn rejections(&self) -> Vec<Remark> {
        let found = (0..self.lines.len()).filter_map(|at| {
            let kind = Kind::Rejected(rejected::by_tensorrt(self.lines, at)?);
            Some(self.remark(kind, None, at))
        });
        found.collect()
    }

    /// Returns the failed conversion to another opset that an exception of the converter reports.
    ///
    /// The exporter logs the failure, and then writes the model with the opset of its own implementations.
    fn unconverted(&self, failure: &Failure) -> Option<Kind> {
        const MAX_LINES: usize = 8;
        let before = &self.lines[..failure.lines.start];
        let number = |line: &&str, mark: &str| words::after(line, mark).and_then(words::number);
        let recent = before.iter().rev().take(MAX_LINES);
        let announced = recent.clone().any(|line| line.contains("Failed to convert the model to the target"));
        let requested = recent.into_iter().find_map(|line| number(line, "the target version "));
        if !announced {
            return None;
        }
        let kept = before.iter().rev().find_map(|line| number(line, "exported model will be kept at "));
        let message = failure.message.rsplit(" failed: ").next().unwrap_or("");
        let message = message.lines().next().unwrap_or("").trim().to_owned();
        Some(Kind::NotConverted { requested, kept, message })
    }

    fn failure(&self, chain: &Chain) -> Option<Remark> {
        let in_log = chain.iter().find_map(|failure| {
            let rejected = rejected::by_onnx_runtime(failure.message).map(Kind::Rejected);
            let kind = rejected.or_else(|| self.unconverted(failure))?;
            Some(self.remark(kind, None, failure.log_line))
        });
        if in_log.is_some() {
            return in_log;
        }
        let known = chain.iter().find_map(|f| Some((f, cause::cause(f.class, f.message)?)));
        let (failure, kind) = match known {
            Some(known) => known,
            // An unknown exception without a traceback may not concern the export.
            None => chain.iter().find(|failure| !failure.stack.is_empty()).map(|f| (f, stopped(f)))?,
        };
        let frames = std::iter::once(failure).chain(chain.iter());
        let frame = frames.filter_map(Failure::model_frame).next();
        let place = frame.map(|frame| self.sources.frame_place(&frame));
        let place = place.or_else(|| self.node_place(self.converted(&kind, failure.log_line)));
        let place = place.or_else(|| self.guarded(&kind, failure.log_line));
        let certain = place.is_some();
        let callers = || chain.iter().flat_map(Failure::callers).collect::<Vec<Frame>>();
        let place = place.or_else(|| self.suspects.find(&kind, &callers()));
        let others = violation::others(failure.message).into_iter().map(|other| format!("also: {other}"));
        let fixes = violation::suggested(failure.message);
        let suggested = fixes.into_iter().map(|fix| format!("the exporter suggests `{fix}`"));
        let details = others.chain(suggested).collect();
        Some(Remark { certain, details, ..self.remark(kind, place, failure.log_line) })
    }

    /// Returns the node that could not be converted.
    ///
    /// The last node of the operator in the last graph before the exception is assumed to have failed.
    fn converted(&self, kind: &Kind, before: usize) -> Option<Node<'_>> {
        let operator = match kind {
            Kind::Unsupported { operator, .. } => operator.as_str(),
            Kind::IndexPutNonConsecutive => "aten::index_put",
            Kind::PythonOperator { name } => name,
            _ => return None,
        };
        let end = self.nodes.partition_point(|node| node.log_line < before);
        let same = |node: &&Node| {
            node.operator.trim_end_matches('_') == operator.trim_end_matches('_') || node.name() == operator
        };
        let graph = self.nodes[..end].last()?.graph;
        self.nodes[..end].iter().rev().take_while(|node| node.graph == graph).find(same).copied()
    }

    /// Returns the line at which torch.export specialized a size, as printed by `TORCH_LOGS=+dynamic`.
    fn guarded(&self, kind: &Kind, before: usize) -> Option<SourcePlace> {
        let Kind::Specialized { size: Some(size), .. } = kind else { return None };
        let end = self.guards.partition_point(|guard| guard.log_line < before);
        let recent = self.guards[..end].iter().rev().take(MAX_GUARDS);
        let guard = recent.into_iter().find(|guard| guard.size == *size)?;
        Some(self.sources.place(guard.location.0, guard.location.1, 0, None, None))
    }

    /// Returns the node that changes a size in place, in the first graph after a line.
    fn shape_write(&self, line: usize) -> Option<Node<'_>> {
        let start = self.nodes.partition_point(|node| node.log_line < line);
        let graph = self.nodes.get(start)?.graph;
        let length = self.nodes[start..].partition_point(|node| node.graph == graph);
        let find = || nodes::shape_write(&self.nodes[start..start + length]);
        *self.written.borrow_mut().entry(graph).or_insert_with(find)
    }

    fn node_place(&self, node: Option<Node>) -> Option<SourcePlace> {
        let (file, line) = node?.location;
        (!is_library(file)).then(|| self.sources.place(file, line, 0, None, None))
    }

    fn remark(&self, kind: Kind, place: Option<SourcePlace>, at: usize) -> Remark {
        let log_line = u32::try_from(at + 1).unwrap_or(u32::MAX);
        Remark {
            kind,
            place,
            log_line,
            log_text: Arc::from(self.lines[at]),
            in_library: false,
            certain: true,
            count: 1,
            details: Vec::new(),
        }
    }
}

/// Returns the kind of an exception whose message is not recognized.
fn stopped(failure: &Failure) -> Kind {
    let message = failure.message.lines().next().unwrap_or("").trim();
    Kind::Failed { class: failure.class.to_owned(), message: message.to_owned() }
}
