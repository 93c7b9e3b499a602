//! Names of libraries: their canonical paths, constants and functions.

use std::rc::Rc;

use crate::diag::rule_ids;

use super::calls::Args;
use super::export;
use super::faults::Fault;
use super::machine::{Eval, Machine, Raised, Stop};
use super::model_file::SESSION;
use super::record::Taken;
use super::release::Release;
use super::tensor::DType;
use super::value::Value;
use super::words::lists;

/// Built-in names of Python.
const BUILTINS: [&str; 52] = [
    "abs",
    "all",
    "any",
    "bool",
    "bytes",
    "callable",
    "chr",
    "dict",
    "dir",
    "divmod",
    "enumerate",
    "exit",
    "filter",
    "float",
    "format",
    "frozenset",
    "getattr",
    "hasattr",
    "hash",
    "id",
    "input",
    "int",
    "isinstance",
    "issubclass",
    "iter",
    "len",
    "list",
    "map",
    "max",
    "min",
    "next",
    "object",
    "open",
    "ord",
    "pow",
    "print",
    "property",
    "quit",
    "range",
    "repr",
    "reversed",
    "round",
    "set",
    "setattr",
    "slice",
    "sorted",
    "str",
    "sum",
    "tuple",
    "type",
    "vars",
    "zip",
];

/// Attributes and methods of `torch.nn.Module` and its containers.
const MODULE_ATTRIBUTES: &str = "
    add_module apply bfloat16 buffers call_super_init children compile cpu cuda double dump_patches eval
    extra_repr float forward get_buffer get_extra_state get_parameter get_submodule half ipu load_state_dict
    modules mtia named_buffers named_children named_modules named_parameters parameters
    register_backward_hook register_buffer register_forward_hook register_forward_pre_hook
    register_full_backward_hook register_full_backward_pre_hook register_load_state_dict_post_hook
    register_load_state_dict_pre_hook register_module register_parameter register_state_dict_post_hook
    register_state_dict_pre_hook requires_grad_ set_extra_state set_submodule share_memory state_dict to
    to_empty train training type xpu zero_grad T_destination
    append extend insert items keys pop values";

/// Prefixes of functions that do not change their arguments.
const HARMLESS: [&str; 20] = [
    "print",
    "logging.",
    "os.",
    "sys.",
    "json.",
    "time.",
    "io.",
    "onnx.",
    "onnxruntime.",
    "numpy.",
    "warnings.",
    "torch.save",
    "torch.optim.",
    "torch.utils.",
    "pathlib.",
    "hashlib.",
    "torchinfo.",
    "torchsummary.",
    "thop.",
    "onnxsim.",
];

/// Class of a context that enters other contexts.
pub const EXIT_STACK: &str = "contextlib.ExitStack";

/// Returns true for built-in names of Python.
pub fn is_builtin(name: &str) -> bool {
    BUILTINS.contains(&name) || name.ends_with("Error") || name == "Exception"
}

/// Returns true for attributes and methods of `torch.nn.Module` and its containers.
pub fn is_module_attribute(name: &str) -> bool {
    name.starts_with('_') || lists(MODULE_ATTRIBUTES, name)
}

/// Returns the path of an attribute of a library. A name that several modules export has one path.
pub fn canonical(path: &str, name: &str) -> String {
    let whole = if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") };
    if let Some(rest) = whole.strip_prefix("torch.nn.modules.") {
        let last = rest.rsplit('.').next().unwrap_or(rest);
        if last.starts_with(|letter: char| letter.is_ascii_uppercase()) {
            return format!("torch.nn.{last}");
        }
    }
    if let Some(rest) = whole.strip_prefix("torchvision.models.") {
        let parts: Vec<&str> = rest.split('.').collect();
        if let [_, last] = parts[..]
            && !matches!(parts[0], "detection" | "segmentation" | "video" | "quantization" | "optical_flow")
        {
            return format!("torchvision.models.{last}");
        }
    }
    match whole.as_str() {
        "torch.autograd.Function" | "torch.autograd.function.Function" => {
            "torch.autograd.Function".to_owned()
        }
        "torch.nn.parameter.Parameter" => "torch.nn.Parameter".to_owned(),
        "torch.nn.parallel.DataParallel" | "torch.nn.parallel.data_parallel.DataParallel" => {
            "torch.nn.DataParallel".to_owned()
        }
        "torch.onnx.utils.export" => "torch.onnx.export".to_owned(),
        _ => whole,
    }
}

/// Returns the value of a constant of a library.
pub fn constant<'t>(path: &str, name: &str) -> Option<Value<'t>> {
    use std::f64::consts::{E, PI, TAU};
    Some(match (path, name) {
        ("math" | "numpy" | "torch", "pi") => Value::Float(PI),
        ("math" | "numpy" | "torch", "e") => Value::Float(E),
        ("math", "tau") => Value::Float(TAU),
        ("math" | "numpy" | "torch", "inf") => Value::Float(f64::INFINITY),
        ("math" | "numpy" | "torch", "nan") => Value::Float(f64::NAN),
        ("torch" | "numpy", "newaxis") => Value::None,
        ("typing", "TYPE_CHECKING") => Value::Bool(false),
        _ => return None,
    })
}

