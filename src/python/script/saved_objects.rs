//! Objects in files: `torch.save` and `torch.load`.

use std::rc::Rc;

use tree_sitter::Node;

use super::super::syntax::{bare, children, field};
use super::calls::Args;
use super::faults::Fault;
use super::machine::{Eval, Machine, Stop};
use super::model_file::file_key;
use super::release::Release;
use super::value::Value;
use crate::diag::rule_ids;

/// Code that lets `torch.load` load modules, or that saves modules as other objects.
const PERMITS: [&str; 6] =
    ["safe_globals", "WEIGHTS_ONLY", "weights_only_load", "__reduce", "__getstate__", "copyreg"];

/// Code that may write a file, besides `torch.save`.
const WRITERS: [&str; 15] = [
    "open(",
    "shutil",
    "subprocess",
    "os.system",
    "os.replace",
    "os.rename",
    ".rename(",
    "link(",
    "urlretrieve",
    "download",
    "requests",
    "extract",
    "unpack",
    "write_bytes",
    "dump",
];

impl<'t> Machine<'t> {
    /// Evaluates `torch.save(value, path)`.
    pub fn save(&mut self, args: &Args<'t>) -> Value<'t> {
        let Some(path) = args.get(1, "f").and_then(Value::text).map(file_key) else {
            // An unknown path may be that of any file.
            self.saved.clear();
            return Value::None;
        };
        self.saved.remove(&path);
        let saved = args.get(0, "obj").cloned();
        let is_known = |value: &Value<'t>| self.is_dict(value) || self.is_module(value) == Some(true);
        // A branch that runs if the file does not exist is assumed to run.
        let is_missing = self.missing.len() == self.doubt as usize && self.missing.contains(&path);
        let saved = saved.filter(|saved| (self.doubt == 0 || is_missing) && is_known(saved));
        if let Some(saved) = saved {
            // The file does not change with the object.
            let copy = self.copied(&saved);
            self.saved.insert(path, copy);
        }
        Value::None
    }

    /// Evaluates `torch.load(path)`.
    pub fn load(&mut self, args: &Args<'t>) -> Eval<'t> {
        if self.has_file_commands() || args.open || args.keyword("pickle_module").is_some() {
            return Ok(Value::Unknown);
        }
        let saved = args.get(0, "f").and_then(Value::text).and_then(|path| self.saved.get(&file_key(path)));
        let Some(saved) = saved.cloned() else { return Ok(Value::Unknown) };
        if self.holds_module(&saved) {
            match args.keyword("weights_only") {
                Some(Value::Bool(false)) => {}
                None | Some(Value::Bool(true)) => {
                    self.refuse_module(args)?;
                    return Ok(Value::Unknown);
                }
                Some(_) => return Ok(Value::Unknown),
            }
        }
        Ok(self.copied(&saved))
    }

    /// Reports a file with a module, which `torch.load` refuses from release 2.6 on.
    fn refuse_module(&self, args: &Args<'t>) -> Result<(), Stop> {
        let is_explicit = args.keyword("weights_only").is_some();
        let is_permitted = self.mentions(&PERMITS) || self.is_patched("load");
        if is_permitted || !is_explicit && self.release < Release(2, 6) || !self.is_unconditional() {
            return Ok(());
        }
        let fault = Fault {
            rule: rule_ids::ARGUMENT_TYPE,
            kind: "UnpicklingError",
            ..Fault::shape(
                "the file holds a whole model, which `torch.load` refuses without `weights_only=False`",
                "save and load `model.state_dict()`, or pass `weights_only=False` for files that you trust",
            )
        };
        Err(self.fault(args.node, fault))
    }

    /// Returns true for a module, and for a dictionary with a module among its values.
    fn holds_module(&self, value: &Value<'t>) -> bool {
        let entries = self.entries(value).unwrap_or_default();
        self.is_module(value) == Some(true)
            || entries.iter().any(|(_, value)| self.is_module(value) == Some(true))
    }

    /// Returns the file of a condition such as `not os.path.exists(path)`.
    pub fn missing_file(&mut self, condition: Node<'t>) -> Option<Rc<str>> {
        let condition = bare(condition);
        let call = field(condition, "argument").filter(|_| condition.kind() == "not_operator").map(bare)?;
        let function = field(call, "function").filter(|_| call.kind() == "call")?;
        let name = self.text(function);
        let path = match name.rsplit('.').next()? {
            "exists" | "isfile" | "is_file" if name.starts_with("os.path.") || name.starts_with("path.") => {
                children(field(call, "arguments")?).first().copied()?
            }
            "exists" | "is_file" if function.kind() == "attribute" => field(function, "object")?,
            _ => return None,
        };
        // Another call may have written the file before.
        if self.count_writers() != 1 {
            return None;
        }
        match path.kind() {
            "identifier" | "string" | "attribute" => {
                self.evaluate(path).ok().and_then(|path| path.text().map(file_key))
            }
            _ => None,
        }
    }

    /// Returns the number of pieces of code that may write a file.
    fn count_writers(&self) -> usize {
        let writers = |text: &str| {
            let others = WRITERS.iter().filter(|code| text.contains(*code)).count();
            text.matches("save(").count() + others
        };
        self.files.iter().map(|file| writers(&file.text)).sum()
    }

    fn is_dict(&self, value: &Value<'t>) -> bool {
        value.object().is_some_and(|object| self.heap.dict(object).is_some())
    }
}
