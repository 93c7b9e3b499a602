//! Definitions and imports of a file.

use rustc_hash::{FxHashMap, FxHashSet};
use tree_sitter::Node;

use super::syntax::{Arguments, bare, children, field, fields, imports, text, within};

/// A function or method.
#[derive(Clone, Debug)]
pub struct Function<'t> {
    /// Name.
    pub name: &'t str,
    /// Syntax node of the definition or lambda.
    pub node: Node<'t>,
    /// Index of the class, for a method.
    pub class: Option<usize>,
    /// Index of the enclosing function.
    pub outer: Option<usize>,
    /// Source texts of the decorators, without `@`.
    pub decorators: Vec<&'t str>,
}

/// A class.
#[derive(Clone, Debug)]
pub struct Class<'t> {
    /// Name.
    pub name: &'t str,
    /// Syntax node of the definition.
    pub node: Node<'t>,
    /// Kind, derived from the base classes.
    pub kind: ClassKind,
    /// Full paths of the base classes from other files.
    pub bases: Vec<String>,
    /// Indices of the base classes in this file.
    pub local_bases: Vec<usize>,
    /// Indices of the methods, by name.
    pub methods: FxHashMap<&'t str, usize>,
    /// Source texts of the decorators, without `@`.
    pub decorators: Vec<&'t str>,
}

/// Kind of a class.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClassKind {
    /// An `nn.Module`, or a class with a method `forward` and an unknown base class.
    Module,
    /// A `torch.autograd.Function`.
    AutogradFunction,
    /// A data class, a `TypedDict`, or an output class of a model library.
    Data,
    Other,
}

/// The definitions of a file.
#[derive(Debug, Default)]
pub struct Program<'t> {
    /// Functions and methods, and the functions and lambdas in their bodies.
    pub functions: Vec<Function<'t>>,
    /// Classes, except those inside functions.
    pub classes: Vec<Class<'t>>,
    /// Functions and classes at the top level.
    pub globals: FxHashMap<&'t str, Global>,
    /// Full paths of imported names.
    pub imports: FxHashMap<&'t str, String>,
    /// Indices of nested functions and lambdas, by the ID of their node.
    pub nested: FxHashMap<usize, usize>,
    /// Names of the functions and classes passed to `torch.jit.script`.
    scripted: FxHashSet<&'t str>,
    /// Whether each class is a submodule of another module of the file.
    parts: Vec<bool>,
}

/// A function or class, by index.
#[derive(Clone, Copy, Debug)]
pub enum Global {
    Function(usize),
    Class(usize),
}

impl<'t> Program<'t> {
    /// Collects the definitions and imports of a file.
    pub fn of(root: Node<'t>, source: &'t str) -> Self {
        let mut program = Program::default();
        program.import_all(root, source);
        program.define(root, source);
        program.classify();
        program.find_parts(source);
        program.find_scripted(root, source);
        program
    }

    /// Collects the operands of `torch.jit.script(Step())` and `torch.jit.script(step)`.
    fn find_scripted(&mut self, root: Node<'t>, source: &'t str) {
        if !source.contains("jit.script(") {
            return;
        }
        let bodies = self.functions.iter().map(|function| function.node).chain([root]);
        for call in bodies.flat_map(within).filter(|node| node.kind() == "call") {
            let callee = field(call, "function").map_or("", |callee| text(callee, source));
            if callee.ends_with("jit.script") {
                let given = Arguments::of(call, source).positional.first().copied();
                let made = given.map(|given| field(given, "function").unwrap_or(given));
                self.scripted.extend(made.map(|made| text(made, source)));
            }
        }
    }

    /// Returns true if the class is a submodule of another module of the file.
    pub fn is_part(&self, class: usize) -> bool {
        self.parts.get(class).copied().unwrap_or(false)
    }

    fn find_parts(&mut self, source: &'t str) {
        self.parts = vec![false; self.classes.len()];
        let modules = self.functions.iter().filter(|function| {
            function.class.is_some_and(|class| self.classes[class].kind == ClassKind::Module)
        });
        for function in modules {
            let Some(body) = field(function.node, "body") else { continue };
            for call in within(body).into_iter().filter(|node| node.kind() == "call") {
                let name = field(call, "function").map_or("", |callee| text(callee, source));
                if let Some(Global::Class(class)) = self.globals.get(name) {
                    self.parts[*class] = true;
                }
            }
        }
    }

