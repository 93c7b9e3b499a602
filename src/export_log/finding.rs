//! What each remark of a log means, and what to write instead.

use crate::diag::rule_ids;
use crate::diag::{Finding, Level, Place, RuleId, TextPlace};

use super::code::{
    compares_counts, condition, decides, is_loop, is_of_counts, is_state, of_model, reads_shape,
};
use super::constants::constant_tensor;
use super::failures;
use super::remark::{Kind, PythonType, Remark};

/// A finding before it has a place: what is wrong, why, what to do.
pub struct Words {
    pub rule: RuleId,
    pub level: Level,
    pub message: String,
    pub note: &'static str,
    pub help: String,
}

/// The finding that a remark makes; `None` for one that is harmless.
pub fn finding(remark: &Remark) -> Option<Finding> {
    let words = words(remark)?;
    let from_tracer = !matches!(remark.kind, Kind::MutationRemoved { .. } | Kind::TrainingMode { .. });
    let is_harmless = remark.in_library && from_tracer || remark.is_of_a_value() && remark.is_in_a_package();
    let level = if is_harmless { words.level.min(Level::Info) } else { words.level };
    let said = said(remark);
    let place = remark.place.clone().map_or_else(|| said.clone(), Place::Source);
    let mut finding = words.rule.at(level).finding(words.message, place).note(words.note);
    if !words.help.is_empty() {
        finding = finding.help(words.help);
    }
    let finding_with = |finding: Finding, detail: &String| finding.note(detail.clone());
    finding = remark.details.iter().fold(finding, finding_with);
    if remark.count > 1 {
        finding = finding.note(format!("the log says so {} times", remark.count));
    }
    if remark.place.is_some() {
        finding = finding.related(said, "the exporter said so here");
    }
    Some(finding)
}

/// The line of the log.
fn said(remark: &Remark) -> Place {
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

/// `code` in backticks, or a stand-in where the log does not show it.
pub fn shown(code: &str, stand_in: &str) -> String {
    if code.is_empty() { stand_in.to_owned() } else { format!("`{code}`") }
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
        format!("`{code}` was checked for the example input alone")
    } else {
        format!(
            "{} was decided while tracing: only the way the example input took is in the graph",
            shown(condition(code), "a Python `if` on a tensor")
        )
    };
    Words {
        rule: rule_ids::TRACED_BRANCH,
        // On sizes, and on what the model holds, every input that it is made for may take the same way.
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
        note: "tracing records tensor operations; a Python decision on a tensor leaves no trace of the condition",
        help: if asserts {
            "the exported graph does not check this; `torch._assert(condition, message)` is recorded by torch.export"
                .into()
        } else {
            "compute both ways and choose by `torch.where(condition, a, b)`, or write \
             `torch.cond(condition, true_fn, false_fn, operands)` and export with `dynamo=True`"
                .into()
        },
    }
}

fn numpy_array(code: &str) -> Words {
    Words {
        rule: rule_ids::NUMPY_CONSTANT,
        level: if is_of_counts(code) || reads_shape(code) { Level::Info } else { Level::Warning },
        message: format!(
            "{} leaves PyTorch for NumPy: its result is a constant of the example input",
            shown(code, "this line")
        ),
        note: "NumPy's operations are not recorded; what comes back from them is stored as it was at export time",
        help: "stay in PyTorch: `x.max()` for `x.numpy().max()`, `torch.` functions for `np.` ones".into(),
    }
}

fn shape_value(code: &str) -> Words {
    Words {
        rule: rule_ids::BAKED_SHAPE,
        // Most sizes never vary: `math.sqrt(q.shape[-1])`. Where one does, the graph shows it.
        level: Level::Info,
        message: format!(
            "{} makes a Python number of a size: the traced size is fixed in the graph",
            shown(code, "this line")
        ),
        note: "`int()` of a size and the use of a size as a Python index leave the trace; at another size the \
               graph computes with the old one",
        help: "use the size as it is (`x.shape[0]`, without `int()`), which the tracer follows".into(),
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
            "{} turns a tensor into {into}: its value for the example input is fixed in the graph",
            shown(code, &format!("a call of `{call}`"))
        ),
        note: "the exporter cannot follow Python numbers; for any other input the graph computes with the old value",
        help: format!(
            "keep it a tensor: leave out `{call}` where the value is computed with, and index with \
            `torch.index_select` or `torch.gather` where it chooses"
        ),
    }
}

fn iteration(remark: &Remark) -> Words {
    let code = remark.code();
    let targets = code.split_once(" = ").map_or("", |(targets, _)| targets);
    let unpacks = targets.contains(',') && !code.contains("for ");
    Words {
        rule: rule_ids::UNROLLED_LOOP,
        // `a, b = x.unbind(1)` takes as many as there are names, in every run.
        level: if unpacks { Level::Info } else { Level::Warning },
        message: format!(
            "{} was unrolled: the graph has one copy of its body for each step of the example input",
            shown(remark.code(), "a Python loop over a tensor")
        ),
        note: "a Python loop is not recorded, only what its body did; with more steps the rest is left out, \
               with fewer the graph fails",
        help:
            "write it for the whole tensor at once, or use `torch.scan`/`torch.nn.GRU` and their like, which \
               export as one operator"
                .into(),
    }
}

