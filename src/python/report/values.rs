//! Messages about values that leave the trace.

use tree_sitter::Node;

use crate::diag::rule_ids;
use crate::diag::{Applicability, Finding, Level};

use super::super::numpy::torch_name;
use super::super::syntax::{Arguments, field, on_one_line, one_line, text};
use super::super::value::Origin;
use super::rewrite::{Help, Piece};
use super::{Words, by_origin};

pub fn item(statement: Node, node: Node, write: &str, origin: Origin, source: &str) -> Words {
    let call = one_line(node, source);
    let message = match origin {
        Origin::State => {
            format!("`{call}` converts a weight to a Python number, which becomes a constant of the graph")
        }
        _ => format!(
            "`{call}` turns a tensor into a Python value: the graph keeps the value of the example input"
        ),
    };
    Words {
        rule: rule_ids::ITEM_BAKED,
        level: by_origin(origin, Level::Warning),
        message,
        note: "the tracing exporter follows tensors, not Python numbers: for any other input the result is that of the \
               example; the one based on torch.export makes a symbol of it, or refuses it",
        help: kept("it a tensor", statement, node, write, source),
    }
}

/// Reports a tensor created from the elements of tensors; the tracer warns as for NumPy arrays.
pub fn copied(statement: Node, node: Node, write: &str, origin: Origin, source: &str) -> Words {
    let call = one_line(node, source);
    Words {
        rule: rule_ids::NUMPY_CONSTANT,
        level: by_origin(origin, Level::Warning),
        message: format!("`{call}` is stored in the graph as it was for the example input"),
        note: "a new tensor is made of the numbers that the tensors in it hold while tracing",
        help: kept("them tensors", statement, node, write, source),
    }
}

/// Reports `torch.tensor([x.shape[0], 4])`; the tracer follows `torch.tensor(x.shape[0])`.
pub fn sizes_copied(node: Node, source: &str) -> Words {
    let call = one_line(node, source);
    Words {
        rule: rule_ids::NUMPY_CONSTANT,
        level: Level::Info,
        message: format!("`{call}` stores sizes in the graph as they were for the example input"),
        note: "a list of sizes is read as numbers, which a trace does not follow; torch.export keeps them symbols",
        help: "compute with the sizes themselves, or make each a tensor: `torch.stack([torch.tensor(n) for n in \
               x.shape])`"
            .into(),
    }
}

/// Reports a size converted to a number.
/// `written` is the size itself, `piece` its replacement for the call.
pub fn size_made_number(call: &str, written: &str, piece: Option<Piece>) -> Words {
    Words {
        rule: rule_ids::BAKED_SHAPE,
        level: Level::Info,
        message: format!("`{call}` makes a Python number of a size, which a trace does not follow"),
        note: "sizes are tensors while tracing; made plain numbers they stay as they were for the example input; \
               torch.export keeps them symbols, or refuses",
        help: Help::new(
            format!("use `{written}` itself, with integer arithmetic (`//`) where it is needed"),
            piece,
        ),
    }
}

/// Note for a number that both exporters fix to its traced value.
const OF_FRACTION: &str = "sizes are followed while they are whole: the integer of a half or a third of one is that of the \
                           example input, with torch.export too";

/// Reports `int(x.shape[1] / 2)`, which torch.export accepts silently, too.
pub fn fraction_made_number(call: &str, piece: Option<Piece>) -> Words {
    Words {
        note: OF_FRACTION,
        help: match piece {
            Some(piece) => Help::new(format!("divide whole numbers: `{}`", piece.text()), Some(piece)),
            None => "divide whole numbers: `x.shape[1] // 2`, and `n * 3 // 2` for `int(1.5 * n)`".into(),
        },
        ..size_made_number(call, "", None)
    }
}

/// Returns true if a finding is about the integer of a fractional size.
pub fn is_size_fraction(finding: &Finding) -> bool {
    *finding.code == *rule_ids::BAKED_SHAPE.code && finding.notes.iter().any(|note| note == OF_FRACTION)
}

