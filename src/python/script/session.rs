//! Sessions of ONNX Runtime on the files that the script exports.

use std::rc::Rc;

use super::calls::Args;
use super::faults::Fault;
use super::machine::{Eval, Machine, Stop};
use super::model_file::{FileInput, ModelFile, SESSION, file_key};
use super::tensor::{differ, shown};
use super::value::Value;
use crate::diag::Place;
use crate::diag::rule_ids;

/// Code that may edit an exported program.
const EDITS: [&str; 9] = [
    ".graph",
    ".model = ",
    "model_proto",
    "rename_axes",
    "apply_weights",
    "rewrite",
    "onnx_ir",
    "onnxscript",
    "exported_program",
];

/// Code that may add weights to a file or session.
const ADDERS: [&str; 7] = [
    ".initializer",
    "add_initializer",
    "add_external_initializers",
    "apply_weights",
    "make_tensor",
    "from_array",
    "initializers[",
];

impl<'t> Machine<'t> {
    /// Records the model that an export writes to `path`.
    pub fn note_model(&mut self, path: Option<&Value<'t>>, model: Option<Rc<ModelFile<'t>>>) {
        match path {
            Some(Value::Str(path)) => {
                let path = file_key(path);
                self.models.remove(&path);
                if let Some(model) = model.filter(|_| self.doubt == 0) {
                    self.models.insert(path, model);
                }
            }
            None | Some(Value::None) => {}
            // An unknown path may be that of any file.
            Some(_) => self.models.clear(),
        }
    }

    /// Records the model that `save` of an exported program writes.
    pub fn save_program(&mut self, program: &Value<'t>, args: &Args<'t>) {
        let model = program.object().and_then(|program| self.sessions.get(&program)).cloned();
        let path = args.get(0, "destination").cloned().unwrap_or_default();
        self.check_initializers(args);
        // The script may edit the program before it is saved.
        let model = model.filter(|_| !self.mentions(&EDITS));
        self.note_model(Some(&path), model);
    }

    /// Reports a program that is saved without its weights.
    fn check_initializers(&mut self, args: &Args<'t>) {
        let is_without = args.keyword("include_initializers") == Some(&Value::Bool(false));
        let are_inputs = args.keyword("keep_initializers_as_inputs");
        let is_without = is_without && are_inputs.is_none_or(|kept| *kept == Value::Bool(false));
        if !is_without || self.mentions(&ADDERS) || !self.is_unconditional() {
            return;
        }
        let message = "`include_initializers=False` leaves the weights out of the file";
        let finding = rule_ids::WEIGHTS_LEFT_OUT
            .finding(message, Place::Source(self.place(self.file(), args.node)))
            .note("ONNX Runtime refuses the file: its nodes have inputs that do not exist")
            .help("remove `include_initializers`: by default, the file has the weights");
        self.tell([finding]);
    }

    /// Creates a session.
    pub fn session(&mut self, args: &Args<'t>) -> Value<'t> {
        let path = args.get(0, "path_or_bytes").and_then(Value::text).map(file_key);
        let model = path.and_then(|path| self.models.get(&path).cloned());
        let Some(model) = model.filter(|_| !self.has_file_commands()) else { return Value::Unknown };
        let session = self.instance(SESSION, vec![], true);
        if let Value::Object(object) = session {
            self.sessions.insert(object, model);
        }
        session
    }

    /// Calls a method of a session.
    pub fn session_method(&mut self, session: &Value<'t>, name: &str, args: &Args<'t>) -> Eval<'t> {
        let model = session.object().and_then(|object| self.sessions.get(&object)).cloned();
        let Some(model) = model else { return Ok(Value::Unknown) };
        match name {
            "run" => {
                let feed = args.get(1, "input_feed").cloned().unwrap_or_default();
                self.check_feed(&model, &feed, args)?;
                self.session_results(&model, args)
            }
            "get_outputs" => {
                let Some(outputs) = model.outputs.clone() else { return Ok(Value::Unknown) };
                let names = outputs.into_iter().map(|name| name.map_or(Value::Unknown, Value::Str)).collect();
                Ok(self.node_arguments(names))
            }
            "get_inputs" if model.is_complete => {
                let inputs = model.inputs.iter().filter(|input| !input.is_dropped);
                Ok(self.node_arguments(inputs.map(|input| Value::str(&input.name)).collect()))
            }
            _ => Ok(Value::Unknown),
        }
    }

