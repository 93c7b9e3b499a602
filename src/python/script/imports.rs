//! Imports of local files and of libraries.

use tree_sitter::Node;

use super::super::syntax::{children, field, fields};
use super::files;
use super::library;
use super::machine::{Machine, Stop};
use super::value::Value;

impl<'t> Machine<'t> {
    /// Runs `import a.b as c`.
    pub fn import_statement(&mut self, node: Node<'t>) -> Result<(), Stop> {
        for name in fields(node, "name") {
            match (field(name, "name"), field(name, "alias")) {
                (Some(path), Some(alias)) => {
                    let module = self.module(self.text(path))?;
                    self.set_variable(self.text(alias), module);
                }
                _ => {
                    let path = self.text(name);
                    let first = path.split('.').next().unwrap_or(path);
                    self.module(path)?;
                    let module = self.module(first)?;
                    self.set_variable(first, module);
                    self.import_inner(path)?;
                }
            }
        }
        Ok(())
    }

    /// Binds the local modules of `import a.b.c` as attributes of their packages.
    fn import_inner(&mut self, path: &'t str) -> Result<(), Stop> {
        for (at, _) in path.match_indices('.') {
            let package = self.module(&path[..at])?;
            let end = path[at + 1..].find('.').map_or(path.len(), |next| at + 1 + next);
            let module = self.module(&path[..end])?;
            if let (Value::Object(_), Value::Object(_)) = (&package, &module) {
                self.set_attribute(&package, &path[at + 1..end], module);
            }
        }
        Ok(())
    }

    /// Runs `from a import b`.
    pub fn import_from(&mut self, node: Node<'t>) -> Result<(), Stop> {
        let Some(module) = field(node, "module_name").map(|module| self.text(module)) else { return Ok(()) };
        let is_star = children(node).iter().any(|child| child.kind() == "wildcard_import");
        let from = self.module(module)?;
        if is_star {
            self.import_all(&from);
        }
        for name in fields(node, "name") {
            let (path, local) = match (field(name, "name"), field(name, "alias")) {
                (Some(path), Some(alias)) => (self.text(path), self.text(alias)),
                _ => (self.text(name), self.text(name)),
            };
            let value = match &from {
                Value::Object(scope) => {
                    let known = self.heap.scope(*scope).and_then(|scope| scope.variables.get(path).cloned());
                    match known {
                        Some(value) => value,
                        None => self.submodule(module, path)?,
                    }
                }
                Value::Name(library) => {
                    if let Some(stop) = self.missing_name(library, path, name) {
                        return Err(stop);
                    }
                    library::constant(library, path)
                        .unwrap_or_else(|| Value::name(&library::canonical(library, path)))
                }
                _ => self.submodule(module, path)?,
            };
            self.set_variable(local, value);
        }
        Ok(())
    }

    fn submodule(&mut self, module: &str, name: &str) -> Result<Value<'t>, Stop> {
        let separator = if module.ends_with('.') { "" } else { "." };
        let path = format!("{module}{separator}{name}");
        match files::find(self.files, self.file(), &path) {
            Some(_) => self.module(&path),
            None => Ok(Value::Unknown),
        }
    }

    fn import_all(&mut self, from: &Value<'t>) {
        let Some(scope) = self.frames.last().map(|frame| frame.scope) else { return };
        let all = match from {
            Value::Object(other) => self.heap.scope(*other).cloned(),
            _ => None,
        };
        let Some(all) = all else {
            if let Some(scope) = self.heap.scope_mut(scope) {
                scope.open = true;
            }
            return;
        };
        let mut names: Vec<_> = all.variables.into_iter().collect();
        names.sort_by(|a, b| a.0.cmp(&b.0));
        for (name, value) in names.into_iter().filter(|(name, _)| !name.starts_with('_')) {
            self.bind_in(scope, &name, value);
        }
        if let Some(scope) = self.heap.scope_mut(scope) {
            scope.open |= all.open;
        }
    }

    /// Returns a module: the scope of a local file, or the name of a library.
    fn module(&mut self, path: &str) -> Result<Value<'t>, Stop> {
        let Some(file) = files::find(self.files, self.file(), path) else {
            let is_relative = path.starts_with('.');
            return Ok(if is_relative { Value::Unknown } else { Value::name(&library::canonical("", path)) });
        };
        if file == self.file() {
            return Ok(Value::Unknown);
        }
        match self.run_file(file, path) {
            Ok(scope) => Ok(Value::Object(scope)),
            Err(Stop::Raised(raised)) if raised.finding.is_some() => Err(Stop::Raised(raised)),
            Err(Stop::Raised(_)) => Ok(Value::Unknown),
            Err(stop) => Err(stop),
        }
    }
}