pub fn to_numpy(node: Node, source: &str) -> Words {
    let call = one_line(node, source);
    Words {
        rule: rule_ids::NUMPY_CONSTANT,
        level: Level::Warning,
        message: format!("`{call}` leaves PyTorch: NumPy results become constants of the example input"),
        note: "NumPy's operations are not recorded, and torch.export has no values to give it",
        help: "stay in PyTorch: `x.max()` for `x.numpy().max()`, `torch.` functions for `np.` ones".into(),
    }
}

pub fn numpy_function(node: Node, name: &str, of_tensor: bool, source: &str) -> Words {
    let call = one_line(node, source);
    let of = if of_tensor { "a tensor" } else { "the sizes of a tensor" };
    let inside = field(node, "arguments").map_or("", |arguments| text(arguments, source));
    Words {
        rule: rule_ids::NUMPY_CONSTANT,
        // Most sizes never vary, as in `np.prod(x.shape[1:])`. The graph shows those that do.
        level: if of_tensor { Level::Warning } else { Level::Info },
        message: format!(
            "`{call}` computes with {of} in NumPy: the result is a constant of the example input"
        ),
        note: "the exporter records PyTorch operations, not NumPy operations",
        help: match torch_name(name) {
            Some(torch) if of_tensor => format!("write `torch.{torch}{inside}`").into(),
            _ if of_tensor => "compute it by functions of `torch`".into(),
            _ => "compute with the sizes themselves: `math.prod(x.shape[1:])`, `x.flatten(1)`, `//`".into(),
        },
    }
}

pub fn array_meets_tensor(code: &str) -> Words {
    Words {
        rule: rule_ids::NUMPY_CONSTANT,
        level: Level::Warning,
        message: format!("`{code}` mixes a tensor with a NumPy array, which becomes a constant"),
        note: "the exporter records PyTorch operations, not NumPy operations",
        help: "make the array a tensor once, in `__init__`: `self.register_buffer(\"table\", torch.from_numpy(a))`".into(),
    }
}

pub fn from_numpy(node: Node, source: &str, level: Level) -> Words {
    let call = one_line(node, source);
    let made = Arguments::of(node, source).positional.first().copied();
    let numpy = made.and_then(|made| field(made, "function")).map(|function| text(function, source));
    let torch = numpy.and_then(|name| name.rsplit('.').next()).and_then(torch_name);
    Words {
        rule: rule_ids::NUMPY_CONSTANT,
        level,
        message: format!("`{call}` is stored in the graph as it was for the example input"),
        note: "what comes from NumPy has no history; if its values or sizes depend on the input, they are those of \
               the example",
        help: match torch {
            Some(torch) => {
                format!("make it by `torch.{torch}` with sizes taken from the input (`x.shape[0]`)").into()
            }
            None => "make it by functions of `torch`, or once in `__init__` as a buffer".into(),
        },
    }
}

pub fn tensor_data(attribute: Node, source: &str) -> Words {
    let object = field(attribute, "object").map_or("", |object| text(object, source));
    Words {
        rule: rule_ids::TENSOR_DATA,
        level: Level::Warning,
        message: format!("`{object}.data` hides `{object}` from the trace"),
        note: "`.data` is the tensor without its history: writes to it are not visible through the original, \
               and torch.export may refuse it",
        help: Help::new(
            format!("write `{object}.detach()` to stop gradients, `{object}.clone()` for a copy to change"),
            Piece::detached(attribute, source),
        ),
    }
}

pub fn dictionary_output(node: Node, source: &str, is_data: bool) -> Words {
    let shown = one_line(node, source);
    Words {
        rule: rule_ids::DICT_OUTPUT,
        level: Level::Info,
        message: format!(
            "`forward` returns {} (`{shown}`): the exported outputs have no keys",
            if is_data { "a data class" } else { "a dictionary" }
        ),
        note: "ONNX outputs are tensors in a fixed order; the keys are gone, and the order is that of the container",
        help: "return a tuple, or give the keys as `output_names` to the export".into(),
    }
}

