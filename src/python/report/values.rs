//! Messages about dtypes, outputs, training mode, and values that become Python numbers or constants.

use tree_sitter::Node;

use crate::diag::rule_ids;
use crate::diag::{Finding, Level};

use super::super::numpy::torch_name;
use super::super::syntax::{Arguments, field, one_line, text};
use super::super::value::Origin;
use super::kept::kept;
use super::rewrite::{Help, Piece};
use super::{Words, by_origin};

/// Returns the finding about the conversion of a tensor to a Python value.
/// `write` is the replacement for `node` in the help.
pub fn item(statement: Node, node: Node, write: &str, origin: Origin, source: &str) -> Words {
    let call = one_line(node, source);
    let message = match origin {
        Origin::State => {
            format!("`{call}` converts a weight to a Python number, which becomes a constant of the graph")
        }
        Origin::Random => format!(
            "`{call}` converts a random number to a Python value: the graph keeps the number drawn during the export"
        ),
        _ => format!(
            "`{call}` converts a tensor to a Python value: the graph keeps the value of the example input"
        ),
    };
    Words {
        rule: rule_ids::ITEM_BAKED,
        level: by_origin(origin, Level::Warning),
        message,
        note: "the tracing exporter does not record Python values, so the value is fixed for all inputs; torch.export \
               makes it a symbol, or fails",
        help: kept("it a tensor", statement, node, write, source),
    }
}

fn becomes_constant(call: &str) -> String {
    format!("`{call}` becomes a constant: the graph keeps the elements that it has during the export")
}

/// Returns the finding about a tensor created from the elements of other tensors.
pub fn copied(statement: Node, node: Node, write: &str, origin: Origin, source: &str) -> Words {
    let call = one_line(node, source);
    Words {
        rule: rule_ids::NUMPY_CONSTANT,
        level: by_origin(origin, Level::Warning),
        message: becomes_constant(&call),
        note: "the new tensor copies the elements of its source at trace time",
        help: kept("them tensors", statement, node, write, source),
    }
}

/// Returns the finding about a tensor created from sizes, such as `torch.tensor([x.shape[0], 4])`.
///
/// A single size, as in `torch.tensor(x.shape[0])`, is traced.
pub fn sizes_copied(node: Node, source: &str) -> Words {
    let call = one_line(node, source);
    Words {
        rule: rule_ids::NUMPY_CONSTANT,
        level: Level::Info,
        message: format!("`{call}` becomes a constant with the sizes of the example input"),
        note: "a list of sizes is copied as numbers, which are not traced; torch.export keeps them symbolic",
        help: "compute with the sizes themselves, or convert each to a tensor: `torch.stack([torch.tensor(n) for n in \
               x.shape])`"
            .into(),
    }
}

/// Returns the finding about a size converted to a number.
/// `written` is the source text of the size, and `piece` is the replacement of the call.
pub fn size_made_number(call: &str, written: &str, piece: Option<Piece>) -> Words {
    Words {
        rule: rule_ids::BAKED_SHAPE,
        level: Level::Info,
        message: format!("`{call}` converts a size to a Python number, which is not traced"),
        note: "sizes are tensors while tracing; as plain numbers, they are fixed to those of the example input; \
               torch.export keeps them symbolic, or fails",
        help: Help::new(
            format!("use `{written}` itself, with integer arithmetic (`//`) where needed"),
            piece,
        ),
    }
}

/// Note for a size that Python rounds.
const OF_ROUND: &str = "sizes are tensors while tracing, and `round` of a tensor raises a TypeError";

/// Returns the finding about `round(x.shape[1] * 0.5)`.
pub fn rounded_size(call: &str) -> Words {
    Words {
        message: format!("`{call}` rounds a size, which raises while tracing"),
        note: OF_ROUND,
        ..fraction_made_number(call, None)
    }
}

/// Returns true if a finding is about a size that Python rounds.
pub fn is_rounded_size(finding: &Finding) -> bool {
    *finding.code == *rule_ids::BAKED_SHAPE.code && finding.notes.iter().any(|note| note == OF_ROUND)
}

/// Note for a number that both exporters fix to its value for the example input.
const OF_FRACTION: &str = "exporters, including torch.export, trace only integer sizes: the integer part of a \
                           fractional size is fixed to that of the example input";

/// Returns the finding about a fractional size made an integer, such as `int(x.shape[1] / 2)`.
///
/// `torch.export`, too, fixes the integer, and does not warn.
pub fn fraction_made_number(call: &str, piece: Option<Piece>) -> Words {
    Words {
        note: OF_FRACTION,
        help: match piece {
            Some(piece) => Help::new(format!("use integer division: `{}`", piece.text()), Some(piece)),
            None => {
                "use integer division: `x.shape[1] // 2`, and `n * 3 // 2` instead of `int(1.5 * n)`".into()
            }
        },
        ..size_made_number(call, "", None)
    }
}

