//! Messages about branches, loops and in-place writes.

use tree_sitter::Node;

use crate::diag::rule_ids;
use crate::diag::{Applicability, Finding, Level};

use super::super::syntax::{bare, children, field, on_one_line, one_line, text};
use super::super::value::Origin;
use super::rewrite::{Help, Piece};
use super::{Decision, Steps, Words, by_origin};

pub fn traced_branch(
    statement: Node,
    condition: Node,
    decision: Decision,
    origin: Origin,
    source: &str,
) -> Words {
    let shown = one_line(condition, source);
    let (message, level, help): (String, Level, Help) = match decision {
        Decision::Assert => (
            format!("`assert {shown}` is checked only for the example input"),
            Level::Info,
            "the graph does not check it; `torch._assert(condition, message)` is recorded by torch.export".into(),
        ),
        Decision::Guard => (
            format!("`{shown}` is checked only for the example input"),
            Level::Info,
            "the graph does not check it; validate inputs outside of `forward`".into(),
        ),
        Decision::While => (
            format!("`while {shown}` runs as often as for the example input"),
            Level::Warning,
            "write it for the whole tensor at once, or with `torch.while_loop` and `dynamo=True`".into(),
        ),
        Decision::If => (
            format!("`{shown}` is decided while tracing: only the way the example input takes is exported"),
            Level::Warning,
            format!(
                "compute both branches and select: `torch.where({shown}, a, b)`; or `torch.cond({shown}, true_fn, \
                 false_fn, operands)` with `dynamo=True`"
            )
            .into(),
        ),
        Decision::Conditional => (
            format!("`{shown}` is decided while tracing: only the way the example input takes is exported"),
            Level::Warning,
            conditional_help(statement, condition, source),
        ),
        Decision::Operator => (
            format!("`{shown}` converts a tensor to a boolean: the result is fixed to that of the example input"),
            Level::Warning,
            "keep it a tensor: `torch.logical_and`, `torch.logical_or`, `torch.logical_not`, `torch.maximum`, \
             `torch.isin`"
                .into(),
        ),
    };
    Words {
        rule: rule_ids::TRACED_BRANCH,
        level: level.min(by_origin(origin, Level::Warning)),
        message,
        note: "tracing records tensor operations, not Python control flow; torch.export rejects data-dependent branches",
        help,
    }
}

/// Note for a branch on a size, which both exporters fix to the traced branch.
const OF_SIZE: &str = "where the axis is dynamic, sizes that would take the other way get this one";

/// Returns true if a finding is about a branch on a size.
pub fn is_size_branch(finding: &Finding) -> bool {
    *finding.code == *rule_ids::TRACED_BRANCH.code && finding.notes.iter().any(|note| note == OF_SIZE)
}

/// Reports `min(x.shape[1], 8)`, which torch.export keeps symbolic.
pub fn lesser_size(call: Node, source: &str) -> Words {
    let note = "where the axis is dynamic, sizes for which the other is the right one get this one";
    Words { note, ..size_branch(call, source) }
}

/// Reports a branch on a size, which is correct if all intended inputs take the same branch.
pub fn size_branch(condition: Node, source: &str) -> Words {
    let shown = one_line(condition, source);
    Words {
        rule: rule_ids::TRACED_BRANCH,
        level: Level::Info,
        message: format!("`{shown}` is decided by the size of the example input: only that way is exported"),
        note: OF_SIZE,
        help: "export for sizes that all take the same way, or write it so that no decision is needed: padding by \
               `-n % k`, slices, which stop at the end of the axis by themselves"
            .into(),
    }
}

/// `a if c else b` → `torch.where(c, a, b)`
fn conditional_help(node: Node, condition: Node, source: &str) -> Help {
    let whole = |node| text(node, source);
    match children(node)[..] {
        [then, asked, other] if node.kind() == "conditional_expression" && bare(asked) == bare(condition) => {
            let by = format!("torch.where({}, {}, {})", whole(bare(asked)), whole(then), whole(other));
            let piece = Piece::instead(node, &by, Applicability::Unsafe, source);
            Help::new(format!("write `{}`", on_one_line(&by)), piece)
        }
        _ => format!("choose by a mask: `torch.where({}, a, b)`", one_line(condition, source)).into(),
    }
}

/// Renders the head of a loop, or the call that iterates over all elements, on one line.
fn loop_head(node: Node, source: &str) -> String {
    let clause = children(node).into_iter().find(|child| child.kind() == "for_in_clause").unwrap_or(node);
    let part = |name| field(clause, name).map_or(String::new(), |part| one_line(part, source));
    match clause.kind() {
        "for_in_clause" | "for_statement" => format!("for {} in {}", part("left"), part("right")),
        "while_statement" => format!("while {}", part("condition")),
        _ => one_line(node, source),
    }
}

pub fn unrolled(node: Node, iterable: Node, steps: Steps, source: &str) -> Words {
    let shown = one_line(iterable, source);
    let (counted, level) = match steps {
        Steps::Size => ("a size of the input", Level::Warning),
        Steps::Value => ("the value of a tensor", Level::Warning),
        Steps::Taken => ("the value of a tensor", Level::Info),
        Steps::Rows => ("the rows of a tensor", Level::Warning),
        Steps::Pieces => ("the pieces of a tensor", Level::Info),
    };
    let code = loop_head(node, source);
    Words {
        rule: rule_ids::UNROLLED_LOOP,
        level,
        message: format!(
            "`{code}` is unrolled: the graph has one copy of its body for each step of the example input"
        ),
        note: "a Python loop leaves no loop in the graph; with more steps the rest is left out, with fewer it fails",
        help: format!(
            "`{shown}` counts {counted}: do it for the whole axis at once, or by a layer that exports as one operator \
             (`nn.GRU`, `torch.cumsum`), or by `torch.scan` with `dynamo=True`"
        ).into(),
    }
}

/// Reports `n += 2`, which also changes `other`, read at line `read`.
pub fn shape_alias(statement: Node, other: &str, read: u32, source: &str) -> Words {
    let code = one_line(statement, source);
    Words {
        rule: rule_ids::IN_PLACE_SHAPE_ALIAS,
        level: Level::Error,
        message: format!("`{code}` changes `{other}` too while tracing; it is read in line {read}"),
        note: "the tracer makes sizes tensors, which an augmented assignment changes in place; in plain Python, and \
               with torch.export, integers are not shared",
        help: match Piece::apart(statement, source) {
            Some(piece) => Help::new(format!("write `{}`", on_one_line(piece.text())), Some(piece)),
            None => "make a new value of it: `m = n + 2` instead of `n += 2`".into(),
        },
    }
}

pub fn view_lost(code: &str, operator: &str, other: &str, read: u32, perhaps: bool) -> Words {
    Words {
        rule: rule_ids::IN_PLACE_VIEW_LOST,
        level: if perhaps { Level::Warning } else { Level::Error },
        message: format!(
            "`{code}` writes to memory that `{other}` shares; the traced graph reads `{other}` in line \
            {read} without the change"
        ),
        note: "a traced graph has values, not memory: only the tensor that was written through sees the write; \
               torch.export follows it",
        help: format!(
            "assign the result instead of writing in place ({}), and build `{other}` from it",
            match operator.strip_suffix('_') {
                Some(name) if !name.is_empty() => format!("`.{name}(…)` for `.{operator}(…)`"),
                _ => "`torch.where`, `torch.cat`, or an index on the whole tensor".to_owned(),
            }
        )
        .into(),
    }
}
