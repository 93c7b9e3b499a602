//! Names that PyTorch does not have, in code that the script does not run.

use super::super::program::Program;
use super::super::syntax::{children, field, text};
use super::machine::{Machine, Stop};

impl<'t> Machine<'t> {
    /// Reports the missing names of the whole script, except in code that may be skipped on purpose.
    pub fn check_names(&mut self) {
        let root = self.files[0].tree.root_node();
        let source = self.source(0);
        let program = Program::of(root, source);
        let mut todo = vec![root];
        while let Some(node) = todo.pop() {
            // Code below a condition or `try` may be for another version of PyTorch.
            let is_guarded = ["if_statement", "try_statement", "conditional_expression", "boolean_operator"];
            if is_guarded.contains(&node.kind()) {
                continue;
            }
            if node.kind() == "attribute"
                && let (Some(object), Some(name)) = (field(node, "object"), field(node, "attribute"))
                && is_imported(&program, text(object, source))
                && let Some(Stop::Raised(raised)) =
                    self.missing_name(&program.full_path(text(object, source)), text(name, source), node)
            {
                self.tell(raised.finding);
            }
            todo.extend(children(node));
        }
    }
}

/// Returns true if the first name of a path is imported.
fn is_imported(program: &Program, path: &str) -> bool {
    program.imports.contains_key(path.split('.').next().unwrap_or(path))
}