/// Returns true for the models of Ultralytics, which export themselves.
fn is_ultralytics_model(path: &str) -> bool {
    let last = path.rsplit('.').next().unwrap_or(path);
    path.starts_with("ultralytics.")
        && matches!(last, "YOLO" | "YOLOE" | "YOLOWorld" | "RTDETR" | "SAM" | "FastSAM" | "NAS")
}

impl<'t> Machine<'t> {
    /// Calls a function or class of a library.
    pub fn library_call(&mut self, path: &str, args: &Args<'t>) -> Eval<'t> {
        self.changes_arguments |= path.starts_with("sys.argv");
        if export::is_exporter(path) {
            return self.export_call(path, None, args);
        }
        if path == "torch.onnx.ExportOptions" && self.release == Release::NEWEST {
            let fault = Fault {
                rule: rule_ids::REMOVED_ARGUMENT,
                kind: "AttributeError",
                ..Fault::shape(
                    format!("`{path}` does not exist in PyTorch {}", self.release),
                    "pass the options to `torch.onnx.export(…, dynamo=True)`, such as `dynamic_shapes`",
                )
            };
            return Err(self.fault(args.node, fault));
        }
        if is_ultralytics_model(path) {
            return Ok(self.instance(path, vec![], true));
        }
        self.note_files(path, args);
        self.note_draw(path, args);
        if path.contains("register_custom_op_symbolic") {
            self.has_symbolics = true;
        }
        if path == SESSION {
            return Ok(self.session(args));
        }
        if let Some(name) = path.strip_prefix("torch.") {
            return self.torch_call(path, name, args);
        }
        if let Some(name) = path.strip_prefix("numpy.") {
            return Ok(self.numpy_call(name, args));
        }
        if path.starts_with("torchvision.models.") {
            return Ok(self.torchvision_model(path, args));
        }
        if let Some(value) = self.image_call(path, args).or_else(|| self.config_call(path, args)) {
            return Ok(value);
        }
        if let Some(value) = self.builtin_call(path, args)? {
            return Ok(value);
        }
        if let Some(value) = self.einops_call(path, args) {
            return Ok(value);
        }
        if let Some(value) = self.standard_call(path, args)? {
            return Ok(value);
        }
        if let Some(value) = self.iterator_call(path, args).or_else(|| self.command_call(path, args)) {
            return value;
        }
        if !HARMLESS.iter().any(|prefix| path.starts_with(prefix)) {
            self.havoc(args);
        }
        Ok(Value::Unknown)
    }

    /// Returns the path of a new temporary folder.
    fn new_folder(&self) -> Value<'t> {
        Value::str(&format!("/tmp/tmp{}", self.steps_left()))
    }