    /// Collects imports everywhere, including those in `try` blocks and functions.
    fn import_all(&mut self, root: Node<'t>, source: &'t str) {
        // The first of several imports of a name counts.
        for node in imports(root).into_iter().rev() {
            match node.kind() {
                "import_statement" => self.import(node, source),
                _ => self.import_from(node, source),
            }
        }
    }

    fn import(&mut self, node: Node<'t>, source: &'t str) {
        for name in fields(node, "name") {
            match (field(name, "name"), field(name, "alias")) {
                (Some(path), Some(alias)) => {
                    self.imports.insert(text(alias, source), text(path, source).to_owned());
                }
                // `import torch.nn` binds `torch`.
                _ => {
                    let first = text(name, source).split('.').next().unwrap_or("");
                    self.imports.insert(first, first.to_owned());
                }
            }
        }
    }

    fn import_from(&mut self, node: Node<'t>, source: &'t str) {
        let Some(module) = field(node, "module_name").map(|module| text(module, source)) else { return };
        for name in fields(node, "name") {
            let (path, local) = match (field(name, "name"), field(name, "alias")) {
                (Some(path), Some(alias)) => (text(path, source), text(alias, source)),
                _ => (text(name, source), text(name, source)),
            };
            self.imports.insert(local, format!("{module}.{path}"));
        }
    }

