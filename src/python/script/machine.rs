//! State of the interpreter of scripts, and its budgets.

use std::rc::Rc;
use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};
use tree_sitter::Node;

use crate::diag::{Finding, SourcePlace};

use super::super::syntax::{ancestors, field, text};
use super::coverage::Coverage;
use super::exporting::ExportCall;
use super::files::ScriptFile;
use super::fill::Fill;
use super::flow::Flow;
use super::frame::Frame;
use super::heap::{Dict, Heap, Instance, Items, Object, Scope};
use super::model_file::ModelFile;
use super::pinned;
use super::ranges::range_items;
use super::record::Record;
use super::release::Release;
use super::tensor::{DType, Role, Shape, Tensor};
use super::trace::{Event, Operator};
use super::value::{Function, Ref, Value};
use super::yields::Yields;

/// Maximum number of evaluated statements, expressions and calls, which bounds the run time.
const MAX_STEPS: u32 = 300_000;

/// Maximum number of nested calls.
pub const MAX_FRAMES: usize = 40;

/// Maximum number of nested expressions and statements, over all frames.
const MAX_DEPTH: u32 = 260;

/// Maximum number of objects on the heap.
const MAX_OBJECTS: usize = 200_000;

/// Reason to stop the evaluation of a piece of code.
#[derive(Debug)]
pub enum Stop {
    /// The code certainly raises.
    Raised(Box<Raised>),
    /// A budget is exhausted.
    Exhausted,
}

/// An exception.
#[derive(Debug)]
pub struct Raised {
    /// Name of the exception class, without a module.
    pub kind: String,
    /// Finding, if the fault is reported.
    pub finding: Option<Finding>,
}

/// Result of an evaluation.
pub type Eval<'t> = Result<Value<'t>, Stop>;

