//! Conversion of remarks to findings: message, note and help.

use crate::diag::rule_ids;
use crate::diag::{Finding, Level, Place, TextPlace};

use super::code::{
    compares_counts, condition, decides, is_loop, is_of_counts, is_state, of_model, reads_shape,
};
use super::constants::constant_tensor;
use super::failures;
use super::remark::{Kind, PythonType, Remark};
use super::report::{Words, shown};

/// Converts a remark to a finding; returns `None` for a harmless one.
pub fn finding(remark: &Remark) -> Option<Finding> {
    let words = words(remark)?;
    let from_tracer = !matches!(remark.kind, Kind::MutationRemoved { .. } | Kind::TrainingMode { .. });
    let is_harmless = remark.in_library && from_tracer || remark.is_of_a_value() && remark.is_in_a_package();
    let level = if is_harmless { words.level.min(Level::Info) } else { words.level };
    let in_log = in_log(remark);
    let place = remark.place.clone().map_or_else(|| in_log.clone(), Place::Source);
    let mut finding = words.rule.at(level).finding(words.message, place).note(words.note);
    if !words.help.is_empty() {
        finding = finding.help(words.help);
    }
    let finding_with = |finding: Finding, detail: &String| finding.note(detail.clone());
    finding = remark.details.iter().fold(finding, finding_with);
    if remark.count > 1 {
        finding = finding.note(format!("repeated {} times in the log", remark.count));
    }
    if remark.place.is_some() {
        finding = finding.related(in_log, "reported by the exporter here");
    }
    Some(finding)
}

/// Returns the position of a remark in the log.
fn in_log(remark: &Remark) -> Place {
    let width = u32::try_from(remark.log_text.trim_end().chars().count()).unwrap_or(u32::MAX);
    Place::Text(TextPlace { line: remark.log_line, column: 1, width, text: remark.log_text.clone() })
}

fn words(remark: &Remark) -> Option<Words> {
    match &remark.kind {
        Kind::PythonValue(python) => Some(python_value(*python, remark)),
        Kind::ConstantTensor { function } => constant_tensor(function, remark.code()),
        Kind::Iteration => Some(iteration(remark)),
        Kind::Length => Some(length()),
        Kind::SharedWrite { references, operator } => Some(shared_write(*references, operator)),
        Kind::ShapeWrite => Some(shape_write(remark)),
        Kind::MutationRemoved { operator, value } => Some(mutation(operator, value)),
        Kind::AdvancedIndex => Some(advanced_index()),
        Kind::Untraced { what } => Some(untraced(what, remark.code())),
        Kind::TraceDiffers => Some(trace_differs()),
        Kind::UnknownWarning { message } => Some(unknown(message)),
        Kind::TrainingMode { operator } => Some(training(operator.as_deref())),
        Kind::UnknownDynamicAxis { name } => Some(unknown_axis(name)),
        Kind::RecurrentBatch => Some(recurrent_batch()),
        Kind::ResizeSemantics => Some(resize()),
        _ => failures::words(remark),
    }
}

fn python_value(python: PythonType, remark: &Remark) -> Words {
    let code = remark.code();
    match python {
        PythonType::Boolean if !decides(code) && code.contains("np.") => numpy_array(code),
        PythonType::Boolean => branch(code),
        PythonType::Array => numpy_array(code),
        PythonType::Integer | PythonType::Float
            if code.contains("np.") && (reads_shape(code) || is_of_counts(code)) =>
        {
            numpy_array(code)
        }
        PythonType::Index | PythonType::Integer if is_loop(code) => iteration(remark),
        PythonType::Index | PythonType::Integer | PythonType::Float if reads_shape(code) => shape_value(code),
        _ => item(python, code),
    }
}

fn branch(code: &str) -> Words {
    let asserts = code.starts_with("assert ");
    let message = if asserts {
        format!("`{code}` is checked only for the example input")
    } else {
        format!(
            "{} is evaluated while tracing: only the branch of the example input is exported",
            shown(condition(code), "a Python `if` on a tensor")
        )
    };
    Words {
        rule: rule_ids::TRACED_BRANCH,
        // All inputs may take the same branch if the condition depends on sizes or on model attributes.
        level: if asserts
            || of_model(condition(code))
            || reads_shape(code)
            || compares_counts(condition(code))
        {
            Level::Info
        } else {
            Level::Warning
        },
        message,
        note: "tracing records tensor operations, not Python control flow",
        help: if asserts {
            "use `torch._assert(condition, message)`, which torch.export records".into()
        } else {
            "compute both branches and select with `torch.where(condition, a, b)`, or use \
             `torch.cond(condition, true_fn, false_fn, operands)` with `dynamo=True`"
                .into()
        },
    }
}