fn length() -> Words {
    Words {
        rule: rule_ids::BAKED_SHAPE,
        level: Level::Info,
        message: "`len()` of a tensor is a Python integer: the traced length is fixed in the graph".into(),
        note: "the tracer follows `x.shape[0]`, but not `len(x)`",
        help: "write `x.shape[0]`".into(),
    }
}

fn shared_write(references: u32, operator: &str) -> Words {
    Words {
        rule: rule_ids::IN_PLACE_VIEW_LOST,
        level: Level::Warning,
        message: format!(
            "`{operator}` writes into memory that {references} tensors share: the others keep \
            their old values in the graph"
        ),
        note: "a traced graph has no shared memory; only the tensor that was written through sees the change",
        help: format!(
            "use the form that returns a new tensor (`y = y.{}(…)`), and build the whole from its parts",
            operator.trim_end_matches('_')
        ),
    }
}

fn shape_write(remark: &Remark) -> Words {
    Words {
        rule: rule_ids::IN_PLACE_SHAPE_ALIAS,
        // Whether another name holds the size, the log does not tell.
        level: Level::Info,
        message: format!(
            "{} changes a size in place: in the graph, whatever else holds that size changes too",
            shown(remark.code(), "an augmented assignment (`+=`)")
        ),
        note: "while tracing, sizes are tensors and `+=` writes into them; in plain Python they are integers, \
               and the first name keeps its value",
        help: "write it out: `n = n + 2` for `n += 2`".into(),
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
            "`{operator}` writes into the input `{value}`; the exported graph gives a new value instead"
        ),
        note: "an ONNX graph never changes its inputs: a caller that reads the input afterwards sees its old value",
        help: "return the changed tensor if it is needed outside".into(),
    }
}

fn advanced_index() -> Words {
    Words {
        rule: rule_ids::NEGATIVE_INDEX,
        level: Level::Info,
        message:
            "an index by several tensors is exported as one over flattened axes: negative indices in it read \
            the wrong elements"
                .into(),
        note: "the exporter cannot see whether an index is negative, and does not add the size of its axis",
        help: "make the indices non-negative first: `torch.where(i < 0, i + x.shape[0], i)`".into(),
    }
}

fn untraced(what: &str, code: &str) -> Words {
    Words {
        rule: rule_ids::NUMPY_CONSTANT,
        level: Level::Warning,
        message: if what.is_empty() {
            "a constant of the graph had another value when the model was traced a second time".to_owned()
        } else {
            format!("{} uses `{what}`, which is not recorded", shown(code, "the model"))
        },
        note: "what the tracer cannot record becomes a constant of the example input",
        help: "make the value by recorded functions: `view` or `reshape` for `resize_`, torch functions of the inputs \
               for anything computed in Python"
            .into(),
    }
}

fn trace_differs() -> Words {
    Words {
        rule: rule_ids::TRACED_BRANCH,
        level: Level::Warning,
        message: "traced again, the model did something else".into(),
        note: "a Python decision, a random number or a state that changes made the second trace differ",
        help: "call `model.eval()`; look for `if` on values, for randomness, and for attributes that `forward` sets"
            .into(),
    }
}

fn unknown(message: &str) -> Words {
    Words {
        rule: rule_ids::UNREADABLE_PART,
        level: Level::Info,
        message: format!("a warning of the tracer that is not known here: {message}"),
        note: "its wording is of none of the versions of PyTorch that were looked at",
        help: "read it in the log".into(),
    }
}

fn training(operator: Option<&str>) -> Words {
    Words {
        rule: rule_ids::TRAINING_MODE,
        // Without running statistics, an instance is what it is normalised by in inference too.
        level: match operator {
            Some("instance_norm") => Level::Info,
            Some(_) => Level::Error,
            None => Level::Warning,
        },
        message: match operator {
            Some(operator) => format!("`{operator}` is exported in training mode"),
            None => "the model is exported in training mode".to_owned(),
        },
        note: "Dropout then drops at random, and BatchNormalization uses the statistics of each batch",
        help: "call `model.eval()` before the export, and leave `training` at `TrainingMode.EVAL`".into(),
    }
}

fn unknown_axis(name: &str) -> Words {
    Words {
        rule: rule_ids::LOST_SYMBOL,
        level: Level::Warning,
        message: format!("`dynamic_axes` names `{name}`, which is no input or output: its axes stay fixed"),
        note: "the axes keep the sizes of the example input",
        help: "give the same names in `input_names` and `output_names`".into(),
    }
}

fn recurrent_batch() -> Words {
    Words {
        rule: rule_ids::BAKED_SHAPE,
        level: Level::Warning,
        message: "a recurrent layer gets an initial state of the traced batch size".into(),
        note: "without `h0` the layer makes zeros of the example's batch size, which the graph keeps",
        help: "pass the initial state as an input, or export with a batch of 1".into(),
    }
}

fn resize() -> Words {
    Words {
        rule: rule_ids::RESIZE_SEMANTICS_CHANGED,
        level: Level::Warning,
        message: "Resize of opset 10 has not the coordinates that PyTorch's interpolation has".into(),
        note: "opset 11 gave Resize its coordinate modes, PyTorch's among them",
        help: "export with `opset_version=11` or newer".into(),
    }
}
