//! Calls of exporters: the checks of the call, and the run of the model on the example.

use std::rc::Rc;

use tree_sitter::Node;

use crate::diag::{Finding, Level, rule_ids};

use super::super::syntax::{everything, field, text};
use super::calls::Args;
use super::export_call;
use super::exporting::{Argument, ExportCall};
use super::machine::{Eval, Machine, Raised, Stop};
use super::release::Release;
use super::tensor::{DType, Tensor};
use super::value::Value;

/// Functions that export a model, by full path.
const EXPORTERS: [&str; 12] = [
    "torch.onnx.export",
    "torch.onnx._export",
    "torch.onnx.dynamo_export",
    "torch.onnx.export_to_pretty_string",
    "torch.export.export",
    "torch.export.export_for_training",
    "torch.export.draft_export",
    "torch.jit.trace",
    "torch.jit.script",
    "torch.jit.trace_module",
    "torch.onnx.utils.export",
    "torch.fx.symbolic_trace",
];

/// Functions of other libraries that export a model, by the end of their path.
const EXPORTER_NAMES: [&str; 4] =
    ["main_export", "onnx_export_from_model", "export_models", "convert_graph_to_onnx.convert"];

/// Class of the result of `torch.onnx.export(…, dynamo=True)`.
pub const ONNX_PROGRAM: &str = "torch.onnx.ONNXProgram";

/// Attribute of an exported program that holds the positional arguments of its example.
pub const PROGRAM_ARGS: &str = " args";
/// Attribute of an exported program that holds the keyword arguments of its example.
pub const PROGRAM_KEYWORDS: &str = " kwargs";

/// Attributes and methods of `ONNXProgram` in the newest release.
pub const PROGRAM_ATTRIBUTES: [&str; 11] = [
    "apply_weights",
    "call_reference",
    "compute_values",
    "exported_program",
    "initialize_inference_session",
    "model",
    "model_proto",
    "optimize",
    "release",
    "rename_axes",
    "save",
];

/// Methods that export their object.
const METHODS: [&str; 4] = ["to_onnx", "export", "to_torchscript", "onnx_export"];

/// Parts of the names of hooks of Lightning that change a batch.
const HOOKS: [&str; 2] = ["batch_transfer", "transfer_batch"];

/// Returns true if a library function exports a model.
pub fn is_exporter(path: &str) -> bool {
    EXPORTERS.contains(&path) || EXPORTER_NAMES.iter().any(|name| path.ends_with(name))
}

/// Returns true if a method of this name exports its object, an instance of a library class.
pub fn is_export_method(name: &str) -> bool {
    METHODS.contains(&name)
}

/// The example of an exporter: positional and keyword arguments of `forward`.
struct Example<'t> {
    values: Vec<Value<'t>>,
    keywords: Vec<(Rc<str>, Value<'t>)>,
}

