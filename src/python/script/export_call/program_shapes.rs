//! `dynamic_shapes` for a program that `torch.export` exported before.

use crate::diag::Level;
use crate::diag::rule_ids::STATIC_EXPORT;

use super::super::super::syntax::text;
use super::super::torch::DIM;
use super::super::value::Value;
use super::check::{Check, Words};
use super::shapes::is_dynamic;

impl<'t> Check<'_, '_, 't> {
    /// Reports `dynamic_shapes` for a program that was exported without them.
    pub fn shapes_of_program(&mut self, program: &Value<'t>, shapes: &Value<'t>) {
        let origin = program.object().and_then(|object| self.machine.heap.instance(object)?.origin);
        let Some((file, export)) = origin else { return };
        if self.dynamic_axes_of(shapes) == 0
            || text(export, self.machine.source(file)).contains("dynamic_shapes")
            || self.mentions_here(&["functools", "partial("])
        {
            return;
        }
        let node = self.request.node("dynamic_shapes");
        let message = "`dynamic_shapes` has no effect: the program is exported already, with constant sizes";
        self.say(
            Words::new(STATIC_EXPORT, node, message)
                .at(Level::Warning)
                .help("pass `dynamic_shapes` to `torch.export.export`")
                .related(file, export, "the sizes become constants here"),
        );
    }

    /// Returns the number of dynamic axes in a part of `dynamic_shapes`.
    pub fn dynamic_axes_of(&self, shapes: &Value<'t>) -> usize {
        if let Some(entries) = self.machine.entries(shapes) {
            return entries.iter().map(|(_, shapes)| self.dynamic_axes_of(shapes)).sum();
        }
        if let Some(items) = self.machine.items(shapes) {
            return items.iter().map(|shapes| self.dynamic_axes_of(shapes)).sum();
        }
        usize::from(is_dynamic(shapes) || self.machine.library_class(shapes).as_deref() == Some(DIM))
    }
}
