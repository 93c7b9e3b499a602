//! Functions of other files: what a call of one gives, and what is wrong in it.

use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use tree_sitter::Node;

use crate::diag::{Finding, Place};
use crate::source::SourceFiles;

use super::calls::Call;
use super::interpreter::Interpreter;
use super::library::Library;
use super::program::{Global, Program};
use super::syntax::{field, one_line, text};
use super::value::Value;

/// Files that are followed from one to the next.
const MAX_DEPTH: u32 = 3;

/// Calls into other files that are looked into for one file.
const MAX_CALLS: usize = 64;

/// Names of other files that are looked for, for one file.
const MAX_DEFINITIONS: usize = 256;

/// Where a function or class of another file stands.
#[derive(Clone, Debug)]
pub struct Definition {
    file: Arc<str>,
    text: Arc<str>,
    /// What it is called there.
    name: String,
}

/// What an interpreter knows of the files beside its own.
#[derive(Clone, Copy, Debug)]
pub struct ImportContext<'s> {
    pub sources: &'s SourceFiles,
    /// What was read of them.
    pub library: &'s Library,
    /// How many files were entered to come to this one.
    pub depth: u32,
    /// Whether a fault stands at its own line, as it does for a graph, rather than at the call that leads to it.
    pub in_place: bool,
}

/// What a call into another file came to.
#[derive(Clone, Debug)]
pub struct Visit {
    value: Value,
    findings: Vec<Finding>,
}

impl<'t> Interpreter<'t> {
    /// Calls the function at `path` (`helpers.count_of`), if it stands in a file that is here.
    pub fn imported_call(&mut self, path: &str, call: &Call<'t>) -> Option<Value> {
        self.call_abroad(path, None, call)
    }

    /// Calls the method `name` that an object of this file inherits from a class of another.
    pub fn inherited_call(
        &mut self,
        of: &Value,
        name: &str,
        object: Node<'t>,
        call: &Call<'t>,
    ) -> Option<Value> {
        self.abroad?;
        let is_super =
            field(object, "function").is_some_and(|function| text(function, self.source) == "super");
        let class = match of {
            Value::Instance(class) if self.program.method(*class, name).is_none() => *class,
            Value::Unknown if is_super => self.frames.last()?.class?,
            _ => return None,
        };
        let lineage = self.program.lineage(class);
        let bases: Vec<&String> = lineage.iter().flat_map(|one| &self.program.classes[*one].bases).collect();
        bases.into_iter().find_map(|base| self.call_abroad(base, Some(name), call))
    }

    /// Calls what stands at `path`: a function, or the method of a class.
    fn call_abroad(&mut self, path: &str, method: Option<&str>, call: &Call<'t>) -> Option<Value> {
        let abroad = self.abroad.filter(|abroad| abroad.depth < MAX_DEPTH)?;
        let Definition { file, text, name } = self.defined(path, abroad)?;
        let arguments: Vec<Value> = call.values.iter().cloned().map(Value::anywhere).collect();
        let keywords: Vec<(String, Value)> =
            call.keywords.iter().map(|(key, value)| ((*key).to_owned(), value.clone().anywhere())).collect();
        let plain = |mut value: Value| {
            value.renumber(&mut |_| 0);
            value
        };
        let key = format!(
            "{file} {name} {method:?} {:?} {:?}",
            arguments.iter().cloned().map(plain).collect::<Vec<_>>(),
            keywords.iter().map(|(key, value)| (key, plain(value.clone()))).collect::<Vec<_>>(),
        );
        if !self.visits.contains_key(&key) {
            if self.visits.len() >= MAX_CALLS {
                return None;
            }
            let visit = visit(&file, &text, (&name, method), arguments, &keywords, abroad)?;
            self.visits.insert(key.clone(), visit);
        }
        let visit = self.visits.get(&key)?.clone();
        for finding in visit.findings {
            let own = if abroad.in_place { finding } else { self.at_call(finding, call, &file) };
            self.tell(own);
        }
        // Identities of one file mean nothing in another.
        Some(self.afresh(visit.value))
    }

    /// What this file knows by `path`, looked for once.
    fn defined(&mut self, path: &str, abroad: ImportContext) -> Option<Definition> {
        if let Some(known) = self.definitions.get(path) {
            return known.clone();
        }
        if self.definitions.len() >= MAX_DEFINITIONS {
            return None;
        }
        let found = definition(abroad, &self.file, path);
        self.definitions.insert(path.to_owned(), found.clone());
        found
    }

