//! Values in `forward` that depend on its inputs, or on the state of its module.

use tree_sitter::Node;

use super::super::syntax::{children, field, text, with_ancestors, within};
use super::torch::names::is_tensor_name;

/// Attributes and methods of a tensor that do not depend on its elements.
pub const METADATA: [&str; 14] = [
    "shape",
    "dtype",
    "device",
    "size",
    "dim",
    "ndim",
    "numel",
    "nelement",
    "is_cuda",
    "requires_grad",
    "new_zeros",
    "new_ones",
    "new_empty",
    "new_full",
];

/// Methods whose arguments give only a dtype, a device or a shape.
const CONVERSIONS: [&str; 7] = ["to", "type_as", "expand_as", "view_as", "reshape_as", "type", "cuda"];

/// Functions and methods whose results depend on the elements of their arguments.
pub const CARRIERS: [&str; 42] = [
    "abs",
    "add",
    "baddbmm",
    "bmm",
    "cat",
    "clamp",
    "concat",
    "concatenate",
    "conv1d",
    "conv2d",
    "div",
    "dropout",
    "einsum",
    "exp",
    "gelu",
    "hstack",
    "interpolate",
    "layer_norm",
    "leaky_relu",
    "lerp",
    "linear",
    "logaddexp",
    "matmul",
    "maximum",
    "mean",
    "minimum",
    "mm",
    "mul",
    "pad",
    "relu",
    "roll",
    "sigmoid",
    "silu",
    "softmax",
    "softplus",
    "sqrt",
    "square",
    "stack",
    "sub",
    "sum",
    "tanh",
    "vstack",
];

/// Methods that overwrite their tensor without regard to its elements.
pub const RESETS: [&str; 12] = [
    "zero_",
    "fill_",
    "copy_",
    "uniform_",
    "normal_",
    "random_",
    "bernoulli_",
    "exponential_",
    "set_",
    "item",
    "tolist",
    "numpy",
];

/// Names and state whose elements a function knows.
#[derive(Default)]
pub struct Flow<'s> {
    pub names: Vec<&'s str>,
    /// Attributes of `self` that are layers of `torch.nn`.
    pub layers: Vec<&'s str>,
    /// Whether later reads of the attribute depend on its value at the start of the call.
    pub has_state: bool,
}

impl Flow<'_> {
    /// Returns true if the elements of an expression certainly depend on the known names, or on the state.
    ///
    /// `state` is the attribute and the statement that replaces it. The results of unknown functions, such as one
    /// that returns a cached tensor, depend on nothing.
    pub fn reaches(&self, node: Node, state: Option<(&str, Node)>, source: &str) -> bool {
        let is_reached = |part: Option<Node>| part.is_some_and(|part| self.reaches(part, state, source));
        match node.kind() {
            "identifier" => self.names.contains(&text(node, source)) && is_data(node, source),
            "attribute" => match state {
                Some((name, write)) if is_attribute(node, name, source) => {
                    is_data(node, source) && (node.start_byte() < write.end_byte() || self.has_state)
                }
                _ => {
                    let name = field(node, "attribute").map_or("", |name| text(name, source));
                    matches!(name, "T" | "mT" | "data") && is_reached(field(node, "object"))
                }
            },
            "parenthesized_expression"
            | "tuple"
            | "list"
            | "expression_list"
            | "argument_list"
            | "unary_operator"
            | "comparison_operator"
            | "list_splat" => children(node).into_iter().any(|part| is_reached(Some(part))),
            "binary_operator" => {
                let is_zero = |part: &str| {
                    let part = field(node, part).map_or("", |part| text(part, source));
                    part.parse::<f64>().is_ok_and(|number| number == 0.0)
                };
                !is_zero("left")
                    && !is_zero("right")
                    && (is_reached(field(node, "left")) || is_reached(field(node, "right")))
            }
            "conditional_expression" => {
                let parts = children(node);
                is_reached(parts.first().copied()) && is_reached(parts.get(2).copied())
            }
            "subscript" => is_reached(field(node, "value")),
            "keyword_argument" => is_reached(field(node, "value")),
            "list_comprehension" | "generator_expression" => is_reached(field(node, "body")),
            "call" => {
                let Some(callee) = field(node, "function") else { return false };
                let last = field(callee, "attribute").unwrap_or(callee);
                let name = text(last, source);
                let object = field(callee, "object");
                let is_own = object.is_some_and(|object| text(object, source) == "self");
                let is_method = object.is_some() && !is_own && is_reached(object);
                let takes = match is_own {
                    true => self.layers.contains(&name),
                    false => object.is_some() && CARRIERS.contains(&name.trim_end_matches('_')),
                };
                is_method && is_tensor_name(name) && !METADATA.contains(&name) && !RESETS.contains(&name)
                    || takes && is_reached(field(node, "arguments"))
            }
            _ => false,
        }
    }
}

