//! EXP002: a tensor's value that passed through Python and became a constant.

use std::sync::Arc;

use indexmap::IndexMap;

use crate::diag::rule_ids::ITEM_BAKED;
use crate::diag::{Finding, Level};
use crate::source::is_library;
use crate::torch::argument::Argument;
use crate::torch::context::Context;
use crate::torch::trace::{Node, NodeId, Origin, Trace, ValueId};

/// Reports constants that probably come from a tensor.
///
/// Tracing records tensors only: `x.item()`, `int(x)` and `float(x)` leave a constant that looks like a
/// literal. Three hints distinguish computed constants from literals: a readable source line that calls
/// `.item()` or `.tolist()`; an unused one-element input, together with a literal size that no shape
/// explains; and a number with unusually many digits.
pub fn detect(context: &Context, out: &mut Vec<Finding>) {
    if context.trace.origin != Origin::TorchScript {
        return;
    }
    let inputs = baked_inputs(context);
    let mut findings: IndexMap<Line, Vec<Finding>> = IndexMap::new();
    for baked in &inputs {
        if let Some(line) = line_of(context.trace.node(baked.node)) {
            findings.entry(line).or_default().push(input_baked(context, baked));
        }
    }
    for (line, constants) in constants_by_line(context) {
        if findings.contains_key(&line) {
            continue;
        }
        let finding = said_by_source(context, &line, &constants)
            .or_else(|| constants.iter().find_map(|&(id, number)| odd_number(context, id, number)));
        findings.extend(finding.map(|finding| (line, vec![finding])));
    }
    out.extend(findings.into_values().flatten().map(|finding| {
        finding.help(
            "keep it as a tensor: a one-element tensor can be used in arithmetic and as an index; for a size, \
             use `x.shape`; or pass the number to the model as a Python constant",
        )
    }));
}

/// A file and a line number.
type Line = (Arc<str>, u32);

/// Returns the line that created a node, unless it is inside a library.
fn line_of(node: &Node) -> Option<Line> {
    let source = node.source.as_ref().filter(|source| !is_library(&source.file))?;
    Some((source.file.clone(), source.line))
}

/// Returns, for each line, its constants that may have been computed, in order.
fn constants_by_line(context: &Context) -> IndexMap<Line, Vec<(NodeId, f64)>> {
    let mut by_line: IndexMap<Line, Vec<(NodeId, f64)>> = IndexMap::new();
    for (id, node) in context.trace.nodes() {
        if let Some(number) = constant_made(context.trace, node)
            && let Some(line) = line_of(node)
        {
            by_line.entry(line).or_default().push((id, number));
        }
    }
    by_line
}

/// Reports a line that calls `.item()` or `.tolist()` and created constants.
fn said_by_source(context: &Context, line: &Line, constants: &[(NodeId, f64)]) -> Option<Finding> {
    let code = context.sources.line(&line.0, line.1)?;
    let code = code.split('#').next()?;
    let call = [".item()", ".tolist()"].into_iter().find(|call| code.contains(call))?;
    let &(id, number) = constants.first()?;
    let numbers: Vec<String> = constants.iter().map(|(_, number)| number.to_string()).collect();
    let became = if numbers.len() == 1 {
        format!("the constant {number}")
    } else {
        format!("a constant (one of {})", numbers.join(", "))
    };
    // The item of a weight or buffer is the same in every run.
    let of_model = code.split(call).next().is_some_and(|before| {
        let start = before.rfind(|c: char| !(c.is_alphanumeric() || "._".contains(c))).map_or(0, |at| at + 1);
        before[start..].starts_with("self.")
    });
    let rule = if of_model { ITEM_BAKED.at(Level::Info) } else { ITEM_BAKED };
    Some(
        context
            .finding(rule, id, format!("`{call}` became {became}"))
            .label(format!("`{call}` was evaluated once, during the trace")),
    )
}

/// Returns the number of a `prim::Constant` that may have been computed.
fn constant_made(trace: &Trace, node: &Node) -> Option<f64> {
    let value = *node.outputs.first().filter(|_| node.op.is("prim", "Constant"))?;
    match trace.value(value).literal.as_ref()? {
        Argument::Int(int) if !matches!(*int, -1..=1 | i64::MAX) => Some(*int as f64),
        Argument::Float(float) => Some(*float),
        Argument::Tensor(tensor) => match tensor.elements.as_deref()? {
            [one] => Some(*one),
            _ => None,
        },
        _ => None,
    }
}

/// Reports a one-element tensor with too many digits to be handwritten, outside of installed packages.
fn odd_number(context: &Context, id: NodeId, number: f64) -> Option<Finding> {
    let node = context.trace.node(id);
    let in_package = node.source.as_ref().is_some_and(|source| source.file.contains("-packages"));
    let elem = context.trace.value(*node.outputs.first()?).ty.elem();
    if in_package || !elem.is_some_and(|elem| elem.is_float()) || is_written_by_people(number) {
        return None;
    }
    let message = format!("the trace contains the constant {number}, which looks computed");
    Some(context.finding(ITEM_BAKED.at(Level::Info), id, message).label("a constant").note(
        "a number that came from a tensor (`.item()`, `float()`, NumPy) is only valid for the example input",
    ))
}