    fn define(&mut self, root: Node<'t>, source: &'t str) {
        let mut todo: Vec<(Node<'t>, Option<usize>)> = vec![(root, None)];
        while let Some((node, class)) = todo.pop() {
            for child in children(node) {
                let definition = field(child, "definition").unwrap_or(child);
                match definition.kind() {
                    "class_definition" => {
                        let index = self.define_class(definition, child, class.is_none(), source);
                        todo.extend(field(definition, "body").map(|body| (body, Some(index))));
                    }
                    "function_definition" => self.define_function(definition, child, class, source),
                    "if_statement" | "try_statement" | "else_clause" | "block" | "except_clause" => {
                        todo.push((child, class));
                    }
                    _ => {}
                }
            }
        }
    }

    fn define_class(&mut self, node: Node<'t>, decorated: Node<'t>, global: bool, source: &'t str) -> usize {
        let name = field(node, "name").map_or("", |name| text(name, source));
        let bases = field(node, "superclasses").map(children).unwrap_or_default();
        let bases = bases.into_iter().filter(|base| base.kind() != "keyword_argument");
        let bases = bases.map(|base| self.full_path(text(bare(base), source))).collect();
        let decorators = decorators(decorated, source);
        let data = decorators.iter().any(|decorator| decorator.contains("dataclass"));
        let kind = if data { ClassKind::Data } else { ClassKind::Other };
        let (local_bases, methods) = (vec![], FxHashMap::default());
        let class = Class { name, node, kind, bases, local_bases, methods, decorators };
        self.classes.push(class);
        if global {
            self.globals.insert(name, Global::Class(self.classes.len() - 1));
        }
        self.classes.len() - 1
    }

    fn define_function(
        &mut self,
        node: Node<'t>,
        decorated: Node<'t>,
        class: Option<usize>,
        source: &'t str,
    ) {
        let name = field(node, "name").map_or("", |name| text(name, source));
        let index = self.functions.len();
        let decorators = decorators(decorated, source);
        self.functions.push(Function { name, node, class, outer: None, decorators });
        self.define_nested(index, node, source);
        match class {
            Some(class) => {
                self.classes[class].methods.insert(name, index);
            }
            None => {
                self.globals.insert(name, Global::Function(index));
            }
        }
    }

    /// Collects the functions and lambdas in the body of a function, but not those in its nested functions.
    fn define_nested(&mut self, outer: usize, node: Node<'t>, source: &'t str) {
        let Some(body) = field(node, "body") else { return };
        for node in within(body) {
            let name = match node.kind() {
                "function_definition" => field(node, "name").map_or("", |name| text(name, source)),
                "lambda" if node.is_named() => LAMBDA,
                _ => continue,
            };
            self.nested.insert(node.id(), self.functions.len());
            self.functions.push(Function { name, node, class: None, outer: Some(outer), decorators: vec![] });
        }
    }

    /// Returns true if a function is assumed to be compiled by TorchScript, which keeps loops and branches.
    ///
    /// A decorator of `torch.jit` other than `ignore` and `unused` names it, or the file passes the function or its
    /// class to `torch.jit.script`.
    pub fn is_scripted(&self, function: usize) -> bool {
        let Some(function) = self.functions.get(function) else { return false };
        let class = function.class.map(|class| self.classes[class].name);
        let compiles = |decorator: &&str| {
            decorator.contains("jit.") && !["ignore", "unused"].iter().any(|word| decorator.contains(word))
        };
        function.decorators.iter().any(compiles) || self.scripted.contains(class.unwrap_or(function.name))
    }

    /// Returns the class whose method contains a lambda.
    pub fn class_around(&self, lambda: usize) -> Option<usize> {
        let function = self.functions.get(lambda).filter(|function| function.name == LAMBDA)?;
        self.functions[function.outer?].class
    }

    /// Returns true if a function is nested in another one.
    pub fn is_nested(&self, function: usize) -> bool {
        self.functions.get(function).is_some_and(|function| self.nested.contains_key(&function.node.id()))
    }

    /// Resolves a path by the imports of the file, or by customary aliases: `nn` is `torch.nn`.
    pub fn full_path(&self, path: &str) -> String {
        let (first, rest) = path.split_once('.').map_or((path, None), |(first, rest)| (first, Some(rest)));
        let customary = match first {
            "nn" => "torch.nn",
            "F" => "torch.nn.functional",
            "np" => "numpy",
            _ => first,
        };
        let start = self.imports.get(first).map_or(customary, String::as_str);
        rest.map_or(start.to_owned(), |rest| format!("{start}.{rest}"))
    }

    /// Sets the kind and the local bases of each class.
    fn classify(&mut self) {
        for index in 0..self.classes.len() {
            let bases = std::mem::take(&mut self.classes[index].bases);
            let (local, other): (Vec<_>, Vec<_>) = bases
                .into_iter()
                .partition(|base| matches!(self.globals.get(base.as_str()), Some(Global::Class(_))));
            let local = local.iter().filter_map(|base| match self.globals.get(base.as_str()) {
                Some(Global::Class(class)) if *class != index => Some(*class),
                _ => None,
            });
            self.classes[index].local_bases = local.collect();
            self.classes[index].bases = other;
        }
        // Kinds propagate from bases to derived classes, one level per round.
        for _ in 0..self.classes.len().min(MAX_INHERITANCE) {
            for index in 0..self.classes.len() {
                let kind = self.kind(&self.classes[index]);
                self.classes[index].kind = kind;
            }
        }
    }

    fn kind(&self, class: &Class) -> ClassKind {
        let mut inherited = class.local_bases.iter().map(|base| self.classes[*base].kind);
        let inherited = inherited.find(|kind| *kind != ClassKind::Other);
        let known = class.bases.iter().find_map(|base| known_base(base));
        let has_forward = class.methods.contains_key("forward") && !class.bases.is_empty();
        match (class.kind, inherited.or(known)) {
            (ClassKind::Other, Some(kind)) => kind,
            (ClassKind::Other, None) if has_forward => ClassKind::Module,
            (kind, _) => kind,
        }
    }

    /// Returns the method `name` of a class or of its bases in this file.
    pub fn method(&self, class: usize, name: &str) -> Option<usize> {
        self.lineage(class).into_iter().find_map(|class| self.classes[class].methods.get(name).copied())
    }

    /// Returns the class and its bases in this file, nearest first.
    pub fn lineage(&self, class: usize) -> Vec<usize> {
        let mut found = vec![class];
        let mut at = 0;
        while at < found.len() && found.len() < MAX_INHERITANCE {
            for base in &self.classes[found[at]].local_bases {
                if !found.contains(base) {
                    found.push(*base);
                }
            }
            at += 1;
        }
        found
    }
}

/// Name of a lambda.
pub const LAMBDA: &str = "<lambda>";

/// Maximum number of classes in an inheritance chain.
const MAX_INHERITANCE: usize = 64;

fn decorators<'t>(decorated: Node<'t>, source: &'t str) -> Vec<&'t str> {
    let nodes = children(decorated).into_iter().filter(|child| child.kind() == "decorator");
    nodes.map(|node| text(node, source).trim_start_matches('@').trim()).collect()
}

fn known_base(base: &str) -> Option<ClassKind> {
    let last = base.rsplit('.').next().unwrap_or(base);
    match last {
        "Function" | "InplaceFunction" if base.contains("autograd") => Some(ClassKind::AutogradFunction),
        "TypedDict" => Some(ClassKind::Data),
        _ if last.ends_with("ModelOutput") => Some(ClassKind::Data),
        "ScriptModule" => Some(ClassKind::Other),
        "Module" | "PreTrainedModel" | "LightningModule" => Some(ClassKind::Module),
        _ if base.starts_with("torch.nn.") => Some(ClassKind::Module),
        _ => None,
    }
}