/// Follows the elements of known names, or of the state, through the assignments of a function.
///
/// `has_run` selects the statements that run.
pub fn follow<'s, 't>(
    body: Node<'t>,
    flow: &mut Flow<'s>,
    state: Option<(&str, Node)>,
    source: &'s str,
    has_run: &dyn Fn(Node<'t>) -> bool,
) {
    // A second pass follows values into the next iteration of a loop.
    for _ in 0..2 {
        let is_run = |node: &Node<'t>| {
            let around = with_ancestors(*node);
            around.into_iter().find(|one| one.kind().ends_with("_statement")).is_some_and(has_run)
        };
        for node in within(body).into_iter().filter(is_run) {
            let (targets, value) = match node.kind() {
                "assignment" | "augmented_assignment" | "for_statement" | "for_in_clause" => {
                    (field(node, "left"), field(node, "right"))
                }
                "call" => {
                    // `items.append(x)` and `x.add_(y)` change their object.
                    let object = field(node, "function").and_then(|callee| field(callee, "object"));
                    (object.filter(|object| object.kind() == "identifier"), field(node, "arguments"))
                }
                _ => continue,
            };
            let (Some(targets), Some(value)) = (targets, value) else { continue };
            if !flow.reaches(value, state, source) {
                continue;
            }
            for target in within(targets) {
                let is_part = target.parent().is_some_and(|parent| parent.kind() == "attribute");
                if target.kind() == "identifier" && !is_part {
                    let name = text(target, source);
                    if !flow.names.contains(&name) {
                        flow.names.push(name);
                    }
                }
            }
            flow.has_state |= state.is_some_and(|(_, write)| write.byte_range().contains(&node.start_byte()));
        }
    }
}

/// Returns true for `self.name`.
pub fn is_attribute(node: Node, name: &str, source: &str) -> bool {
    node.kind() == "attribute"
        && field(node, "attribute").is_some_and(|last| text(last, source) == name)
        && field(node, "object").is_some_and(|object| text(object, source) == "self")
}

/// Returns true if the use of a tensor depends on its elements, not only on shape, dtype or device.
pub fn is_data(node: Node, source: &str) -> bool {
    let Some(parent) = node.parent() else { return true };
    match parent.kind() {
        "attribute" => {
            field(parent, "object") != Some(node)
                || field(parent, "attribute").is_none_or(|name| !METADATA.contains(&text(name, source)))
        }
        "comparison_operator" => !children(parent).iter().any(|one| one.kind() == "none"),
        "argument_list" => {
            let callee = parent.parent().and_then(|call| field(call, "function"));
            let callee = callee.map_or("", |callee| text(callee, source));
            let last = callee.rsplit('.').next().unwrap_or(callee);
            !(last.ends_with("_like")
                || matches!(callee, "len" | "isinstance" | "print" | "type" | "id")
                || callee.contains('.') && CONVERSIONS.contains(&last))
        }
        _ => true,
    }
}
