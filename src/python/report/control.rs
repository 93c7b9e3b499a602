//! Messages about branches, loops and in-place writes.

use tree_sitter::Node;

use crate::diag::rule_ids;
use crate::diag::{Applicability, Finding, Level};

use super::super::syntax::{bare, children, field, on_one_line, one_line, text};
use super::super::value::Origin;
use super::rewrite::{Help, Piece};
use super::{Decision, Steps, Words, by_origin};

/// Returns the finding about a branch on a tensor.
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
            format!("`assert {shown}` {CHECKED}"),
            Level::Info,
            "use `torch._assert(condition, message)`, which torch.export records".into(),
        ),
        Decision::Guard => (
            format!("`{shown}` {CHECKED}"),
            Level::Info,
            "validate inputs outside of `forward`: the graph does not check them".into(),
        ),
        Decision::While => (
            format!("`while {shown}` is unrolled: its iteration count is that of the example input"),
            Level::Warning,
            "compute the whole tensor at once, or use `torch.while_loop` with `dynamo=True`".into(),
        ),
        Decision::If => (
            format!("`{shown}` is evaluated while tracing: only the branch of the example input is exported"),
            Level::Warning,
            format!(
                "compute both branches and select with `torch.where({shown}, a, b)`, or use `torch.cond({shown}, \
                 true_fn, false_fn, operands)` with `dynamo=True`"
            )
            .into(),
        ),
        Decision::Conditional => (
            format!("`{shown}` is evaluated while tracing: only the branch of the example input is exported"),
            Level::Warning,
            conditional_help(statement, condition, source),
        ),
        Decision::Operator => (
            format!("`{shown}` converts a tensor to a boolean: the result is fixed to that of the example input"),
            Level::Warning,
            "keep it a tensor: use `torch.logical_and`, `torch.logical_or`, `torch.logical_not`, `torch.maximum` \
             or `torch.isin`"
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

/// End of the message about an `assert` or a guard.
const CHECKED: &str = "is checked only for the example input";

/// Returns true if a finding is about an `assert`, or about a branch that only raises.
pub fn is_validation(finding: &Finding) -> bool {
    finding.message.ends_with(CHECKED)
}

/// Note for a branch on a size: both exporters export only the branch of the example input.
const OF_SIZE: &str = "if the axis is dynamic, the graph runs the exported branch for all sizes";

/// Returns true if a finding is about a branch on a size.
pub fn is_size_branch(finding: &Finding) -> bool {
    *finding.code == *rule_ids::TRACED_BRANCH.code && finding.notes.iter().any(|note| note == OF_SIZE)
}

/// Returns the finding about `min` or `max` of a size, such as `min(x.shape[1], 8)`.
///
/// `torch.export` keeps the minimum or maximum symbolic.
pub fn lesser_size(call: Node, source: &str) -> Words {
    let note = "if the axis is dynamic, the graph returns the operand that the example input selected";
    Words { note, ..size_branch(call, source) }
}

/// Returns the finding about a branch on a size.
///
/// The export is correct if all intended inputs take the same branch.
pub fn size_branch(condition: Node, source: &str) -> Words {
    let shown = one_line(condition, source);
    Words {
        rule: rule_ids::TRACED_BRANCH,
        level: Level::Info,
        message: format!("`{shown}` depends on a size: only the branch of the example input is exported"),
        note: OF_SIZE,
        help:
            "export for sizes that all take the same branch, or avoid the branch: pad by `-n % k`, or slice \
               (a slice stops at the end of the axis)"
                .into(),
    }
}

/// Returns the help to write `torch.where(c, a, b)` instead of `a if c else b`.
fn conditional_help(node: Node, condition: Node, source: &str) -> Help {
    let whole = |node| text(node, source);
    match children(node)[..] {
        [then, asked, other] if node.kind() == "conditional_expression" && bare(asked) == bare(condition) => {
            let by = format!("torch.where({}, {}, {})", whole(bare(asked)), whole(then), whole(other));
            let piece = Piece::instead(node, &by, Applicability::Unsafe, source);
            Help::new(format!("write `{}`", on_one_line(&by)), piece)
        }
        _ => format!("select with a mask: `torch.where({}, a, b)`", one_line(condition, source)).into(),
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

/// Returns the finding about a loop whose step count depends on a tensor.
pub fn unrolled(node: Node, iterable: Node, steps: Steps, source: &str) -> Words {
    let shown = one_line(iterable, source);
    let (counted, level) = match steps {
        Steps::Size => ("a size of the input", Level::Warning),
        Steps::Value => ("the value of a tensor", Level::Warning),
        Steps::Taken => ("the value of a tensor", Level::Info),
        Steps::Rows => ("the number of rows of a tensor", Level::Warning),
        Steps::Pieces => ("the number of pieces of a tensor", Level::Info),
    };
    let code = loop_head(node, source);
    Words {
        rule: rule_ids::UNROLLED_LOOP,
        level,
        message: format!(
            "`{code}` is unrolled: the graph has one copy of its body for each iteration of the example input"
        ),
        note: "the graph has a fixed iteration count: other inputs lose iterations, get extra ones, or fail",
        help: format!(
            "`{shown}` depends on {counted}: compute the whole axis at once, or use a layer or function that \
             exports as one operator (`nn.GRU`, `torch.cumsum`), or `torch._higher_order_ops.scan` with \
             `dynamo=True`"
        )
        .into(),
    }
}

/// Returns the finding about `n += 2`, which also changes `other`; line `read` reads `other`.
pub fn shape_alias(statement: Node, other: &str, read: u32, source: &str) -> Words {
    let code = one_line(statement, source);
    Words {
        rule: rule_ids::IN_PLACE_SHAPE_ALIAS,
        level: Level::Error,
        message: format!("`{code}` also changes `{other}` while tracing, and line {read} reads it"),
        note: "the tracer represents sizes as tensors, which an augmented assignment changes in place; plain Python \
               and torch.export use immutable integers",
        help: match Piece::apart(statement, source) {
            Some(piece) => Help::new(format!("write `{}`", on_one_line(piece.text())), Some(piece)),
            None => "create a new value: `m = n + 2` instead of `n += 2`".into(),
        },
    }
}

/// Advice for a write without an out-of-place method.
const OUT_OF_PLACE: &str = "`torch.where`, `torch.cat`, or an index on the whole tensor";

/// Returns the finding about a write to memory that `other` shares; line `read` reads `other`.
///
/// If `perhaps` is true, the written tensor or `other` may be a copy, so the level is lower.
pub fn view_lost(code: &str, operator: &str, other: &str, read: u32, perhaps: bool) -> Words {
    Words {
        rule: rule_ids::IN_PLACE_VIEW_LOST,
        level: if perhaps { Level::Warning } else { Level::Error },
        message: format!(
            "`{code}` writes to memory that `{other}` shares; in the traced graph, line {read} reads `{other}` \
             without the change"
        ),
        note: "a traced graph has values, not memory: only the tensor in the write expression changes; torch.export \
               tracks aliases",
        help: format!(
            "assign the result instead of writing in place ({}), and derive `{other}` from it",
            match operator.strip_suffix('_') {
                // `copy_` and the other methods in this list have no out-of-place method.
                Some("copy" | "fill" | "normal" | "uniform" | "zero") => OUT_OF_PLACE.to_owned(),
                Some(name) if !name.is_empty() => format!("`.{name}(…)` instead of `.{operator}(…)`"),
                _ => OUT_OF_PLACE.to_owned(),
            }
        )
        .into(),
    }
}
