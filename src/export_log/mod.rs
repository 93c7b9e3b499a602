//! What the export printed: warnings and exceptions, traced back to the user's own lines.
//!
//! A log is any text; what is not recognised is passed over. TorchScript graphs in it are read by the
//! TorchScript reader; here they only tell which line an operator came from.

mod cause;
mod code;
mod constants;
mod failure;
mod failures;
mod finding;
mod nodes;
mod remark;
mod suspects;
#[cfg(test)]
mod tests;
mod text;
mod violation;
mod warning;

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

pub use remark::{Input, Kind, PythonType, Remark};

/// Finds what an export log says of the model, as findings at the user's own lines.
///
/// `name` is the path of the log, near which sources are looked for; it may be any. Time is linear in the
/// length of `text`. Nothing of what is said twice is repeated.
pub fn read(text: &str, name: &str, sources: &SourceFiles) -> Vec<Finding> {
    remarks(text, name, sources).iter().filter_map(finding::finding).collect()
}

/// The same as structured remarks, to be matched to the nodes that came from those lines. Remarks that
/// are harmless by themselves, and make no finding, are among them.
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
    let mut said: IndexMap<Fault, Remark> = IndexMap::new();
    let chains = failure::chains(&plain, &lines);
    for remark in
        log.warnings(&chains).into_iter().chain(chains.iter().filter_map(|chain| log.failure(chain)))
    {
        let place = remark.place.as_ref().map(|place| (place.file.clone(), place.line));
        said.entry((remark.kind.clone(), place)).and_modify(|first| first.count += 1).or_insert(remark);
    }
    let mut said: Vec<Remark> = said.into_values().collect();
    // The exception that follows such a line names the operator.
    let nameless = |kind: &Kind| matches!(kind, Kind::Unsupported { operator, .. } if operator.is_empty());
    if said.iter().any(|remark| matches!(remark.kind, Kind::Unsupported { .. }) && !nameless(&remark.kind)) {
        said.retain(|remark| !nameless(&remark.kind));
    }
    said.sort_by_key(|remark| remark.log_line);
    said
}

/// Guards before an exception that are looked at.
const MAX_GUARDS: usize = 1000;

/// What makes two remarks one: the same kind at the same line of a file.
type Fault = (Kind, Option<(Arc<str>, u32)>);

/// A log, and what is needed to find the lines that it speaks of.
struct Log<'a> {
    lines: &'a [&'a str],
    nodes: &'a [Node<'a>],
    guards: Vec<Guard<'a>>,
    /// For each graph, the node that changes a size in place: looked for once.
    written: RefCell<FxHashMap<usize, Option<Node<'a>>>>,
    sources: &'a SourceFiles,
    suspects: Suspects<'a>,
}

impl Log<'_> {
    /// The warnings, except for those that an exception's message repeats.
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

    /// The line a warning blames. Python prints its code beneath.
    fn warned_place(&self, warning: &warning::Warning, at: usize) -> Option<SourcePlace> {
        if let Some((file, line)) = warning.location {
            let below = self.lines.get(at + 1).filter(|line| line.starts_with([' ', '\t']));
            let code =
                below.filter(|line| !line.trim_start().starts_with(['%', '#'])).map(|line| line.trim());
            return (!is_library(file)).then(|| self.sources.place(file, line, 0, None, code));
        }
        match warning.kind {
            // PyTorch warns while it converts; the graph is printed when that is done.
            Kind::ShapeWrite => self.node_place(self.shape_write(at)),
            _ => None,
        }
    }

    fn failure(&self, chain: &Chain) -> Option<Remark> {
        let known = chain.iter().find_map(|f| Some((f, cause::cause(f.class, f.message)?)));
        let (failure, kind) = match known {
            Some(known) => known,
            // An exception that stands alone and says nothing of ours may be anything.
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
        let others = violation::others(failure.message).into_iter().map(|other| format!("besides, {other}"));
        let fixes = violation::suggested(failure.message);
        let suggested = fixes.into_iter().map(|fix| format!("the exporter suggests `{fix}`"));
        let details = others.chain(suggested).collect();
        Some(Remark { certain, details, ..self.remark(kind, place, failure.log_line) })
    }

    /// The node that could not be converted: the last one of its operator in the graph that was printed
    /// last before the exception.
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

    /// The line at which torch.export says that it fixed a size, in what `TORCH_LOGS=+dynamic` prints.
    fn guarded(&self, kind: &Kind, before: usize) -> Option<SourcePlace> {
        let Kind::Specialized { size: Some(size), .. } = kind else { return None };
        let end = self.guards.partition_point(|guard| guard.log_line < before);
        let recent = self.guards[..end].iter().rev().take(MAX_GUARDS);
        let guard = recent.into_iter().find(|guard| guard.size == *size)?;
        Some(self.sources.place(guard.location.0, guard.location.1, 0, None, None))
    }

    /// The node that changes a size in place, in the graph that is printed next after a line.
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

/// What is said of an exception that has no rule of its own.
fn stopped(failure: &Failure) -> Kind {
    let message = failure.message.lines().next().unwrap_or("").trim();
    Kind::Failed { class: failure.class.to_owned(), message: message.to_owned() }
}