    /// The finding at the line that calls the function it is in.
    fn at_call(&self, finding: Finding, call: &Call<'t>, file: &str) -> Finding {
        let place = self.place(call.node);
        let there = finding.source.as_ref().map_or(0, |source| source.line);
        let name = Path::new(file).file_name().and_then(|name| name.to_str()).unwrap_or(file);
        let message =
            format!("in `{}`, {name}:{there}: {}", one_line(call.node, self.source), finding.message);
        let source = Some(place.clone());
        // What could be written otherwise stands in the other file.
        Finding { message, place: Place::Source(place), source, rewrite: None, ..finding }
    }
}

/// Looks into one function of another file, or into a method of one of its classes.
fn visit(
    file: &Arc<str>,
    text: &str,
    (name, method): (&str, Option<&str>),
    mut arguments: Vec<Value>,
    keywords: &[(String, Value)],
    abroad: ImportContext,
) -> Option<Visit> {
    let volume = abroad.library.volume(file, text)?;
    let root = volume.tree.root_node();
    let program = Program::of(root, text);
    let (index, class) = match (program.globals.get(name).copied()?, method) {
        (Global::Function(index), None) => (index, None),
        (Global::Class(class), Some(method)) => (program.method(class, method)?, Some(class)),
        _ => return None,
    };
    let is_static = program.functions[index].decorators.iter().any(|one| one.ends_with("staticmethod"));
    if let Some(class) = class.filter(|_| !is_static) {
        arguments.insert(0, Value::Instance(class));
    }
    let mut interpreter = Interpreter::new(text, file.clone(), &program, root);
    interpreter.abroad = Some(ImportContext { depth: abroad.depth + 1, ..abroad });
    let keywords: Vec<(&str, Value)> =
        keywords.iter().map(|(key, value)| (key.as_str(), value.clone())).collect();
    let value = interpreter.enter(index, class, arguments, &keywords).anywhere();
    Some(Visit { value, findings: interpreter.findings })
}

/// Where what `from` knows by `path` stands, through packages that only hand it on.
fn definition(abroad: ImportContext, from: &str, path: &str) -> Option<Definition> {
    let (mut from, mut path) = (Arc::<str>::from(from), path.to_owned());
    for _ in 0..MAX_DEPTH {
        let (module, name) = path.rsplit_once('.')?;
        let module = if module.is_empty() { "." } else { module };
        let (file, text) = module_file(abroad.sources, &from, module)?;
        let volume = abroad.library.volume(&file, &text)?;
        if volume.defines(name) {
            return Some(Definition { file, text, name: name.to_owned() });
        }
        let onward = volume.import(name)?.clone();
        (from, path) = (file, onward);
    }
    None
}

/// The file of a module as `from` imports it, as recorded, and its text: beside it, or below a folder above it.
fn module_file(sources: &SourceFiles, from: &str, module: &str) -> Option<(Arc<str>, Arc<str>)> {
    let path = from.replace('\\', "/");
    let relative = module.len() - module.trim_start_matches('.').len();
    let tail = module.trim_start_matches('.').replace('.', "/");
    if tail.is_empty() || !tail.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_/".contains(&byte)) {
        return None;
    }
    let folder = Path::new(&path).parent()?;
    let first = tail.split('/').next().unwrap_or("");
    let mut folders: Vec<PathBuf> = match relative {
        0 => folder.ancestors().filter(|folder| is_named(folder)).map(Path::to_owned).collect(),
        up => folder.ancestors().nth(up - 1).map(Path::to_owned).into_iter().collect(),
    };
    // A folder of the name that the path begins with is that folder itself.
    folders.sort_by_key(|folder| relative == 0 && folder.ends_with(first));
    folders.iter().find_map(|folder| {
        let base = folder.join(&tail).to_string_lossy().replace('\\', "/");
        [format!("{base}.py"), format!("{base}/__init__.py")].into_iter().find_map(|file| {
            let text = sources.text(&file)?;
            Some((Arc::from(file), text))
        })
    })
}

/// Not the root of the file system, which holds no one's modules.
fn is_named(folder: &Path) -> bool {
    folder.components().all(|part| !matches!(part, Component::RootDir)) || folder.parent().is_some()
}

impl Value {
    /// The value as another file may have it: without what is an index into this one.
    fn anywhere(self) -> Value {
        match self {
            Value::Function(_)
            | Value::Partial(_)
            | Value::Class(_)
            | Value::Method { .. }
            | Value::Instance(_)
            | Value::Apply(_) => Value::Unknown,
            Value::Items(items) => Value::Items(items.iter().cloned().map(Value::anywhere).collect()),
            Value::Each(each) => Value::Each(Box::new(each.anywhere())),
            Value::Range(of) => Value::Range(Box::new(of.anywhere())),
            Value::Layer(_) => Value::Unknown,
            other => other,
        }
    }
}
