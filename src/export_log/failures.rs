//! What the exceptions of an export mean, and what to write instead.

use crate::diag::Level;
use crate::diag::rule_ids;
use crate::python::on_one_line;

use super::finding::{Words, shown};
use super::remark::{Input, Kind, Remark};
use super::violation::Guard;

/// The words for a remark that stopped the export.
pub fn words(remark: &Remark) -> Option<Words> {
    let code = remark.code();
    match &remark.kind {
        Kind::Specialized { input, axis, size } => {
            Some(specialized(input, *axis, *size, code, remark.certain))
        }
        Kind::Guarded { guard } => Some(guarded(guard)),
        Kind::Equal { one, other } => Some(equal(one, other)),
        Kind::ZeroOneSpecialized { input, axis, size } => Some(zero_one(input, *axis, *size)),
        // `float(x.mean())` asks as a branch does, where no branch is.
        Kind::DataDependentBranch { expression } if makes_number(code) => Some(value(expression, code)),
        Kind::DataDependentBranch { expression } => Some(branch(expression, code)),
        Kind::DataDependentNumber { expression } => Some(value(expression, code)),
        Kind::NumpyCall => Some(numpy(code)),
        Kind::Unsupported { operator, opset, since } => Some(unsupported(operator, *opset, *since)),
        Kind::PythonOperator { name } => Some(python_operator(name)),
        Kind::IndexPutNonConsecutive => Some(index_put(code)),
        Kind::DictOutput { fatal } => Some(dictionary(*fatal)),
        Kind::ConstantOutput => Some(constant_output()),
        Kind::Failed { class, message } => Some(failed(class, message)),
        _ => None,
    }
}

/// "axis 0 of `x`", as far as the exception tells.
fn dimension(input: &Input, axis: Option<u32>) -> String {
    let axis = axis.map_or("an axis".to_owned(), |axis| format!("axis {axis}"));
    match input {
        Input::Named(name) => format!("{axis} of `{name}`"),
        Input::Position(at) => format!("{axis} of input {at}"),
        Input::Unknown => axis,
    }
}

fn specialized(input: &Input, axis: Option<u32>, size: Option<i64>, code: &str, certain: bool) -> Words {
    let size = size.map_or("its traced size".to_owned(), |size| size.to_string());
    let dimension = dimension(input, axis);
    let write = match (input, axis) {
        (Input::Named(name), Some(axis)) => format!("`{name}.shape[{axis}]`"),
        _ => "the size (`x.shape[0]`)".to_owned(),
    };
    let by = match (code, certain) {
        ("", _) => String::new(),
        (_, true) => format!("`{code}` fixes a size: "),
        (_, false) => format!("`{code}` seems to fix a size: "),
    };
    Words {
        rule: rule_ids::BAKED_SHAPE,
        level: Level::Error,
        message: format!("{by}{dimension} is meant to be free, but the model works for {size} only"),
        note: "torch.export ran the model with a symbol for this size and found that only one value fits",
        help: format!(
            "where {size} is written as a number, or was made one by `int()`, write {write}; \
            `reshape` takes -1 for one axis"
        ),
    }
}

fn guarded(guard: &Guard) -> Words {
    Words {
        rule: rule_ids::BAKED_SHAPE,
        level: Level::Error,
        message: format!("{}, but is promised to be free", guard.in_words()),
        note: "a decision of the model, `if x.shape[1] > 8`, or of an operator, goes one way for some sizes only",
        help: "give the range to the export, or write the model without the decision".into(),
    }
}

fn equal(one: &str, other: &str) -> Words {
    Words {
        rule: rule_ids::BAKED_SHAPE,
        level: Level::Error,
        message: format!("`{one}` has to equal `{other}`, but both are promised to be free"),
        note: "the model works only where the two sizes are equal: an operator takes both",
        help: "give both axes the same `Dim` in `dynamic_shapes`".into(),
    }
}

fn zero_one(input: &Input, axis: Option<u32>, size: i64) -> Words {
    Words {
        rule: rule_ids::BAKED_SHAPE,
        level: Level::Error,
        message: format!(
            "{} is meant to be free, but has size {size} in the example input",
            dimension(input, axis)
        ),
        note: "torch.export treats the sizes 0 and 1 as fixed, since broadcasting depends on them",
        help: "export with an example of size 2 or more on this axis".into(),
    }
}