    /// Returns a list of inputs or outputs of a session, by their names.
    fn node_arguments(&mut self, names: Vec<Value<'t>>) -> Value<'t> {
        let arguments = names
            .into_iter()
            .map(|name| self.instance("onnxruntime.NodeArg", vec![("name", name)], true))
            .collect();
        self.list(arguments)
    }

    /// Returns the results of `run`, and reports names that no output has.
    fn session_results(&mut self, model: &ModelFile<'t>, args: &Args<'t>) -> Eval<'t> {
        let Some(outputs) = &model.outputs else { return Ok(Value::Unknown) };
        let names = match args.get(0, "output_names") {
            Some(Value::None) => vec![],
            Some(names) if !args.open => match self.items(names) {
                Some(names) => names,
                None => return Ok(Value::Unknown),
            },
            _ => return Ok(Value::Unknown),
        };
        let known: Option<Vec<&str>> = outputs.iter().map(Option::as_deref).collect();
        if let Some(known) = known
            && let Some(name) = names.iter().filter_map(Value::text).find(|name| !known.contains(name))
        {
            let names: Vec<String> = known.iter().map(|name| format!("`{name}`")).collect();
            let fault = Fault {
                rule: rule_ids::UNKNOWN_AXIS_NAME,
                kind: "InvalidArgument",
                note: "ONNX Runtime raises InvalidArgument",
                ..Fault::shape(
                    format!("the session returns `{name}`, but the file has no such output"),
                    format!("use the names of `output_names`: {}", names.join(", ")),
                )
            };
            return Err(self.related_to_export(self.fault(args.node, fault), model));
        }
        // Without names, a session returns all outputs.
        let count = if names.is_empty() { outputs.len() } else { names.len() };
        let results = self.list(vec![Value::Unknown; count]);
        if let Value::Object(list) = results {
            self.session_results.insert(list, model.export);
        }
        Ok(results)
    }

    /// Adds the place of the export to the finding of a fault.
    fn related_to_export(&self, mut stop: Stop, model: &ModelFile<'t>) -> Stop {
        if let Stop::Raised(raised) = &mut stop {
            let export = Place::Source(self.place(model.export.0, model.export.1));
            raised.finding = raised.finding.take().map(|finding| finding.related(export, "the export"));
        }
        stop
    }

    /// Reports an array that a session refuses.
    fn check_feed(&self, model: &ModelFile<'t>, feed: &Value<'t>, args: &Args<'t>) -> Result<(), Stop> {
        let dict = feed.object().and_then(|object| self.heap.dict(object)).filter(|dict| !dict.open);
        let fed = |name: &str| dict.is_some_and(|dict| dict.get(&Value::str(name)).is_some());
        let is_fed = model.inputs.iter().all(|input| input.is_dropped || fed(&input.name));
        // Missing inputs are reported first.
        let mismatch = match is_fed {
            true => ("InvalidArgument", "ONNX Runtime raises InvalidArgument"),
            false => ("ValueError", "ONNX Runtime raises ValueError"),
        };
        for (key, value) in dict.iter().flat_map(|dict| &dict.entries) {
            let Value::Str(key) = key else { continue };
            if let Value::Tensor(_) = value {
                let fault = Fault {
                    rule: rule_ids::ARGUMENT_TYPE,
                    kind: "RuntimeError",
                    note: "ONNX Runtime raises RuntimeError",
                    ..Fault::shape(
                        format!("the session gets `{key}` as a tensor of PyTorch, not as a NumPy array"),
                        "convert it: `x.numpy()`, or `x.detach().cpu().numpy()`",
                    )
                };
                if !is_fed || !self.is_unconditional() {
                    continue;
                }
                return Err(self.related_to_export(self.fault(args.node, fault), model));
            }
            let fault = match model.inputs.iter().find(|input| input.name == *key) {
                Some(input) if input.is_dropped => Fault {
                    rule: rule_ids::UNUSED_INPUT,
                    ..Fault::shape(
                        format!("the session gets `{key}`, but the file has no such input"),
                        format!("remove `{key}` from the inputs, or use it in `forward`"),
                    )
                },
                Some(input) => match self.refused(input, value) {
                    Some(fault) => fault,
                    None => continue,
                },
                None if model.is_complete => {
                    let names: Vec<String> =
                        model.inputs.iter().map(|input| format!("`{}`", input.name)).collect();
                    let help = match is_fed {
                        true => format!(
                            "export with an example tensor for `{key}`, and its name in `input_names`"
                        ),
                        false => format!("use the names of `input_names`: {}", names.join(", ")),
                    };
                    Fault {
                        rule: rule_ids::UNKNOWN_AXIS_NAME,
                        ..Fault::shape(
                            format!("the session gets `{key}`, but the file has no such input"),
                            help,
                        )
                    }
                }
                None => continue,
            };
            let fault = Fault { kind: mismatch.0, note: mismatch.1, ..fault };
            return Err(self.related_to_export(self.fault(args.node, fault), model));
        }
        Ok(())
    }

    /// Returns the fault of an array whose shape or dtype an input does not have.
    fn refused(&self, input: &FileInput, value: &Value<'t>) -> Option<Fault> {
        let array = self.array_tensor(value)?;
        let name = &input.name;
        if let (Some(expected), Some(given)) = (&input.shape, &array.shape)
            && differ(expected, given)
        {
            return Some(Fault::shape(
                format!(
                    "the session gets `{name}` of shape {}, but the file fixes {}",
                    shown(given),
                    shown(expected)
                ),
                "declare the axis in `dynamic_axes`, or feed the size of the example",
            ));
        }
        let (expected, given) = (input.dtype?, array.dtype?);
        (expected != given).then(|| {
            Fault::dtype(
                format!(
                    "the session gets `{name}` of dtype {}, but the file expects {}",
                    given.name(),
                    expected.name()
                ),
                format!("convert the array: `.astype(np.{})`", expected.name()),
            )
        })
    }
}