/// Returns true for numbers that people write, such as `0.125` and `1 / sqrt(2)`.
///
/// These have at most three significant digits, or are whole numbers, square roots or reciprocals of whole
/// numbers, or common constants with their doubles and reciprocals.
///
/// Comparisons have a tolerance of 1e-5, because PyTorch prints numbers with six digits.
fn is_written_by_people(number: f64) -> bool {
    use std::f64::consts;
    const FORMULAS: [f64; 9] =
        [consts::PI, consts::E, consts::LN_2, consts::LN_10, 0.044715, 0.797885, 1.702, 0.398942, 1.050701];
    let near = |a: f64, b: f64| (a - b).abs() <= 1e-5 * b.abs();
    let few_digits = |number: f64| {
        let digits = format!("{:.5e}", number.abs());
        let mantissa = digits.split('e').next().unwrap_or("").trim_end_matches('0');
        mantissa.chars().filter(char::is_ascii_digit).count() <= 3
    };
    let whole = |number: f64| near(number, number.round()) && number.abs() >= 1.0;
    let known = |number: f64| {
        FORMULAS
            .iter()
            .any(|&known| near(number, known) || near(number, known * 2.0) || near(number, 1.0 / known))
    };
    let root_or_fraction = [number * number, 1.0 / number, 1.0 / (number * number)].into_iter().any(whole);
    !number.is_finite()
        || number == 0.0
        || few_digits(number)
        || known(number.abs())
        || whole(number)
        || root_or_fraction
}

/// A size that is probably the value of an input.
pub struct BakedInput {
    pub input: ValueId,
    /// The node that uses the size.
    pub node: NodeId,
    pub size: i64,
}

/// Returns unused integer scalar inputs, each with a literal size or count that no shape explains.
pub fn baked_inputs(context: &Context) -> Vec<BakedInput> {
    let trace = context.trace;
    if !trace.complete || trace.origin != Origin::TorchScript {
        return Vec::new();
    }
    let unused = trace.inputs().filter(|&input| {
        let value = trace.value(input);
        value.users.is_empty()
            && value
                .ty
                .tensor()
                .is_some_and(|ty| ty.is_scalar() && ty.elem.is_some_and(|elem| elem.is_integer()))
    });
    let mut unexplained = trace.nodes().filter_map(|(id, node)| Some((id, unexplained_size(context, node)?)));
    unused
        .filter_map(|input| unexplained.next().map(|(node, size)| BakedInput { input, node, size }))
        .collect()
}

fn input_baked(context: &Context, baked: &BakedInput) -> Finding {
    let input = context.describe(baked.input);
    let op = &context.trace.node(baked.node).op;
    let message = format!("{} is a constant of `{op}`, and input {input} is unused", baked.size);
    context
        .finding(ITEM_BAKED, baked.node, message)
        .label(format!("{} is probably the value of {input} during the trace", baked.size))
        .note(format!("`.item()` or `int()` of {input} leaves a constant: the model ignores {input}"))
}

/// Returns a literal size, bound or count of a node, unless the shape of the operand explains it.
fn unexplained_size(context: &Context, node: &Node) -> Option<i64> {
    let trace = context.trace;
    let (file, line) = line_of(node)?;
    let code = context.sources.line(&file, line);
    let may_convert =
        code.is_none_or(|code| ["item()", "int(", "tolist()"].iter().any(|call| code.contains(call)));
    let first = match node.op.aten()? {
        "reshape" | "view" | "expand" | "repeat" | "tile" | "unflatten" | "new_zeros" | "new_ones"
        | "new_full" => 1,
        "zeros" | "ones" | "full" | "arange" | "eye" => 0,
        "narrow" | "slice" | "select" => 2,
        "topk" | "roll" | "repeat_interleave" | "chunk" | "split" => 1,
        _ => return None,
    };
    let sizes: Vec<i64> = trace
        .receiver(node)
        .and_then(|value| trace.value(value).ty.shape())
        .map(|shape| shape.iter().filter_map(|size| size.traced()).collect())
        .unwrap_or_default();
    let explained = |size: i64| {
        size <= 1 || size == i64::MAX || sizes.contains(&size) || sizes.iter().product::<i64>() == size
    };
    let argument = &node.inputs.get(first..)?;
    let literals = argument.iter().flat_map(|input| match trace.see(&input.argument) {
        Argument::List(members) => members.iter().filter_map(|member| trace.int(member)).collect(),
        Argument::Int(int) => vec![*int],
        _ => Vec::new(),
    });
    literals.into_iter().find(|&size| may_convert && !explained(size))
}

#[cfg(test)]
mod tests {
    use super::is_written_by_people;

    #[test]
    fn short_numbers_and_common_formulas_look_handwritten() {
        for number in [
            0.5,
            0.125,
            1e-5,
            std::f64::consts::PI,
            0.0883883,
            0.333333,
            0.044715,
            0.797885,
            std::f64::consts::SQRT_2,
            std::f64::consts::FRAC_1_SQRT_2,
            255.0,
            0.485,
            -2.0,
            1e10,
        ] {
            assert!(is_written_by_people(number), "{number}");
        }
        for number in [1.93466, 0.77336, -2.71245, 0.183627] {
            assert!(!is_written_by_people(number), "{number}");
        }
    }
}