/// Interpreter of a script and the local files that it imports.
#[derive(Debug)]
pub struct Machine<'t> {
    /// The script and the files that it may import.
    pub files: &'t [ScriptFile],
    pub heap: Heap<'t>,
    pub frames: Vec<Frame<'t>>,
    /// Scopes of the imported files, by index.
    pub imported: FxHashMap<usize, Ref>,
    steps: u32,
    depth: u32,
    /// Identity of the memory that was created last.
    pub memory: u32,
    /// Number of writes to each memory whose elements changed.
    writes: FxHashMap<u32, u32>,
    /// Values of `torch.full`, by memory.
    pub fills: FxHashMap<u32, Fill>,
    /// Active contexts, outermost first: of `with` statements, decorators and exit stacks.
    pub contexts: Vec<Value<'t>>,
    /// The `with` statement that enters the context of the next call.
    pub entering: Option<Yields<'t>>,
    /// The result of the body of the last `with` statement of such a context.
    pub entered: Option<Flow<'t>>,
    /// The result of the turn that ended the last loop over a generator.
    pub left_loop: Option<Result<Flow<'t>, Stop>>,
    /// Paths of files that the script writes only if they do not exist, for the active branches.
    pub missing: Vec<Rc<str>>,
    /// Whether a condition is being evaluated as if the script was called without arguments.
    pub is_without_arguments: bool,
    /// Whether the script called a method of `sys.argv` or of a part of it, which may change the arguments.
    pub changes_arguments: bool,
    /// Number of enclosing branches that run only under an unknown condition.
    pub doubt: u32,
    /// Values of `doubt` and number of frames at the start of the running model.
    pub model_start: (u32, usize),
    /// If above 0, nothing is reported.
    pub quiet: u32,
    /// File and expression of the construction of each layer that is being called, outermost first.
    pub layers: Vec<(usize, Node<'t>)>,
    /// The tensors of the example that the running model gets, and those of the script.
    pub marked: Vec<(Rc<Tensor<'t>>, Rc<Tensor<'t>>)>,
    /// File and expression of the construction of each example of the running model.
    pub examples: Vec<(usize, Node<'t>)>,
    pub default_dtype: Option<DType>,
    pub default_device: Option<Rc<str>>,
    pub findings: Vec<Finding>,
    /// The release of PyTorch that the script is for.
    pub release: Release,
    /// Dictionaries that `torch.save` wrote, by path.
    pub saved: FxHashMap<Rc<str>, Value<'t>>,
    /// Models that exporters wrote, by path.
    pub models: FxHashMap<Rc<str>, Rc<ModelFile<'t>>>,
    /// Models of the sessions of ONNX Runtime, and of the programs that exports return.
    pub sessions: FxHashMap<Ref, Rc<ModelFile<'t>>>,
    /// Lists that sessions returned, with the export of their model, preceded by the index of its file.
    pub session_results: FxHashMap<Ref, (usize, Node<'t>)>,
    /// Calls of exporters, in the order of their evaluation.
    pub exports: Vec<ExportCall<'t>>,
    /// Whether a budget was exhausted.
    pub exhausted: bool,
    /// Numbers that Python takes from sizes, while a model runs with other sizes.
    pub record: Option<Record<'t>>,
    /// Memories that calls of models before an export created: first one, and first one after them.
    pub earlier: Vec<(u32, u32)>,
    /// Number of active modules of TorchScript, whose control flow the tracing exporter keeps.
    pub scripted: u32,
    /// Whether the running model is exported by `torch.export`, which follows no branch on data.
    pub is_program: bool,
    /// Whether the script registers its own translations of operators.
    pub has_symbolics: bool,
    /// Loops that the running model executes, and whose number of iterations is known.
    pub loops: Vec<(usize, Node<'t>)>,
    /// Lists to which `forward` appended before an export.
    pub grown: FxHashSet<Ref>,
    /// Appends of the running model to lists with tensors of earlier calls.
    ///
    /// Each is preceded by its file, and followed by the call that joins the list.
    pub stale_appends: Vec<(usize, Node<'t>, Node<'t>)>,
    /// Loops that the running model executes, and whose number of iterations depends on data.
    pub data_loops: Vec<(usize, Node<'t>)>,
    /// Files and lines of loops whose number of iterations depends on no dynamic axis.
    pub steady: Vec<(usize, u32)>,
    /// Files and lines of loops whose number of iterations depends, or may depend, on a dynamic axis.
    pub varying: Vec<(usize, u32)>,
    /// Scope of the `forward` of the running model, and the names in it that are read.
    pub reads: Option<(Ref, FxHashSet<&'t str>)>,
    /// Reads of attributes that hold tensors, preceded by the indices of their files.
    pub state_reads: Vec<(usize, Node<'t>)>,
    /// Calls in the running model that draw random numbers, preceded by the indices of their files.
    pub draws: Vec<(usize, Node<'t>)>,
    /// Operators that the running model executes.
    pub operators: Vec<Operator<'t>>,
    /// Statements and calls that the running model executes.
    pub trace: Vec<Event<'t>>,
    /// Statements that exported models execute.
    pub coverage: Coverage,
}

impl<'t> Machine<'t> {
    /// Returns an interpreter of `files`, of which the first is the script.
    pub fn new(files: &'t [ScriptFile]) -> Self {
        Machine {
            files,
            heap: Heap::default(),
            frames: vec![],
            imported: FxHashMap::default(),
            steps: 0,
            depth: 0,
            memory: 0,
            writes: FxHashMap::default(),
            fills: FxHashMap::default(),
            contexts: vec![],
            entering: None,
            entered: None,
            left_loop: None,
            missing: vec![],
            is_without_arguments: false,
            changes_arguments: false,
            doubt: 0,
            model_start: (0, 0),
            quiet: 0,
            layers: vec![],
            marked: vec![],
            examples: vec![],
            default_dtype: Some(DType::Float32),
            default_device: Some(Rc::from("cpu")),
            findings: vec![],
            release: files
                .first()
                .and_then(|script| pinned::release(&script.path))
                .map_or(Release::NEWEST, |pinned| pinned.min(Release::NEWEST)),
            saved: FxHashMap::default(),
            models: FxHashMap::default(),
            sessions: FxHashMap::default(),
            session_results: FxHashMap::default(),
            exports: vec![],
            exhausted: false,
            record: None,
            earlier: vec![],
            scripted: 0,
            is_program: false,
            has_symbolics: false,
            loops: vec![],
            grown: FxHashSet::default(),
            stale_appends: vec![],
            data_loops: vec![],
            steady: vec![],
            varying: vec![],
            reads: None,
            coverage: Coverage::default(),
            state_reads: vec![],
            draws: vec![],
            operators: vec![],
            trace: vec![],
        }
    }

    /// Runs the script.
    pub fn run(&mut self) {
        if let Err(stop) = self.run_file(0, "__main__") {
            self.end(stop);
        }
    }

    /// Runs a file at its top level. Returns the scope with the variables of the file.
    pub fn run_file(&mut self, index: usize, name: &str) -> Result<Ref, Stop> {
        if let Some(scope) = self.imported.get(&index) {
            return Ok(*scope);
        }
        let mut variables = Scope { is_file: true, ..Scope::default() };
        variables.variables.insert(Rc::from("__name__"), Value::str(name));
        let path: &str = &self.files[index].path;
        variables.variables.insert(Rc::from("__file__"), Value::str(path));
        let scope = self.heap.add(Object::Scope(variables));
        self.imported.insert(index, scope);
        self.push(index, scope, None, None, None)?;
        let root = self.files[index].tree.root_node();
        let done = self.block(root);
        self.frames.pop();
        done.map(|_| scope)
    }

    /// Enters a frame.
    pub fn push(
        &mut self,
        file: usize,
        scope: Ref,
        function: Option<Rc<Function<'t>>>,
        this: Option<Value<'t>>,
        call: Option<(usize, Node<'t>)>,
    ) -> Result<(), Stop> {
        if self.frames.len() >= MAX_FRAMES {
            return Err(Stop::Exhausted);
        }
        let (id, outer_names) = (self.fresh_memory(), FxHashMap::default());
        let (returned, loops, yields) = (vec![], vec![], None);
        let frame = Frame { id, file, scope, function, this, call, outer_names, returned, yields, loops };
        self.frames.push(frame);
        Ok(())
    }

    /// Counts a step, and the depth of nested code. Fails if a budget is exhausted.
    pub fn enter(&mut self) -> Result<(), Stop> {
        self.steps += 1;
        if self.steps > MAX_STEPS || self.depth >= MAX_DEPTH || self.heap.len() > MAX_OBJECTS {
            self.exhausted = true;
            return Err(Stop::Exhausted);
        }
        self.depth += 1;
        Ok(())
    }

    /// Returns the number of steps before the budget is exhausted.
    pub fn steps_left(&self) -> u32 {
        MAX_STEPS.saturating_sub(self.steps)
    }

    /// Leaves a nested piece of code.
    pub fn leave(&mut self) {
        self.depth -= 1;
    }

    /// Returns the index of the current file.
    pub fn file(&self) -> usize {
        self.frames.last().map_or(0, |frame| frame.file)
    }

    /// Returns the text of a file.
    pub fn source(&self, file: usize) -> &'t str {
        &self.files[file].text
    }

    /// Returns the text of a node of the current file.
    pub fn text(&self, node: Node<'t>) -> &'t str {
        text(node, self.source(self.file()))
    }

    /// Returns the place of a node.
    pub fn place(&self, file: usize, node: Node<'t>) -> SourcePlace {
        let around = ancestors(node);
        let function = around.into_iter().find(|node| node.kind() == "function_definition");
        let function = function.and_then(|function| field(function, "name"));
        let function = function.map(|name| text(name, self.source(file)));
        let path: Arc<str> = self.files[file].path.clone();
        super::super::report::place_of(node, self.source(file), path, function)
    }

    /// Returns a fresh identity of memory.
    pub fn fresh_memory(&mut self) -> u32 {
        self.memory += 1;
        self.memory
    }

    /// Returns a new tensor.
    pub fn tensor(&mut self, shape: Shape, dtype: Option<DType>, device: Option<Rc<str>>) -> Tensor<'t> {
        let memory = self.fresh_memory();
        Tensor {
            shape,
            dtype,
            device,
            data: None,
            bounds: None,
            unbacked: None,
            varies: false,
            deviation: None,
            needs_grad: false,
            layout: None,
            memory,
            role: Role::Plain,
            origin: None,
        }
    }

    /// Returns the elements of a tensor, if they are known and unchanged.
    pub fn data(&self, tensor: &Tensor<'t>) -> Option<Rc<[f64]>> {
        tensor.data.clone().filter(|_| !self.is_changed(tensor))
    }

    /// Returns true if the script wrote to a tensor.
    pub fn is_changed(&self, tensor: &Tensor<'t>) -> bool {
        self.writes(tensor) > 0
    }

    /// Returns the number of writes to a tensor.
    pub fn writes(&self, tensor: &Tensor<'t>) -> u32 {
        self.writes.get(&tensor.memory).copied().unwrap_or(0)
    }

    /// Records a write to the elements of a tensor.
    pub fn write(&mut self, tensor: &Tensor<'t>) {
        *self.writes.entry(tensor.memory).or_default() += 1;
        self.fills.remove(&tensor.memory);
    }

    /// Returns a new list.
    pub fn list(&mut self, items: Vec<Value<'t>>) -> Value<'t> {
        Value::Object(self.heap.add(Object::List(Items { items, open: false })))
    }

    /// Returns a new dictionary.
    pub fn dict(&mut self, entries: Vec<(Value<'t>, Value<'t>)>, open: bool) -> Value<'t> {
        Value::Object(self.heap.add(Object::Dict(Dict { entries, open })))
    }

    /// Returns a new instance of a library class.
    pub fn instance(&mut self, class: &str, attributes: Vec<(&str, Value<'t>)>, open: bool) -> Value<'t> {
        let attributes = attributes.into_iter().map(|(name, value)| (Rc::from(name), value)).collect();
        let class = Value::name(class);
        Value::Object(self.heap.add(Object::Instance(Instance { class, attributes, open, origin: None })))
    }

    /// Returns the items of an iterable, or the keys of a dictionary, if all are known.
    pub fn items(&self, value: &Value<'t>) -> Option<Vec<Value<'t>>> {
        match value {
            Value::Tuple(items) => Some(items.to_vec()),
            Value::Range(start, stop, step) => range_items(*start, *stop, *step),
            Value::Str(text) => Some(text.chars().map(|letter| Value::str(&letter.to_string())).collect()),
            Value::Object(object) => match self.heap.get(*object) {
                Object::List(list) | Object::Set(list) if !list.open => Some(list.items.clone()),
                Object::Dict(dict) if !dict.open => {
                    Some(dict.entries.iter().map(|(key, _)| key.clone()).collect())
                }
                Object::Instance(_) => self.container_items(*object),
                _ => None,
            },
            _ => None,
        }
    }

    /// Returns the entries of a dictionary, if all are known.
    pub fn entries(&self, value: &Value<'t>) -> Option<Vec<(Value<'t>, Value<'t>)>> {
        let dict = self.heap.dict(value.object()?)?;
        (!dict.open).then(|| dict.entries.clone())
    }
}