pub fn string_output(string: &str) -> Words {
    Words {
        rule: rule_ids::DICT_OUTPUT,
        level: Level::Info,
        message: format!("`forward` returns the string {string}: the exported graph drops it"),
        note: "ONNX outputs of a traced model are tensors",
        help: "return it outside of `forward`".into(),
    }
}

pub fn promotion(code: &str, explicit: bool) -> Words {
    Words {
        rule: rule_ids::FLOAT64_PROMOTION,
        level: if explicit { Level::Info } else { Level::Warning },
        message: format!("`{code}` meets a float64 tensor: the result is float64"),
        note: "float64 costs twice the memory and more than twice the time, and many runtimes do not take it",
        help: "make the constant `dtype=torch.float32`, or of the type of the other: `.to(x.dtype)`".into(),
    }
}

pub fn overflow(code: &str, number: f64) -> Words {
    Words {
        rule: rule_ids::CONSTANT_OVERFLOW,
        level: Level::Warning,
        message: format!("`{code}` multiplies float16 by {number:e}, which it cannot hold"),
        note: "exporters store the number as -inf or inf, and 0 * inf is NaN",
        help: "use `torch.where(keep, x, torch.finfo(x.dtype).min)`".into(),
    }
}

pub fn one_hot(node: Node, source: &str) -> Words {
    let arguments = Arguments::of(node, source);
    let function = field(node, "function").map_or("", |function| text(function, source));
    let labels = arguments.positional.first().map_or("labels", |labels| text(*labels, source));
    Words {
        rule: rule_ids::ONE_HOT_DEPTH,
        level: Level::Error,
        message: format!("`{}` takes the number of classes from the data", text(node, source)),
        note: "the tracing exporter writes OneHot with depth -1, which no runtime accepts; torch.export refuses it",
        help: format!("write `{function}({labels}, num_classes=N)`").into(),
    }
}

pub fn python_operator(class: &str) -> Words {
    Words {
        rule: rule_ids::PYTHON_OP,
        level: Level::Info,
        message: format!("`{class}.apply` calls a Python function without a `symbolic` form"),
        note: "exporters that do not look into a `torch.autograd.Function` (PyTorch before 2.0, or \
               `autograd_inlining=False`) stop here, or write an operator that no runtime has",
        help: format!("give `{class}` a static method `symbolic(g, x)`, or call its computation directly")
            .into(),
    }
}

pub fn training(what: &str, why: &str, piece: Option<Piece>) -> Words {
    Words {
        rule: rule_ids::TRAINING_MODE,
        level: Level::Error,
        message: format!("`{what}` is exported in training mode: {why}"),
        note: "`model.eval()` does not reach it; the graph then drops at random, or uses the statistics of each batch",
        help: Help::new("pass `training=self.training`, or make the layer in `__init__`", piece),
    }
}

/// Returns the help to keep `what`, showing `statement` with `node` replaced by `by`.
fn kept(what: &str, statement: Node, node: Node, by: &str, source: &str) -> Help {
    // No fix in conditions, which would branch on a tensor, nor for `int`, which truncates.
    let is_simple = matches!(statement.kind(), "expression_statement" | "return_statement");
    let is_cut = field(node, "function").is_some_and(|function| text(function, source) == "int");
    let piece = || Piece::instead(node, by, Applicability::Unsafe, source);
    let text = format!("keep {what}: `{}`", rewritten(statement, node, by, source));
    Help::new(text, (is_simple && !is_cut).then(piece).flatten())
}

/// Renders the head of a statement on one line, with `node` replaced by `by`.
fn rewritten(whole: Node, node: Node, by: &str, source: &str) -> String {
    let body = field(whole, "body").or_else(|| field(whole, "consequence"));
    let end = body.map_or(whole.end_byte(), |body| body.start_byte()).max(node.end_byte());
    let before = source.get(whole.start_byte()..node.start_byte()).unwrap_or("");
    let after = source.get(node.end_byte()..end).unwrap_or("");
    on_one_line(&format!("{before}{by}{after}"))
}