    /// Calls a function of the standard library.
    fn standard_call(&mut self, path: &str, args: &Args<'t>) -> Result<Option<Value<'t>>, Stop> {
        let first = args.get(0, "");
        Ok(Some(match path {
            "argparse.ArgumentParser" => self.parser(args),
            "functools.partial" => self.partial(args),
            "types.MethodType" => match (first, args.get(1, "")) {
                (Some(Value::Function(function)), Some(this)) => {
                    Value::Bound(Rc::new((this.clone(), function.clone())))
                }
                _ => Value::Unknown,
            },
            "collections.OrderedDict" => return self.builtin_call("dict", args),
            "copy.deepcopy" | "copy.copy" => {
                first.map_or(Value::Unknown, |first| self.copied(&first.clone()))
            }
            // With `dict_factory`, the dictionary may lack entries.
            "dataclasses.asdict" if args.open || args.all().count() != 1 => Value::Unknown,
            "dataclasses.asdict" => {
                let first = first.cloned().unwrap_or_default();
                self.fields_dict(&first, 0)
            }
            "dataclasses.field" => {
                let made = match args.keyword("default_factory").cloned() {
                    Some(factory) => self.invoke(&factory, &Args::none(args.node))?,
                    None => args.keyword("default").cloned().unwrap_or_default(),
                };
                self.instance("dataclasses.Field", vec![("default", made)], false)
            }
            "os.path.basename" | "os.path.dirname" | "os.path.splitext" => match first {
                Some(Value::Str(text)) => super::file_paths::path_part(text, path),
                _ => Value::Unknown,
            },
            "os.path.join" => {
                let parts: Option<Vec<&str>> =
                    args.positional.iter().map(|(value, _)| value.text()).collect();
                let parts = parts.filter(|parts| !parts.is_empty() && !args.open);
                parts.map_or(Value::Unknown, |parts| Value::str(&super::file_paths::os_joined(&parts)))
            }
            "tempfile.mkdtemp" => self.new_folder(),
            "tempfile.TemporaryDirectory" => {
                let folder = self.new_folder();
                self.instance(path, vec![("name", folder)], false)
            }
            "os.fspath" => first.and_then(Value::text).map_or(Value::Unknown, Value::str),
            "pathlib.Path" | "pathlib.PurePath" | "pathlib.PosixPath" => {
                let parts: Option<Vec<&str>> = args.positional.iter().map(|(part, _)| part.text()).collect();
                super::strings::path_of(parts.filter(|_| !args.open))
            }
            "collections.namedtuple" => self.named_tuple(args),
            "sys.exit" | "exit" | "quit" | "os._exit" => {
                return Err(Stop::Raised(Box::new(Raised { kind: "SystemExit".to_owned(), finding: None })));
            }
            "inspect.signature" => match first {
                Some(function @ (Value::Function(_) | Value::Bound(_))) => {
                    let names = self.parameter_names(&function.clone(), true);
                    let Some(names) = names else { return Ok(Some(Value::Unknown)) };
                    let entries = names.iter().map(|name| (Value::str(name), Value::Unknown)).collect();
                    let parameters = self.dict(entries, false);
                    self.instance("inspect.Signature", vec![("parameters", parameters)], false)
                }
                _ => Value::Unknown,
            },
            // An environment variable with a default is assumed to be unset.
            "os.environ.get" | "os.getenv" => match args.get(1, "default") {
                Some(default) if *default != Value::None => {
                    self.coverage.is_partial = true;
                    default.clone()
                }
                _ => Value::Unknown,
            },
            "contextlib.ExitStack" => self.instance(EXIT_STACK, vec![], true),
            "math.prod" => first.map_or(Value::Unknown, |first| self.product_of(first)),
            "math.sqrt" | "math.log" | "math.log2" | "math.log10" | "math.exp" => {
                if let Some(number) = first {
                    self.needs_number(number, args.node)?;
                }
                self.float_function(path.trim_start_matches("math."), args).unwrap_or_default()
            }
            "math.ceil" | "math.floor" => {
                let number = first.and_then(Value::number);
                let whole =
                    number.map(|number| if path == "math.ceil" { number.ceil() } else { number.floor() });
                match whole.and_then(whole_number) {
                    Some(whole) => Value::Int(self.taken(Taken::Number, args.node, whole)),
                    None => Value::Unknown,
                }
            }
            "torch.device" => Value::Unknown,
            _ => return Ok(None),
        }))
    }

    /// Evaluates a function of `math` and NumPy; `None` if the argument is unknown or no number.
    pub fn float_function(&mut self, name: &str, args: &Args<'t>) -> Option<Value<'t>> {
        let number = args.get(0, "x").and_then(Value::number).filter(|_| args.get(1, "").is_none())?;
        let value = match name {
            "sqrt" => number.sqrt(),
            "log" => number.ln(),
            "log2" => number.log2(),
            "log10" => number.log10(),
            "exp" => number.exp(),
            _ => return None,
        };
        value.is_finite().then(|| Value::Float(self.taken_float(args.node, value)))
    }

    /// Evaluates `functools.partial(f, …)`.
    fn partial(&mut self, args: &Args<'t>) -> Value<'t> {
        let Some((function, _)) = args.positional.first().cloned() else { return Value::Unknown };
        if args.open {
            return Value::Unknown;
        }
        let values = args.positional.iter().skip(1).map(|(value, _)| value.clone()).collect();
        let keywords = args.keywords.iter();
        let keywords = keywords.map(|(name, value, _)| (Value::Str(name.clone()), value.clone())).collect();
        let keywords = self.dict(keywords, false);
        let attributes = vec![("func", function), ("args", Value::tuple(values)), ("keywords", keywords)];
        self.instance("functools.partial", attributes, false)
    }

    /// Calls the function of a partial object.
    pub fn complete(&mut self, partial: &Value<'t>, args: &Args<'t>) -> Eval<'t> {
        let part = |name| self.attribute_of(partial, name).unwrap_or_default();
        let (function, values, keywords) = (part("func"), part("args"), part("keywords"));
        let (Some(values), Some(keywords)) = (self.items(&values), self.entries(&keywords)) else {
            return Ok(Value::Unknown);
        };
        let mut all = args.clone();
        all.positional.splice(0..0, values.into_iter().map(|value| (value, None)));
        for (name, value) in keywords {
            if let Value::Str(name) = name
                && args.keyword(&name).is_none()
            {
                all.keywords.push((name, value, None));
            }
        }
        self.invoke(&function, &all)
    }

    /// Returns a copy of an object and of the objects below it.
    pub fn copied(&mut self, value: &Value<'t>) -> Value<'t> {
        let mut copies = rustc_hash::FxHashMap::default();
        self.copy(value, &mut copies, 0)
    }
}

/// Returns the integer part of a float, or `None` from 9e15 on, where floats may skip integers.
pub fn whole_number(number: f64) -> Option<i64> {
    #[expect(clippy::cast_possible_truncation, reason = "the number is in range")]
    let whole = (number.abs() < 9e15).then(|| number.trunc() as i64)?;
    Some(whole)
}

/// Returns the dtype that a value names.
pub fn named_dtype(value: &Value) -> Option<DType> {
    DType::of_path(value.path()?)
}
