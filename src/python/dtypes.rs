//! Dtypes: type promotion, and accidental double precision.

use tree_sitter::Node;

use super::calls::Call;
use super::interpreter::Interpreter;
use super::report;
use super::syntax::{one_line, text};
use super::torch_names;
use super::value::{Dtype, Origin, Tensor, Value};

/// An operand of type promotion.
#[derive(Clone, Copy, Debug)]
struct Operand {
    dtype: Option<Dtype>,
    /// True for a 0-d tensor, which does not promote other tensors of its category (float or integer).
    scalar: bool,
    origin: Origin,
}

fn operand(value: &Value) -> Option<Operand> {
    match value {
        Value::Tensor(tensor) => {
            Some(Operand { dtype: tensor.dtype, scalar: tensor.rank == Some(0), origin: tensor.origin })
        }
        Value::Array(array) if !array.scalar => Some(Operand {
            dtype: array.double.then_some(Dtype::Double),
            scalar: false,
            origin: Origin::Constant,
        }),
        _ => None,
    }
}

impl<'t> Interpreter<'t> {
    /// Returns the result of element-wise arithmetic on two values, of which at least one is a tensor.
    /// Reports promotion to float64.
    pub fn promoted(&mut self, left: &Value, right: &Value, node: Node<'t>) -> Tensor {
        let tensors: Vec<&Tensor> = [left, right].into_iter().filter_map(Value::tensor).collect();
        let mut result = self.result(&tensors);
        if left.is_size() || right.is_size() {
            result.origin = result.origin.max(Origin::Input);
        }
        result.dtype = match (operand(left), operand(right)) {
            (Some(a), Some(b)) => {
                if widens(a, b) || widens(b, a) {
                    let explicit = a.dtype == Some(Dtype::Double) && a.origin == Origin::Input
                        || b.dtype == Some(Dtype::Double) && b.origin == Origin::Input;
                    self.say(node, report::promotion(&one_line(node, self.source), explicit));
                    // The result gets no dtype, so later operations with float32 tensors report nothing.
                    None
                } else {
                    combined(a, b)
                }
            }
            (Some(only), None) | (None, Some(only)) => only.dtype.filter(|dtype| *dtype != Dtype::Int),
            (None, None) => None,
        };
        result
    }

    /// Reports promotion to float64 in functions such as `torch.add(x, y)` and `torch.cat([x, y])`.
    pub fn promote_arguments(&mut self, name: &str, call: &Call<'t>) {
        let promotes = [
            "add",
            "sub",
            "mul",
            "div",
            "true_divide",
            "where",
            "cat",
            "concat",
            "stack",
            "maximum",
            "minimum",
            "pow",
            "lerp",
            "fmod",
            "remainder",
            "atan2",
            "hypot",
            "addcmul",
            "addcdiv",
        ];
        if !promotes.contains(&name.trim_end_matches('_')) {
            return;
        }
        let tensors: Vec<Value> =
            call.values.iter().flat_map(Value::tensors).cloned().map(Value::Tensor).collect();
        for (at, left) in tensors.iter().enumerate() {
            for right in &tensors[at + 1..] {
                if self.widens_either(left, right) {
                    self.say(call.node, report::promotion(&one_line(call.node, self.source), false));
                    return;
                }
            }
        }
    }

    fn widens_either(&self, left: &Value, right: &Value) -> bool {
        operand(left).zip(operand(right)).is_some_and(|(a, b)| widens(a, b) || widens(b, a))
    }

    /// Returns the dtype that an argument such as `torch.float64` or `"float64"` specifies.
    pub fn named_dtype(&mut self, node: Node<'t>) -> Option<Dtype> {
        match self.evaluate(node) {
            Value::Name(path) if &*path == "float" => Some(Dtype::Double),
            Value::Name(path) => torch_names::dtype(&path),
            Value::Str => {
                torch_names::dtype(&format!("numpy.{}", text(node, self.source).trim_matches(['"', '\''])))
            }
            _ => None,
        }
    }
}

/// Returns true if `double` is float64, and promotes `other`, which is float32 or float16, to float64.
fn widens(double: Operand, other: Operand) -> bool {
    let single = match other.dtype {
        Some(Dtype::Float | Dtype::Half) => true,
        // Tensors of unknown dtype are assumed to be float32, except for constants.
        None => other.origin >= Origin::State,
        Some(_) => false,
    };
    double.dtype == Some(Dtype::Double) && !double.scalar && single
}

fn combined(a: Operand, b: Operand) -> Option<Dtype> {
    match (a.dtype, b.dtype) {
        (Some(x), Some(y)) if x == y => Some(x),
        (Some(Dtype::Bool | Dtype::Int), Some(float)) if !b.scalar => Some(float),
        (Some(float), Some(Dtype::Bool | Dtype::Int)) if !a.scalar => Some(float),
        _ => None,
    }
}