fn numpy_array(code: &str) -> Words {
    Words {
        rule: rule_ids::NUMPY_CONSTANT,
        level: if is_of_counts(code) || reads_shape(code) { Level::Info } else { Level::Warning },
        message: format!(
            "{} converts a tensor to NumPy: its result becomes a constant computed from the example input",
            shown(code, "this line")
        ),
        note: "exporters record PyTorch operations, not NumPy operations",
        help: "stay in PyTorch: `x.max()` instead of `x.numpy().max()`, and `torch.` functions instead of `np.` ones"
            .into(),
    }
}

fn shape_value(code: &str) -> Words {
    Words {
        rule: rule_ids::BAKED_SHAPE,
        // Most sizes that become Python numbers are constant, as in `math.sqrt(q.shape[-1])`.
        level: Level::Info,
        message: format!(
            "{} converts a size to a Python number: the graph keeps the size of the example input",
            shown(code, "this line")
        ),
        note: "`int()` of a size, and a size used as a Python index, are not traced: at other sizes, the graph \
               still computes with that of the example input",
        help: "use the size itself (`x.shape[0]`, without `int()`), which is traced".into(),
    }
}

fn item(python: PythonType, code: &str) -> Words {
    let (call, into) = match python {
        PythonType::Float => ("float()", "a Python float"),
        PythonType::List => (".tolist()", "a Python list"),
        PythonType::Number => (".item()", "a Python number"),
        _ => ("int()", "a Python integer"),
    };
    Words {
        rule: rule_ids::ITEM_BAKED,
        level: if is_state(code) || is_of_counts(code) { Level::Info } else { Level::Warning },
        message: format!(
            "{} converts a tensor to {into}: the graph keeps the value of the example input",
            shown(code, &format!("a call of `{call}`"))
        ),
        note: "the exporter does not record Python values, so the value is fixed for all inputs",
        help: format!(
            "keep it a tensor: omit `{call}` in computations, and index with `torch.index_select` or \
             `torch.gather`"
        ),
    }
}

fn iteration(remark: &Remark) -> Words {
    let code = remark.code();
    let targets = code.split_once(" = ").map_or("", |(targets, _)| targets);
    let unpacks = targets.contains(',') && !code.contains("for ");
    if unpacks {
        return Words {
            rule: rule_ids::UNROLLED_LOOP,
            // Unpacking takes the same number of items in every run.
            level: Level::Info,
            message: format!(
                "`{code}` unpacks a tensor: the graph has the number of items of the example input"
            ),
            note: "the Python code also fails if the number of items changes",
            help: "if the number of items varies, compute with the whole tensor".into(),
        };
    }
    Words {
        rule: rule_ids::UNROLLED_LOOP,
        level: Level::Warning,
        message: format!(
            "{} is unrolled: the graph has one copy of its body for each iteration of the example input",
            shown(remark.code(), "a Python loop over a tensor")
        ),
        note: "the graph has a fixed iteration count: other inputs lose iterations, get extra ones, or fail",
        help: "compute the whole tensor at once, or use `torch._higher_order_ops.scan`, `torch.nn.GRU` or similar \
               functions, which export as one operator"
            .into(),
    }
}

fn length() -> Words {
    Words {
        rule: rule_ids::BAKED_SHAPE,
        level: Level::Info,
        message: "`len()` of a tensor is a Python integer: the graph keeps the length of the example input"
            .into(),
        note: "the tracer records `x.shape[0]`, but not `len(x)`",
        help: "use `x.shape[0]`".into(),
    }
}

fn shared_write(references: u32, operator: &str) -> Words {
    let functional = operator.trim_end_matches('_');
    Words {
        rule: rule_ids::IN_PLACE_VIEW_LOST,
        level: Level::Warning,
        message: format!(
            "`{operator}` writes to memory that {references} tensors share: in the graph, the others keep \
             their old values"
        ),
        note: "a traced graph has values, not memory: only the tensor in the write expression changes",
        help: match functional {
            // The tracer records an assignment, `y[0] = v`, as `copy_`.
            // `copy_`, `fill_` and `zero_` have no method without `_`.
            "copy" | "fill" | "zero" => {
                "create a new tensor, for example with `torch.where` or `torch.cat`, and \
                                         derive the other tensors from it"
                    .into()
            }
            _ => format!(
                "use the method that returns a new tensor (`y = y.{functional}(…)`), and derive the other tensors \
                 from it"
            ),
        },
    }
}

