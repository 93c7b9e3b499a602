//! Conversion of export exceptions to findings: message, note and help.

use crate::diag::Level;
use crate::diag::rule_ids;
use crate::python::on_one_line;

use super::rejected::Rejection;
use super::remark::{Input, Kind, Remark};
use super::report::{Words, shown};
use super::violation::Guard;

/// Returns the finding for a remark about a failed export.
pub fn words(remark: &Remark) -> Option<Words> {
    let code = remark.code();
    match &remark.kind {
        Kind::Specialized { input, axis, size } => {
            Some(specialized(input, *axis, *size, code, remark.certain))
        }
        Kind::Guarded { guard } => Some(guarded(guard)),
        Kind::Equal { one, other } => Some(equal(one, other)),
        Kind::ZeroOneSpecialized { input, axis, size } => Some(zero_one(input, *axis, *size)),
        // `float(x.mean())` raises the same exception as a branch on data does.
        Kind::DataDependentBranch { expression } if makes_number(code) => Some(value(expression, code)),
        Kind::DataDependentBranch { expression } => Some(branch(expression, code)),
        Kind::DataDependentNumber { expression } => Some(value(expression, code)),
        Kind::NumpyCall => Some(numpy(code)),
        Kind::Unsupported { operator, opset, since } => Some(unsupported(operator, *opset, *since)),
        Kind::PythonOperator { name } => Some(python_operator(name)),
        Kind::IndexPutNonConsecutive => Some(index_put(code)),
        Kind::DictOutput { fatal } => Some(dictionary(*fatal)),
        Kind::ConstantOutput => Some(constant_output()),
        Kind::Rejected(rejection) => Some(rejected(rejection)),
        Kind::NotConverted { requested, kept, message } => Some(unconverted(*requested, *kept, message)),
        Kind::Failed { class, message } => Some(failed(class, message)),
        _ => None,
    }
}

/// Describes a dimension, as far as it is known: "axis 0 of `x`".
fn dimension(input: &Input, axis: Option<u32>) -> String {
    let axis = axis.map_or("an axis".to_owned(), |axis| format!("axis {axis}"));
    match input {
        Input::Named(name) => format!("{axis} of `{name}`"),
        Input::Position(at) => format!("{axis} of input {at}"),
        Input::Unknown => axis,
    }
}

fn specialized(input: &Input, axis: Option<u32>, size: Option<i64>, code: &str, certain: bool) -> Words {
    let size = size.map_or("its traced size".to_owned(), |size| format!("size {size}"));
    let dimension = dimension(input, axis);
    let write = match (input, axis) {
        (Input::Named(name), Some(axis)) => format!("`{name}.shape[{axis}]`"),
        _ => "the size (`x.shape[0]`)".to_owned(),
    };
    let by = match (code, certain) {
        ("", _) => String::new(),
        (_, true) => format!("`{code}` fixes a size: "),
        (_, false) => format!("`{code}` probably fixes a size: "),
    };
    Words {
        rule: rule_ids::BAKED_SHAPE,
        level: Level::Error,
        message: format!("{by}{dimension} is declared dynamic, but the model works only for {size}"),
        note: "torch.export traced the model with a symbolic size, and found that only one value is valid",
        help: format!(
            "if {size} is a literal in the code or a result of `int()`, use {write} instead; \
             `reshape` accepts -1 for one axis"
        ),
    }
}

fn guarded(guard: &Guard) -> Words {
    Words {
        rule: rule_ids::BAKED_SHAPE,
        level: Level::Error,
        message: format!("{}, but the declared range also contains other sizes", guard.in_words()),
        note: "a branch of the model (`if x.shape[1] > 8`) or of an operator is valid only for some sizes",
        help: "declare this range in `dynamic_shapes`, or remove the branch from the model".into(),
    }
}

fn equal(one: &str, other: &str) -> Words {
    Words {
        rule: rule_ids::BAKED_SHAPE,
        level: Level::Error,
        message: format!("`{one}` must equal `{other}`, but both are declared as independent dynamic axes"),
        note: "an operator of the model requires equal sizes",
        help: "use the same `Dim` for both axes in `dynamic_shapes`".into(),
    }
}