/// Returns true if a finding is about the integer part of a fractional size.
pub fn is_size_fraction(finding: &Finding) -> bool {
    *finding.code == *rule_ids::BAKED_SHAPE.code && finding.notes.iter().any(|note| note == OF_FRACTION)
}

/// Returns the finding about `x.numpy()`.
pub fn to_numpy(node: Node, source: &str) -> Words {
    let call = one_line(node, source);
    Words {
        rule: rule_ids::NUMPY_CONSTANT,
        level: Level::Warning,
        message: format!(
            "`{call}` converts a tensor to NumPy: NumPy results become constants computed from the example input"
        ),
        note: "exporters record PyTorch operations, not NumPy operations; torch.export has no values to pass to NumPy",
        help: "stay in PyTorch: `x.max()` instead of `x.numpy().max()`, and `torch.` functions instead of `np.` ones"
            .into(),
    }
}

/// Returns the hint about random numbers of NumPy, which matter only if the output depends on them.
pub fn random_numbers(node: Node, source: &str) -> Words {
    let call = one_line(node, source);
    Words {
        rule: rule_ids::NUMPY_CONSTANT,
        level: Level::Hint,
        message: format!("`{call}` draws once: the graph keeps these numbers as constants"),
        note: "exporters record PyTorch operations, not NumPy operations",
        help: "draw with `torch.rand` or `torch.randn`".into(),
    }
}

/// Returns the finding about a NumPy array that `forward` returns.
pub fn array_output(node: Node, source: &str) -> Words {
    let code = one_line(node, source);
    Words {
        rule: rule_ids::NUMPY_CONSTANT,
        level: Level::Warning,
        message: format!(
            "`{code}` is a NumPy array: the graph keeps the values that it has during the export"
        ),
        note: "exporters record PyTorch operations, not NumPy operations",
        help: "compute the output with `torch.` functions, such as `torch.cat` and `torch.rand`".into(),
    }
}

/// Returns the finding about a NumPy function called on a tensor, or on the sizes of a tensor.
pub fn numpy_function(node: Node, name: &str, of_tensor: bool, source: &str) -> Words {
    let call = one_line(node, source);
    let of = if of_tensor { "a tensor" } else { "the sizes of a tensor" };
    let inside = field(node, "arguments").map_or("", |arguments| text(arguments, source));
    Words {
        rule: rule_ids::NUMPY_CONSTANT,
        // Most calls on sizes, such as `np.prod(x.shape[1:])`, return the same value for all inputs.
        level: if of_tensor { Level::Warning } else { Level::Info },
        message: format!(
            "`{call}` computes with {of} in NumPy: the result becomes a constant computed from the example input"
        ),
        note: "the exporter records PyTorch operations, not NumPy operations",
        help: match torch_name(name) {
            Some(torch) if of_tensor => format!("write `torch.{torch}{inside}`").into(),
            _ if of_tensor => "compute the result with functions of `torch`".into(),
            _ => "compute with the sizes themselves: `math.prod(x.shape[1:])`, `x.flatten(1)`, `//`".into(),
        },
    }
}

/// Returns the finding about an operation on a tensor and a NumPy array.
pub fn array_meets_tensor(code: &str) -> Words {
    Words {
        rule: rule_ids::NUMPY_CONSTANT,
        level: Level::Warning,
        message: format!("`{code}` mixes a tensor with a NumPy array, which becomes a constant"),
        note: "the exporter records PyTorch operations, not NumPy operations",
        help: "convert the array to a tensor in `__init__`: `self.register_buffer(\"table\", torch.from_numpy(a))`"
            .into(),
    }
}

/// Returns the finding about a tensor created from a NumPy array.
pub fn from_numpy(node: Node, source: &str, level: Level) -> Words {
    let call = one_line(node, source);
    let made = Arguments::of(node, source).positional.first().copied();
    let numpy = made.and_then(|made| field(made, "function")).map(|function| text(function, source));
    let torch = numpy.and_then(|name| name.rsplit('.').next()).and_then(torch_name);
    Words {
        rule: rule_ids::NUMPY_CONSTANT,
        level,
        message: becomes_constant(&call),
        note: "NumPy values are not traced; if they or their sizes depend on the input, they are fixed to those of \
               the example",
        help: match torch {
            Some(torch) => {
                format!("create the tensor with `torch.{torch}` and the sizes of the input (`x.shape[0]`)")
                    .into()
            }
            None => "create the tensor with functions of `torch`, or once in `__init__` as a buffer".into(),
        },
    }
}