/// What was asked; the number of boxes that a detector keeps is a sum over all its classes, so that it is cut.
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
            "{} needs a value of the input{on}, which the export does not have",
            shown(code, "a Python decision")
        ),
        note: "torch.export runs the model without data; Python cannot choose a branch by a tensor's value",
        help: if loops {
            "use `torch.while_loop` or `torch.scan`, or write it for the whole tensor at once".into()
        } else {
            "write `torch.cond(condition, true_fn, false_fn, operands)`, or compute both ways and choose by \
             `torch.where(condition, a, b)`"
                .into()
        },
    }
}

/// Whether a line makes a Python number of a tensor, and decides nothing.
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
        message: format!("{} needs a Python number out of a tensor{of}, which the export does not have",
            shown(code, "the model")),
        note: "torch.export runs the model without data, so no tensor has a value that Python could take",
        help: "keep it a tensor: leave out `int()`, `float()` or `.item()` where the value is computed with; where \
               it is a size, tell its range by `torch._check(n >= 0)`"
            .into(),
    }
}

fn numpy(code: &str) -> Words {
    Words {
        rule: rule_ids::NUMPY_CONSTANT,
        level: Level::Error,
        message: format!("{} hands a tensor to NumPy, which cannot be exported", shown(code, "the model")),
        note: "torch.export runs the model without data; NumPy has nothing to compute with",
        help: "stay in PyTorch: `x.max()` for `x.numpy().max()`, `torch.` functions for `np.` ones".into(),
    }
}

fn unsupported(operator: &str, opset: Option<u32>, since: Option<u32>) -> Words {
    let at = opset.map_or(String::new(), |opset| format!(" in opset {opset}"));
    let name = shown(operator, "an operator of the model");
    let help = match since {
        Some(since) => format!("export with `opset_version={since}` or newer, where it has one"),
        None if operator.contains("::") => format!(
            "express it by operators that ONNX has, or give it a form: \
             `torch.onnx.register_custom_op_symbolic(\"{operator}\", fn, {})`",
            opset.unwrap_or(17)
        ),
        None => "express it by operators that ONNX has, or give it a form by `custom_translation_table` of \
                 `torch.onnx.export(..., dynamo=True)`"
            .to_owned(),
    };
    Words {
        rule: rule_ids::UNSUPPORTED_OP,
        level: Level::Error,
        message: format!("{name} has no ONNX form{at} in this exporter"),
        note: "the export stopped there, and wrote no model",
        help,
    }
}

fn python_operator(name: &str) -> Words {
    Words {
        rule: rule_ids::PYTHON_OP,
        level: Level::Error,
        message: format!(
            "{} is a Python function that the exporter cannot look into",
            shown(name, "a `torch.autograd.Function`")
        ),
        note: "a `torch.autograd.Function` is one opaque node to the tracer",
        help: "give it a `symbolic` static method, or call its forward computation directly when exporting"
            .into(),
    }
}

fn index_put(code: &str) -> Words {
    Words {
        rule: rule_ids::INDEX_PUT_NON_CONSECUTIVE,
        level: Level::Error,
        message: format!(
            "{} writes through index tensors that are not next to each other",
            shown(code, "an indexed assignment")
        ),
        note: "the tracing exporter takes only consecutive 1-d index tensors in an assignment",
        help: "move the indexed axes together first (`y = x.transpose(1, 2); y[i, j] = v`), or export with \
               `dynamo=True`"
            .into(),
    }
}

fn dictionary(fatal: bool) -> Words {
    Words {
        rule: rule_ids::DICT_OUTPUT,
        level: if fatal { Level::Error } else { Level::Info },
        message: "an output is a dictionary or a string, which a traced graph does not have".into(),
        note: "ONNX outputs are tensors in a fixed order",
        help: "return a tuple of tensors, and give `output_names` to the export".into(),
    }
}

fn constant_output() -> Words {
    Words {
        rule: rule_ids::CONSTANT_OUTPUT,
        level: Level::Error,
        message: "an output does not depend on any input".into(),
        note: "the tracer found no way from the inputs to it: it was made of constants, or left PyTorch on the way",
        help: "compute it from the inputs by torch functions, or leave it out".into(),
    }
}

fn failed(class: &str, message: &str) -> Words {
    if class.is_empty() && message.is_empty() {
        return Words {
            rule: rule_ids::EXPORT_FAILED,
            level: Level::Info,
            message: "the log ends within a traceback: what the exception says is missing".into(),
            note: "only what stands before it could be read",
            help: "keep the whole output of the export (`python export.py > export.log 2>&1`)".into(),
        };
    }
    Words {
        rule: rule_ids::EXPORT_FAILED,
        level: Level::Error,
        message: format!(
            "the export stopped: {}{}{message}",
            class.rsplit('.').next().unwrap_or(class),
            if message.is_empty() { "" } else { ": " }
        ),
        note: "no model was written",
        help: String::new(),
    }
}