fn zero_one(input: &Input, axis: Option<u32>, size: i64) -> Words {
    Words {
        rule: rule_ids::BAKED_SHAPE,
        level: Level::Error,
        message: format!(
            "{} is declared dynamic, but has size {size} in the example input",
            dimension(input, axis)
        ),
        note: "torch.export treats sizes 0 and 1 as static, because broadcasting depends on them",
        help: "use an example input of size 2 or more on this axis".into(),
    }
}

/// Renders an expression in parentheses, truncated: it may be a sum over all classes of a detector.
fn in_brackets(expression: &str) -> String {
    if expression.is_empty() { String::new() } else { format!(" (`{}`)", on_one_line(expression)) }
}

fn branch(expression: &str, code: &str) -> Words {
    let on = in_brackets(expression);
    let loops = code.starts_with("for ") || code.starts_with("while ");
    Words {
        rule: rule_ids::TRACED_BRANCH,
        level: Level::Error,
        message: format!(
            "{} depends on a value of the input{on}, which is unknown during the export",
            shown(code, "a Python branch")
        ),
        note: "torch.export traces the model without data, so Python cannot branch on tensor values",
        help: if loops {
            "use `torch.while_loop` or `torch._higher_order_ops.scan`, or compute the whole tensor at once"
                .into()
        } else {
            "use `torch.cond(condition, true_fn, false_fn, operands)`, or compute both branches and select with \
             `torch.where(condition, a, b)`"
                .into()
        },
    }
}

/// Returns true if a line converts a tensor to a Python number, and has no condition.
fn makes_number(code: &str) -> bool {
    let numbers = ["float(", "int(", ".item()", ".tolist()"];
    let decides =
        ["if ", "while ", "assert ", " and ", " or ", "not ", "bool(", " < ", " > ", " <= ", " >= ", " == "];
    numbers.iter().any(|call| code.contains(call)) && !decides.iter().any(|word| code.contains(word))
}

fn value(expression: &str, code: &str) -> Words {
    let of = in_brackets(expression);
    Words {
        rule: rule_ids::ITEM_BAKED,
        level: Level::Error,
        message: format!(
            "{} converts a tensor to a Python number{of}, which is unknown during the export",
            shown(code, "the model")
        ),
        note: "torch.export traces the model without data, so tensors have no values",
        help:
            "keep it a tensor: omit `int()`, `float()` or `.item()` in computations; if the value is a size, \
               declare its range with `torch._check(n >= 0)`"
                .into(),
    }
}

fn numpy(code: &str) -> Words {
    Words {
        rule: rule_ids::NUMPY_CONSTANT,
        level: Level::Error,
        message: format!("{} passes a tensor to NumPy, which cannot be exported", shown(code, "the model")),
        note: "torch.export traces the model without data, so NumPy has no values to compute with",
        help: "stay in PyTorch: `x.max()` instead of `x.numpy().max()`, and `torch.` functions instead of `np.` ones"
            .into(),
    }
}

fn unsupported(operator: &str, opset: Option<u32>, since: Option<u32>) -> Words {
    let at = opset.map_or(String::new(), |opset| format!(" in opset {opset}"));
    let name = shown(operator, "an operator of the model");
    let help = match since {
        Some(since) => format!("export with `opset_version={since}` or newer, which supports it"),
        None if operator.contains("::") => format!(
            "replace the operator by supported ones, or register a lowering: \
             `torch.onnx.register_custom_op_symbolic(\"{operator}\", fn, {})`",
            opset.unwrap_or(17)
        ),
        None => {
            "replace the operator by supported ones, or register a lowering with `custom_translation_table` of \
                 `torch.onnx.export(..., dynamo=True)`"
                .to_owned()
        }
    };
    Words {
        rule: rule_ids::UNSUPPORTED_OP,
        level: Level::Error,
        message: format!("{name} is not supported{at} by this exporter"),
        note: "the export failed, and wrote no model",
        help,
    }
}