/// Returns the finding about `x.data`.
pub fn tensor_data(attribute: Node, source: &str) -> Words {
    let object = field(attribute, "object").map_or("", |object| text(object, source));
    Words {
        rule: rule_ids::TENSOR_DATA,
        level: Level::Warning,
        message: format!("`{object}.data` hides `{object}` from the trace"),
        note: "the tracing exporter drops writes to `.data`, and makes values read from it constants; \
               torch.export raises or crashes",
        help: Help::new(
            format!("use `{object}.detach()` to stop gradients, or `{object}.clone()` for a copy to modify"),
            Piece::detached(attribute, source),
        ),
    }
}

/// Returns the finding about a dictionary, or a data class (`is_data`), returned by `forward`.
pub fn dictionary_output(node: Node, source: &str, is_data: bool) -> Words {
    let shown = one_line(node, source);
    Words {
        rule: rule_ids::DICT_OUTPUT,
        level: Level::Info,
        message: match is_data {
            true => format!("`forward` returns a data class (`{shown}`), which exporters refuse"),
            false => format!("`forward` returns a dictionary (`{shown}`): the exported outputs have no keys"),
        },
        note: match is_data {
            true => "exporters raise, unless the class is registered as a container of `torch.utils._pytree`",
            false => {
                "ONNX outputs are tensors in a fixed order: the keys are lost, and the order is that of the container"
            }
        },
        help: match is_data {
            true => "return a tuple of tensors".into(),
            false => "return a tuple, or pass the keys as `output_names` to the export".into(),
        },
    }
}

/// Returns the finding about a string returned by `forward`.
pub fn string_output(string: &str) -> Words {
    Words {
        rule: rule_ids::DICT_OUTPUT,
        level: Level::Info,
        message: format!("`forward` returns the string {string}: the exported graph drops it"),
        note: "ONNX outputs of a traced model are tensors",
        help: "return the string outside of `forward`".into(),
    }
}

/// Returns the finding about an operation that promotes its result to float64.
///
/// `explicit` is true if the float64 operand depends on an input of `forward`.
pub fn promotion(code: &str, explicit: bool) -> Words {
    Words {
        rule: rule_ids::FLOAT64_PROMOTION,
        level: if explicit { Level::Info } else { Level::Warning },
        message: format!("`{code}` promotes its result to float64: an operand is float64"),
        note: "float64 takes twice the memory of float32, is slower, and is not supported by many runtimes",
        help: "create this operand with `dtype=torch.float32`, or convert it with `.to(x.dtype)`".into(),
    }
}

/// Returns the finding about a float16 tensor multiplied by a number out of its range.
pub fn overflow(code: &str, number: f64) -> Words {
    Words {
        rule: rule_ids::CONSTANT_OVERFLOW,
        level: Level::Warning,
        message: format!("`{code}` multiplies float16 by {number:e}, which overflows float16"),
        note: "exporters store the number as -inf or inf, and 0 * inf is NaN",
        help: "use `torch.where(keep, x, torch.finfo(x.dtype).min)`".into(),
    }
}

/// Returns the finding about `one_hot` without a number of classes.
pub fn one_hot(node: Node, source: &str) -> Words {
    let arguments = Arguments::of(node, source);
    let function = field(node, "function").map_or("", |function| text(function, source));
    let labels = arguments.positional.first().map_or("labels", |labels| text(*labels, source));
    Words {
        rule: rule_ids::ONE_HOT_DEPTH,
        level: Level::Error,
        message: format!("`{}` derives the number of classes from the data", text(node, source)),
        note: "the tracing exporter writes OneHot with depth -1, which no runtime supports; torch.export fails",
        help: format!("pass the number of classes: `{function}({labels}, num_classes=N)`").into(),
    }
}

/// Returns the finding about a call of a `torch.autograd.Function` without `symbolic`.
pub fn python_operator(class: &str) -> Words {
    Words {
        rule: rule_ids::PYTHON_OP,
        level: Level::Info,
        message: format!("`{class}.apply` calls a `torch.autograd.Function` without a `symbolic` method"),
        note: "exporters that do not inline such functions (PyTorch before 2.0, or `autograd_inlining=False`) fail, \
               or write an operator that no runtime supports",
        help: format!("add a static method `symbolic(g, x)` to `{class}`, or call its computation directly")
            .into(),
    }
}

/// Returns the finding about a layer or function in training mode. `why` is the cause.
pub fn training(what: &str, why: &str, help: Help) -> Words {
    Words {
        rule: rule_ids::TRAINING_MODE,
        level: Level::Error,
        message: format!("`{what}` is exported in training mode: {why}"),
        note: "`model.eval()` does not affect it; the graph then drops elements at random, or uses the statistics of \
               each batch",
        help,
    }
}
