//! EXP003: in-place modification of a size that was traced as a tensor; all its aliases change.

use crate::diag::rule_ids::IN_PLACE_SHAPE_ALIAS;
use crate::diag::{Finding, Level, RuleId};
use crate::torch::context::Context;
use crate::torch::trace::{Node, NodeId, Origin, Trace, User, ValueId};

/// Operators for which two equal operands make no sense.
const COMPARES: [&str; 9] = ["sub", "rsub", "div", "eq", "ne", "lt", "le", "gt", "ge"];

/// Reports in-place operators on traced sizes.
///
/// While tracing, `x.shape[1]` is a tensor: `m = n; m += 2` also changes `n`, unlike with Python integers. If
/// the changed size is read only once, it is not reported; if more often, one read probably expects the
/// size before the change.
pub fn detect(context: &Context, out: &mut Vec<Finding>) {
    let trace = context.trace;
    for (id, node) in trace.nodes() {
        match trace.origin {
            Origin::TorchScript => out.extend(in_place_on_size(context, id, node)),
            Origin::OnnxDialect => out.extend(same_size_twice(context, id, node)),
            Origin::Export => {}
        }
    }
}

fn in_place_on_size(context: &Context, id: NodeId, node: &Node) -> Option<Finding> {
    let trace = context.trace;
    let done = node.op.writes()?;
    let size = trace.receiver(node).filter(|&value| is_size(trace, value))?;
    let changed = *node.outputs.first()?;
    let users = &trace.value(changed).users;
    if users.len() < 2 {
        return None;
    }
    // Using the changed size twice may be intended, as in `m * m`. Comparing it with itself, or subtracting
    // it from itself, makes no sense, as in `m - n` if `n` is an alias of `m`.
    let is_of_no_use = |user: &User| match user {
        User::Node(id) => COMPARES.iter().any(|name| trace.node(*id).op.is("aten", name)),
        User::Output(_) => false,
    };
    let by_both_names = users.windows(2).any(|pair| pair[0] == pair[1] && is_of_no_use(&pair[0]));
    let rule = if by_both_names { IN_PLACE_SHAPE_ALIAS } else { IN_PLACE_SHAPE_ALIAS.at(Level::Info) };
    Some(finding(context, id, rule, context.describe(size), done).note(
        "the changed value is read more than once later; a variable that should keep the old size reads the new one",
    ))
}

/// Detects ONNX arithmetic whose operands are both the changed size: `Add(m, m)`, traced from `m + n`.
fn same_size_twice(context: &Context, id: NodeId, node: &Node) -> Option<Finding> {
    let trace = context.trace;
    let [left, right] = &node.inputs[..] else { return None };
    let changed =
        trace.as_value(&left.argument).filter(|&value| trace.as_value(&right.argument) == Some(value))?;
    let change = trace.node(trace.producer(changed)?);
    let is_arithmetic = |node: &Node| matches!(node.op.onnx(), Some("Add" | "Sub" | "Mul" | "Div"));
    let (size, by) = (trace.receiver(change)?, change.inputs.get(1)?);
    let fits = is_arithmetic(node)
        && is_arithmetic(change)
        && is_size(trace, size)
        && trace.int(&by.argument).is_some();
    fits.then(|| {
        let name = change.op.name.to_ascii_lowercase();
        finding(context, id, IN_PLACE_SHAPE_ALIAS.at(Level::Info), context.describe(size), &name)
            .note(format!("both operands of `{}` are the changed size", node.op.name))
    })
}

/// Creates the finding of an in-place change by the operator `name`.
fn finding(context: &Context, id: NodeId, rule: RuleId, size: String, name: &str) -> Finding {
    let (change, help) = match operator_symbol(name) {
        Some(symbol) => (
            format!("{symbol}="),
            format!("write `m = n {symbol} …`, which creates a new value, instead of `m {symbol}= …`"),
        ),
        None => (format!("{name}_"), format!("use the out-of-place `{name}`, which creates a new value")),
    };
    let message = format!("`{change}` changes {size}, a traced size, in place: all its aliases change");
    context.finding(rule, id, message).label("changed in place").help(help)
}

/// Returns the Python symbol of an in-place PyTorch operator on integers, such as `+` for `add`.
fn operator_symbol(name: &str) -> Option<&'static str> {
    Some(match name {
        "add" => "+",
        "sub" => "-",
        "mul" => "*",
        // PyTorch rejects `/=` on integer tensors.
        "div" | "floor_divide" => "//",
        "remainder" => "%",
        "pow" => "**",
        _ => return None,
    })
}

/// Returns true if a value is a size, or is computed only from sizes and constants.
fn is_size(trace: &Trace, value: ValueId) -> bool {
    let mut pending = vec![value];
    let mut found = false;
    for _ in 0..MAX_STEPS {
        let Some(value) = pending.pop() else { return found };
        let Some(node) = trace.producer(value).map(|id| trace.node(id)) else { return false };
        match (&*node.op.namespace, &*node.op.name) {
            ("aten", "size" | "sym_size" | "numel" | "dim" | "len") | ("onnx", "Shape" | "Size") => {
                found = true
            }
            ("prim" | "onnx", "Constant") => {}
            ("prim", "NumToTensor")
            | (
                "aten",
                "Int" | "ScalarImplicit" | "add" | "sub" | "mul" | "floor_divide" | "add_" | "sub_" | "mul_",
            )
            | ("onnx", "Gather" | "Squeeze" | "Cast" | "Add" | "Sub" | "Mul" | "Div") => {
                pending.extend(trace.values_read(node));
            }
            _ => return false,
        }
    }
    false
}

/// Maximum number of values to visit; sizes are computed in few steps.
const MAX_STEPS: usize = 64;
