//! Calls of functions in other files: their results, and the faults in them.

use std::ops::RangeInclusive;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use tree_sitter::Node;

use crate::diag::{Finding, Level, Place};
use crate::source::SourceFiles;

use super::calls::Call;
use super::import_context::{Definition, ImportContext, Visit};
use super::interpreter::Interpreter;
use super::program::Global;
use super::syntax::{field, line, one_line, text, within};
use super::value::Value;

/// Maximum depth of imports that are followed.
const MAX_DEPTH: u32 = 3;

/// Maximum number of distinct calls into other files, for each [`Interpreter`].
const MAX_CALLS: usize = 64;

/// Maximum number of names that are resolved in other files, for each [`Interpreter`].
const MAX_DEFINITIONS: usize = 256;

impl<'t> Interpreter<'t> {
    /// Calls the function at `path` (`helpers.count_of`), if its file is available.
    pub fn imported_call(&mut self, path: &str, call: &Call<'t>) -> Option<Value> {
        self.call_abroad(path, None, call)
    }

    /// Calls the method `name` that a class of this file inherits from a class of another file.
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

    /// Calls the function at `path`, or the method of the class at `path`.
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
        // Identities are unique only within an interpreter.
        Some(self.afresh(visit.value))
    }

    /// Returns true if a decorator of a class assigns another `forward`.
    pub fn replaces_forward(&self, class: usize) -> bool {
        let decorators = &self.program.classes[class].decorators;
        decorators.iter().any(|decorator| {
            let name = decorator.split('(').next().unwrap_or(decorator);
            if let Some(Global::Function(index)) = self.program.globals.get(name) {
                return assigns_forward(text(self.program.functions[*index].node, self.source));
            }
            let found = self.abroad.and_then(|abroad| {
                let found = definition(abroad, &self.file, &self.program.full_path(name))?;
                let volume = abroad.library.volume(&found.file, &found.text)?;
                let Global::Function(index) = volume.global(&found.name)? else { return None };
                Some(assigns_forward(text(volume.program.functions[index].node, volume.text)))
            });
            found == Some(true)
        })
    }

    /// Returns the definition in another file that `path` refers to, and caches it.
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

    /// Moves a finding in a called function to the call.
    fn at_call(&self, finding: Finding, call: &Call<'t>, file: &str) -> Finding {
        let place = self.place(call.node);
        let there = finding.source.as_ref().map_or(0, |source| source.line);
        let name = Path::new(file).file_name().and_then(|name| name.to_str()).unwrap_or(file);
        let message =
            format!("in `{}`, {name}:{there}: {}", one_line(call.node, self.source), finding.message);
        let source = Some(place.clone());
        // Drop the replacement, which applies to the file of the called function.
        Finding { message, place: Place::Source(place), source, rewrite: None, ..finding }
    }
}

/// Evaluates a call of a function, or of a method of a class, of another file.
fn visit(
    file: &Arc<str>,
    text: &Arc<str>,
    (name, method): (&str, Option<&str>),
    mut arguments: Vec<Value>,
    keywords: &[(String, Value)],
    abroad: ImportContext,
) -> Option<Visit> {
    let volume = abroad.library.volume(file, text)?;
    let program = &volume.program;
    let (index, class) = match (volume.global(name)?, method) {
        (Global::Function(index), None) => (index, None),
        (Global::Class(class), Some(method)) => (program.method(class, method)?, Some(class)),
        _ => return None,
    };
    let is_static = program.functions[index].decorators.iter().any(|one| one.ends_with("staticmethod"));
    if let Some(class) = class.filter(|_| !is_static) {
        arguments.insert(0, Value::Instance(class));
    }
    let mut interpreter = Interpreter::new(volume.text, file.clone(), program, volume.root);
    interpreter.abroad = Some(ImportContext { depth: abroad.depth + 1, ..abroad });
    let keywords: Vec<(&str, Value)> =
        keywords.iter().map(|(key, value)| (key.as_str(), value.clone())).collect();
    let value = interpreter.enter(index, class, arguments, &keywords).anywhere();
    let mut findings = interpreter.findings;
    // A finding in a branch, or after another exit, may not concern the call.
    let uncertain = if abroad.in_place { Vec::new() } else { uncertain_lines(program.functions[index].node) };
    for finding in &mut findings {
        let at = finding.source.as_ref().map_or(0, |source| source.line);
        if uncertain.iter().any(|lines| lines.contains(&at)) {
            finding.level = finding.level.min(Level::Info);
        }
    }
    Some(Visit { value, findings })
}

/// Returns the lines of a function that some calls may not run.
///
/// They are those of branches, and those after a `return` in a compound statement.
fn uncertain_lines(function: Node) -> Vec<RangeInclusive<u32>> {
    let Some(body) = field(function, "body") else { return Vec::new() };
    let end = |node: Node| u32::try_from(node.end_position().row + 1).unwrap_or(u32::MAX);
    let mut lines = Vec::new();
    for node in within(body) {
        match node.kind() {
            "if_statement" | "try_statement" | "while_statement" | "match_statement" => {
                lines.push(line(node)..=end(node));
            }
            "return_statement" if node.parent() != Some(body) => lines.push(line(node) + 1..=end(body)),
            _ => {}
        }
    }
    lines
}

/// Returns the definition that `path` refers to in `from`, and follows re-exports of packages.
fn definition(abroad: ImportContext, from: &str, path: &str) -> Option<Definition> {
    let (mut from, mut path) = (Arc::<str>::from(from), path.to_owned());
    for _ in 0..MAX_DEPTH {
        let (module, name) = path.rsplit_once('.')?;
        let module = if module.is_empty() { "." } else { module };
        let (file, text) = module_file(abroad.sources, &from, module)?;
        let volume = abroad.library.volume(&file, &text)?;
        if volume.global(name).is_some() {
            return Some(Definition { file, text, name: name.to_owned() });
        }
        let onward = volume.import(name)?.clone();
        (from, path) = (file, onward);
    }
    None
}

/// Returns the path and the text of a module that the file `from` imports.
///
/// Absolute imports are searched for in the directory of `from`, then in the parent directories.
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
    // A directory named like the first part of the path is most likely that package, so it is searched last.
    folders.sort_by_key(|folder| relative == 0 && folder.ends_with(first));
    folders.iter().find_map(|folder| {
        let base = folder.join(&tail).to_string_lossy().replace('\\', "/");
        [format!("{base}.py"), format!("{base}/__init__.py")].into_iter().find_map(|file| {
            let text = sources.text(&file)?;
            Some((Arc::from(file), text))
        })
    })
}

fn assigns_forward(function: &str) -> bool {
    function.contains(".forward = ")
}

/// Returns false for the root of the file system, which contains no modules.
fn is_named(folder: &Path) -> bool {
    folder.components().all(|part| !matches!(part, Component::RootDir)) || folder.parent().is_some()
}

impl Value {
    /// Returns the value for use in another file.
    ///
    /// Functions, classes, instances and layers become `Unknown`.
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