fn shape_write(remark: &Remark) -> Words {
    Words {
        rule: rule_ids::IN_PLACE_SHAPE_ALIAS,
        // The log does not show whether another name refers to the size.
        level: Level::Info,
        message: format!(
            "{} changes a size in place: in the graph, other variables with that size also change",
            shown(remark.code(), "an augmented assignment (`+=`)")
        ),
        note: "the tracer represents sizes as tensors, which `+=` changes in place; plain Python uses immutable \
               integers",
        help: "create a new value: `n = n + 2` instead of `n += 2`".into(),
    }
}

fn mutation(operator: &str, value: &str) -> Words {
    if value.ends_with("num_batches_tracked") || value.contains("running_") {
        return training(Some("batch_norm"));
    }
    let operator = operator.trim_start_matches("aten::");
    Words {
        rule: rule_ids::IN_PLACE_VIEW_LOST,
        level: Level::Info,
        message: format!(
            "`{operator}` writes to the input `{value}`; the exported graph computes a new value instead"
        ),
        note: "an ONNX graph does not modify its inputs: a caller that reads the input afterwards gets its old value",
        help: "return the changed tensor if callers need it".into(),
    }
}

fn advanced_index() -> Words {
    Words {
        rule: rule_ids::NEGATIVE_INDEX,
        level: Level::Info,
        message:
            "several index tensors are exported as one index over flattened axes: negative indices read the \
             wrong elements"
                .into(),
        note: "the exporter does not add the axis size to negative indices",
        help: "make the indices non-negative first: `torch.where(i < 0, i + x.shape[0], i)`".into(),
    }
}

fn untraced(what: &str, code: &str) -> Words {
    Words {
        rule: rule_ids::NUMPY_CONSTANT,
        level: Level::Warning,
        message: if what.is_empty() {
            "a constant of the graph has another value in a second trace".to_owned()
        } else {
            format!("{} uses `{what}`, which is not recorded", shown(code, "the model"))
        },
        note: "values that the tracer cannot record become constants computed from the example input",
        help: "use recorded functions: `view` or `reshape` instead of `resize_`, and torch functions of the inputs \
               instead of computations in Python"
            .into(),
    }
}

fn trace_differs() -> Words {
    Words {
        rule: rule_ids::TRACED_BRANCH,
        level: Level::Warning,
        message: "a second trace of the model differs from the first".into(),
        note: "causes are branches on values, randomness, and state that changes between runs",
        help: "call `model.eval()`; look for `if` on values, for randomness, and for attributes that `forward` sets"
            .into(),
    }
}

fn unknown(message: &str) -> Words {
    Words {
        rule: rule_ids::UNREADABLE_PART,
        level: Level::Info,
        message: format!("unrecognized warning of the tracer: {message}"),
        note: "onnx-lint knows the warnings of PyTorch 1.10 to 2.x; the effect of this one is unknown",
        help: "read the warning in the log".into(),
    }
}

fn training(operator: Option<&str>) -> Words {
    Words {
        rule: rule_ids::TRAINING_MODE,
        // InstanceNorm without running statistics uses the statistics of the instance in inference, too.
        level: match operator {
            Some("instance_norm") => Level::Info,
            Some(_) => Level::Error,
            None => Level::Warning,
        },
        message: match operator {
            Some(operator) => format!("`{operator}` is exported in training mode"),
            None => "the model is exported in training mode".to_owned(),
        },
        note: "in training mode, Dropout drops elements at random, and BatchNormalization uses the statistics of each \
               batch",
        help: "call `model.eval()` before the export, and leave `training` at `TrainingMode.EVAL`".into(),
    }
}

fn unknown_axis(name: &str) -> Words {
    Words {
        rule: rule_ids::LOST_SYMBOL,
        level: Level::Warning,
        message: format!(
            "`dynamic_axes` contains `{name}`, which is not an input or output: its axes stay static"
        ),
        note: "static axes keep the sizes of the example input",
        help: "use the same names as in `input_names` and `output_names`".into(),
    }
}

fn recurrent_batch() -> Words {
    Words {
        rule: rule_ids::BAKED_SHAPE,
        level: Level::Warning,
        message: "a recurrent layer has an initial state with the batch size of the example input".into(),
        note: "without `h0`, the layer creates zeros of the example batch size, which become a constant",
        help: "pass the initial state as an input, or export with a batch of 1".into(),
    }
}

fn resize() -> Words {
    Words {
        rule: rule_ids::RESIZE_SEMANTICS_CHANGED,
        level: Level::Warning,
        message: "Resize of opset 10 does not support the coordinate transformation of PyTorch".into(),
        note: "opset 11 added the coordinate transformation modes of Resize",
        help: "export with `opset_version=11` or newer".into(),
    }
}