impl<'t> Machine<'t> {
    /// Returns true if the script has a call of an exporter that was not evaluated.
    pub fn skips_exports(&self) -> bool {
        let source = self.source(0);
        let nodes = everything(self.files[0].tree.root_node());
        let named = |node: Node<'t>, part| field(node, part).map_or("", |name| text(name, source));
        let functions = nodes.iter().filter(|node| node.kind() == "function_definition");
        let own: Vec<&str> = functions.map(|function| named(*function, "name")).collect();
        let is_export = |call: Node<'t>| {
            let callee = named(call, "function");
            let last = callee.rsplit('.').next().unwrap_or(callee);
            // `np.trace` computes a sum.
            let is_trace = last == "trace" && matches!(callee, "trace" | "jit.trace" | "torch.jit.trace");
            let is_known = METHODS.contains(&last)
                || EXPORTER_NAMES.contains(&last)
                || last != "trace" && EXPORTERS.iter().any(|path| path.rsplit('.').next() == Some(last));
            (is_known || is_trace) && (!own.contains(&last) || callee.contains("onnx."))
        };
        let is_evaluated = |call| self.exports.iter().any(|export| export.file == 0 && export.node == call);
        let mut calls = nodes.into_iter().filter(|node| node.kind() == "call");
        calls.any(|call| is_export(call) && !is_evaluated(call))
    }

    /// Evaluates a call of an exporter.
    pub fn export_call(&mut self, path: &str, receiver: Option<&Value<'t>>, args: &Args<'t>) -> Eval<'t> {
        let positional = args.positional.iter().map(|(value, node)| Argument {
            name: None,
            value: value.clone(),
            node: *node,
        });
        let keywords = args.keywords.iter().map(|(name, value, node)| Argument {
            name: Some(name.to_string()),
            value: value.clone(),
            node: *node,
        });
        let call = ExportCall {
            exporter: path.to_owned(),
            node: args.node,
            file: self.file(),
            receiver: receiver.cloned(),
            arguments: positional.chain(keywords).collect(),
            is_complete: !args.open,
            contexts: self.contexts.clone(),
            is_conditional: self.doubt > 0,
        };
        self.exports.push(call.clone());
        let checked = export_call::before(self, &call);
        let is_faulty = checked.findings.iter().any(|finding| finding.level >= Level::Warning);
        self.tell(checked.findings);
        // Tracing runs the model before it names the axes.
        let is_late = |fault: &Finding| *fault.code == *rule_ids::AXIS_OUT_OF_RANGE.code;
        let (late, early) = match checked.raised {
            Some(fault) if is_late(&fault) && export_call::is_tracing(self, &call) => (Some(fault), None),
            fault => (None, fault),
        };
        raised(early)?;
        let model = args.get(0, "model").or_else(|| args.keyword("mod")).or_else(|| args.keyword("func"));
        let model = receiver.or(model).cloned().unwrap_or_default();
        let outputs = match self.example(path, args) {
            Some(mut example) => {
                if export_call::is_tracing(self, &call) {
                    self.numbers_as_tensors(&mut example);
                }
                let values = example.keywords.is_empty().then(|| example.values.clone());
                let outer = std::mem::take(&mut self.operators);
                let outer_trace = std::mem::take(&mut self.trace);
                let modes = self.enter_exported_mode(&model, &call);
                let is_program =
                    call.exporter == "torch.export.export" || export_call::is_dynamo(self, &call);
                let was_program = std::mem::replace(&mut self.is_program, is_program);
                let was_active = std::mem::replace(&mut self.coverage.is_active, true);
                let outputs = self.run_model(&model, example, args);
                self.coverage.is_active = was_active;
                self.coverage.finish(outputs.is_ok() && matches!(model, Value::Object(_)));
                self.is_program = was_program;
                let operators = std::mem::replace(&mut self.operators, outer);
                let trace = std::mem::replace(&mut self.trace, outer_trace);
                modes.iter().for_each(|(one, mode)| self.set_attribute(one, "training", mode.clone()));
                let data_loops = std::mem::take(&mut self.data_loops);
                let stale_appends = std::mem::take(&mut self.stale_appends);
                let outputs = match outputs {
                    // torch.export promotes dtypes where PyTorch raises: the export succeeds, but no runtime loads the file.
                    Err(Stop::Raised(raised))
                        if is_dtype_fault(&raised) && export_call::is_dynamo(self, &call) =>
                    {
                        self.tell(raised.finding);
                        Value::Unknown
                    }
                    outputs => outputs?,
                };
                raised(late)?;
                self.check_operators(&call, &operators, &trace);
                if export_call::is_tracing(self, &call) {
                    self.report_frozen_state();
                    self.report_data_loops(data_loops);
                    self.report_stale_lists(stale_appends, &operators, &trace);
                }
                self.report_draws();
                self.state_reads.clear();
                if let Some(values) = values.filter(|_| !is_faulty) {
                    self.run_other_sizes(&model, &call, &values, args);
                }
                outputs
            }
            None => {
                self.coverage.finish(false);
                self.reads = None;
                raised(late)?;
                Value::Unknown
            }
        };
        let written = export_call::after(self, &call, &outputs);
        self.reads = None;
        self.tell(written.findings);
        let file = written.model.map(Rc::new);
        if path == "torch.onnx.export" {
            self.note_model(written.path.as_ref(), file.clone());
        }
        let is_program = self.release == Release::NEWEST && export_call::is_dynamo(self, &call);
        let result = self.exported(path, &model, args, is_program);
        if let (true, Some(file), Value::Object(program)) = (is_program, file, &result) {
            self.sessions.insert(*program, file);
        }
        Ok(result)
    }

    /// Returns the arguments that `to_onnx` of Lightning passes to `torch.onnx.export`.
    ///
    /// Lightning declares the method as `to_onnx(file_path, input_sample, **kwargs)`.
    pub fn lightning_arguments(&self, model: &Value<'t>, args: &Args<'t>) -> Args<'t> {
        let own = ["file_path", "input_sample"];
        let given = |at: usize| {
            let named = args.keywords.iter().find(|(name, ..)| &**name == own[at]);
            let named = named.map(|(_, value, node)| (value.clone(), *node));
            args.positional.get(at).cloned().or(named)
        };
        let by_default = || (self.attribute_of(model, "example_input_array").unwrap_or_default(), None);
        let (sample, node) = given(1).filter(|(value, _)| *value != Value::None).unwrap_or_else(by_default);
        let sample = (self.transferred(model, &sample), node);
        let positional = vec![(model.clone(), None), sample, given(0).unwrap_or_default()];
        let is_passed = |(name, ..): &&(Rc<str>, Value<'t>, Option<Node<'t>>)| !own.contains(&&**name);
        let keywords = args.keywords.iter().filter(is_passed).cloned().collect();
        Args { node: args.node, positional, keywords, open: args.open }
    }

    /// Returns the sample that `to_onnx` of Lightning moves to the device of the model.
    ///
    /// Hooks of the model or of its data may change the sample.
    fn transferred(&self, model: &Value<'t>, sample: &Value<'t>) -> Value<'t> {
        let instance = model.object().and_then(|object| self.heap.instance(object));
        let bases = instance.map(|instance| self.library_bases(&instance.class)).unwrap_or_default();
        let is_lightning =
            |base: &Value<'t>| base.path().is_some_and(|path| path.ends_with(".LightningModule"));
        let is_plain =
            |base: &Value<'t>| matches!(base.path(), Some("torch.nn.Module" | "object" | "abc.ABC"));
        let is_known = bases.iter().any(is_lightning)
            && bases.iter().all(|base| is_lightning(base) || is_plain(base))
            && !self.mentions(&HOOKS);
        match sample {
            Value::Tensor(tensor) if is_known => {
                Value::Tensor(Rc::new(Tensor { device: None, ..(**tensor).clone() }))
            }
            Value::Tuple(items) if is_known => {
                Value::tuple(items.iter().map(|item| self.transferred(model, item)).collect())
            }
            Value::None | Value::Bool(_) | Value::Int(_) | Value::Float(_) if is_known => sample.clone(),
            _ => Value::Unknown,
        }
    }

    /// Returns the example that an exporter runs the model on, if it is known.
    fn example(&self, path: &str, args: &Args<'t>) -> Option<Example<'t>> {
        if args.open {
            return None;
        }
        let (given, keywords) = match path {
            "torch.onnx.export" | "torch.export.export" | "torch.export.draft_export" => (
                args.get(1, "args")?,
                args.keyword("kwargs").or_else(|| match path {
                    "torch.onnx.export" => None,
                    _ => args.get(2, "kwargs"),
                }),
            ),
            "torch.jit.trace" => (args.get(1, "example_inputs")?, None),
            _ => return None,
        };
        let mut values = match given {
            Value::Tuple(items) => items.to_vec(),
            tensor @ Value::Tensor(_) if path != "torch.export.export" => vec![tensor.clone()],
            _ => return None,
        };
        let mut named = vec![];
        if path == "torch.onnx.export"
            && let Some(Value::Object(last)) = values.last()
            && self.heap.dict(*last).is_some()
        {
            let last = values.pop()?;
            named = self.entries(&last)?;
        }
        match keywords {
            None | Some(Value::None) => {}
            Some(keywords) => named.extend(self.entries(keywords)?),
        }
        let keywords = named.into_iter().map(|(name, value)| match name {
            Value::Str(name) => Some((name, value)),
            _ => None,
        });
        Some(Example { values, keywords: keywords.collect::<Option<Vec<_>>>()? })
    }

    /// Replaces numbers in an example by tensors, as the tracing exporter does.
    fn numbers_as_tensors(&mut self, example: &mut Example<'t>) {
        let named = example.keywords.iter_mut().map(|(_, value)| value);
        for value in example.values.iter_mut().chain(named) {
            let (dtype, number) = match value {
                Value::Bool(flag) => (DType::Bool, f64::from(u8::from(*flag))),
                #[expect(clippy::cast_precision_loss, reason = "integers of examples are small")]
                Value::Int(number) => (DType::Int64, *number as f64),
                Value::Float(number) => (DType::Float64, *number),
                _ => continue,
            };
            let mut tensor = self.tensor(Some(vec![]), Some(dtype), Some(Rc::from("cpu")));
            tensor.data = Some(Rc::from([number]));
            *value = Value::Tensor(Rc::new(tensor));
        }
    }

    /// Runs a model or function on an example.
    fn run_model(&mut self, model: &Value<'t>, mut example: Example<'t>, args: &Args<'t>) -> Eval<'t> {
        if let Value::Object(_) | Value::Function(_) | Value::Bound(_) = model {
        } else {
            return Ok(Value::Unknown);
        }
        self.marked.clear();
        for value in example.values.iter_mut().chain(example.keywords.iter_mut().map(|(_, value)| value)) {
            let given = value.clone();
            mark_varying(value);
            if let (Value::Tensor(given), Value::Tensor(marked)) = (given, &*value) {
                self.marked.push((marked.clone(), given));
            }
        }
        let tensors = example.values.iter().chain(example.keywords.iter().map(|(_, value)| value));
        let tensors: Vec<&Tensor<'t>> = tensors.filter_map(Value::tensor).collect();
        self.coverage.inputs.extend(tensors.iter().map(|tensor| tensor.memory));
        let origins = tensors.into_iter().filter_map(|tensor| tensor.origin).collect();
        let outer = std::mem::replace(&mut self.examples, origins);
        let keywords = example.keywords.into_iter().map(|(name, value)| (name, value, None)).collect();
        let given = Args { keywords, ..Args::of(args.node, example.values) };
        self.reads = None;
        let start = std::mem::replace(&mut self.model_start, (self.doubt, self.frames.len()));
        let outputs = self.invoke(model, &given);
        self.model_start = start;
        self.examples = outer;
        outputs
    }

    /// Returns the result of an exporter, which is an `ONNXProgram` if `is_program`.
    fn exported(&mut self, path: &str, model: &Value<'t>, args: &Args<'t>, is_program: bool) -> Value<'t> {
        let class = match path {
            "torch.onnx.export" if is_program => ONNX_PROGRAM,
            "torch.jit.script" if matches!(model, Value::Object(_)) => "torch.jit.ScriptModule",
            "torch.jit.trace" => "torch.jit.TopLevelTracedModule",
            "torch.export.export" => "torch.export.ExportedProgram",
            "torch.jit.script" => return model.clone(),
            _ => return Value::Unknown,
        };
        let mut attributes = vec![("original", model.clone())];
        let shapes = args.keyword("dynamic_shapes").cloned().unwrap_or(Value::None);
        if path == "torch.export.export" && !args.open && self.keeps_numbers(&shapes) {
            attributes.push((PROGRAM_ARGS, args.get(1, "args").cloned().unwrap_or_default()));
            attributes.push((PROGRAM_KEYWORDS, args.get(2, "kwargs").cloned().unwrap_or(Value::None)));
        }
        let result = self.instance(class, attributes, true);
        self.set_origin(&result, args.node);
        result
    }

    /// Returns true if `dynamic_shapes` makes no number of the example an input.
    pub fn keeps_numbers(&self, shapes: &Value<'t>) -> bool {
        let is_plain = |value: &Value<'t>| *value == Value::None || self.members(value).is_some();
        *shapes == Value::None || self.members(shapes).is_some_and(|all| all.iter().all(is_plain))
    }
}

/// Marks the tensors of an example: their elements are inputs of the model.
fn mark_varying(value: &mut Value) {
    match value {
        Value::Tensor(tensor) => Rc::make_mut(tensor).varies = true,
        Value::Tuple(items) => {
            let mut all = items.to_vec();
            all.iter_mut().for_each(mark_varying);
            *value = Value::tuple(all);
        }
        _ => {}
    }
}

/// Raises the exception of a fault, if there is one.
fn raised(fault: Option<Finding>) -> Result<(), Stop> {
    let Some(finding) = fault else { return Ok(()) };
    // A TypeError is raised while the arguments are bound, before the exporter can wrap it.
    let is_binding = *finding.code == *rule_ids::REMOVED_ARGUMENT.code;
    let kind = if is_binding { "TypeError" } else { "RuntimeError" };
    Err(Stop::Raised(Box::new(Raised { kind: kind.to_owned(), finding: Some(finding) })))
}

/// Returns true for an exception about dtypes.
fn is_dtype_fault(raised: &Raised) -> bool {
    raised.finding.as_ref().is_some_and(|finding| *finding.code == *rule_ids::DTYPE_MISMATCH.code)
}