fn python_operator(name: &str) -> Words {
    Words {
        rule: rule_ids::PYTHON_OP,
        level: Level::Error,
        message: format!(
            "{} is a Python function that the exporter cannot inline",
            shown(name, "a `torch.autograd.Function`")
        ),
        note: "the tracer records a `torch.autograd.Function` as one opaque node",
        help: "add a static method `symbolic`, or call its forward computation directly when exporting"
            .into(),
    }
}

fn index_put(code: &str) -> Words {
    Words {
        rule: rule_ids::INDEX_PUT_NON_CONSECUTIVE,
        level: Level::Error,
        message: format!(
            "{} writes through index tensors that are not adjacent",
            shown(code, "an indexed assignment")
        ),
        note: "the tracing exporter supports only adjacent 1-d index tensors in an assignment",
        help: "make the indexed axes adjacent (`y = x.transpose(1, 2); y[i, j] = v`), or export with \
               `dynamo=True`"
            .into(),
    }
}

fn dictionary(fatal: bool) -> Words {
    Words {
        rule: rule_ids::DICT_OUTPUT,
        level: if fatal { Level::Error } else { Level::Info },
        message: "an output is a dictionary or a string, which traced graphs do not support".into(),
        note: "ONNX outputs are tensors in a fixed order",
        help: "return a tuple of tensors, and pass `output_names` to the export".into(),
    }
}

fn constant_output() -> Words {
    Words {
        rule: rule_ids::CONSTANT_OUTPUT,
        level: Level::Error,
        message: "an output does not depend on any input".into(),
        note: "the tracer found no path from the inputs to the output, which is computed from constants, or \
               outside of PyTorch",
        help: "compute the output from the inputs with torch functions, or remove it".into(),
    }
}

fn rejected(rejection: &Rejection) -> Words {
    let Rejection { runtime, file, node, reason, in_run } = rejection;
    let model = shown(file, "the model");
    let at = if node.is_empty() { String::new() } else { format!(" at node `{node}`") };
    let message = match in_run {
        true => format!("{runtime} fails{at}: {reason}"),
        false => format!("{runtime} rejects {model}{at}: {reason}"),
    };
    Words {
        rule: rule_ids::EXPORT_FAILED,
        level: Level::Error,
        message,
        note: "the model was written, but the runtime reports an error",
        help: match &**file {
            "" => "lint the model: `onnx-lint MODEL.onnx`".to_owned(),
            file => format!("lint the model: `onnx-lint {file}`"),
        },
    }
}

fn unconverted(requested: Option<u32>, kept: Option<u32>, message: &str) -> Words {
    let kept = kept.map_or("its own opset".to_owned(), |opset| format!("opset {opset}"));
    let to = requested.map_or(String::new(), |opset| format!(" to opset {opset}"));
    let opset = requested.map_or("N".to_owned(), |opset| opset.to_string());
    Words {
        rule: rule_ids::EXPORT_FAILED,
        level: Level::Warning,
        message: format!("the model was written with {kept}: the conversion{to} failed: {message}"),
        note: "if the conversion after the export fails, the exporter writes the unconverted model",
        help: format!("convert the model: `onnx-fix --opset {opset} MODEL.onnx`"),
    }
}

fn failed(class: &str, message: &str) -> Words {
    if class.is_empty() && message.is_empty() {
        return Words {
            rule: rule_ids::EXPORT_FAILED,
            level: Level::Info,
            message: "the log ends within a traceback: the exception is missing".into(),
            note: "the missing lines state why the export failed",
            help: "keep the whole output of the export (`python export.py > export.log 2>&1`)".into(),
        };
    }
    Words {
        rule: rule_ids::EXPORT_FAILED,
        level: Level::Error,
        message: format!(
            "the export failed: {}{}{message}",
            class.rsplit('.').next().unwrap_or(class),
            if message.is_empty() { "" } else { ": " }
        ),
        note: "if the export raised this exception, it wrote no model",
        help: String::new(),
    }
}
