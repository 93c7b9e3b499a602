//! Axes that a call declares dynamic, and examples with other sizes on these axes.

use std::rc::Rc;

use super::exporting::ExportCall;
use super::machine::Machine;
use super::tensor::Tensor;
use super::torch::DIM;
use super::value::Value;

/// Direction in which the sizes of dynamic axes change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Resizing {
    /// Twice the size.
    Larger,
    /// Half the size.
    Smaller,
    /// One more than the size.
    Odd,
    /// Eight times the size.
    Huge,
    /// An eighth of the size.
    Tiny,
}

impl Resizing {
    /// Returns true if models may raise at such sizes.
    ///
    /// A model may require multiples of a number, and a least or largest size.
    pub fn is_extreme(self) -> bool {
        !matches!(self, Resizing::Larger | Resizing::Smaller)
    }
}

impl<'t> Machine<'t> {
    /// Returns, for each positional example, the axes that a call declares dynamic, with their names.
    pub fn requested_axes(
        &mut self,
        model: &Value<'t>,
        call: &ExportCall<'t>,
        values: &[Value<'t>],
    ) -> Vec<Vec<(i64, Value<'t>)>> {
        let count = values.len();
        let argument = |name: &str| call.named(name).map(|argument| argument.value.clone());
        let mut found = vec![vec![]; count];
        if let Some(axes) = argument("dynamic_axes") {
            let names = argument("input_names").and_then(|names| self.items(&names)).unwrap_or_default();
            // `input_names` has no names for arguments that are `None`.
            let inputs: Vec<usize> = (0..count).filter(|at| values[*at] != Value::None).collect();
            for (name, axes) in self.entries(&axes).unwrap_or_default() {
                let at = names.iter().position(|known| *known == name);
                if let Some(at) = at.and_then(|at| inputs.get(at)) {
                    found[*at] = self.axis_list(&axes);
                }
            }
        }
        let Some(shapes) = argument("dynamic_shapes") else { return found };
        let parameters = self.forward_parameters(model).unwrap_or_default();
        match self.entries(&shapes) {
            Some(entries) => {
                for (name, axes) in entries {
                    let at = parameters.iter().position(|parameter| name.text() == Some(parameter.name));
                    if let Some(at) = at.filter(|at| *at < count) {
                        found[at] = self.axis_list(&axes);
                    }
                }
            }
            None => {
                for (at, axes) in self.items(&shapes).unwrap_or_default().iter().enumerate().take(count) {
                    found[at] = self.axis_list(axes);
                }
            }
        }
        found
    }

    /// Returns true if no axis of a call has a size that depends on that of another axis.
    ///
    /// A derived dimension, such as `2 * h`, permits only sizes that fit those of its root.
    pub fn has_free_axes(&self, call: &ExportCall<'t>) -> bool {
        call.named("dynamic_shapes").is_none_or(|shapes| self.is_free(&shapes.value))
    }

    /// Returns true if an entry of `dynamic_shapes`, with all its items, has no derived dimension.
    fn is_free(&self, entry: &Value<'t>) -> bool {
        if self.library_class(entry).as_deref() == Some(DIM) {
            return self.attribute_of(entry, "root").is_none();
        }
        match entry {
            Value::None | Value::Int(_) | Value::Str(_) | Value::Name(_) => true,
            _ => self.members(entry).is_some_and(|members| members.iter().all(|member| self.is_free(member))),
        }
    }

    /// Returns the values of a dictionary, or the items of a list or tuple.
    pub fn members(&self, value: &Value<'t>) -> Option<Vec<Value<'t>>> {
        let entries = self.entries(value);
        let values = entries.map(|entries| entries.into_iter().map(|(_, value)| value).collect());
        values.or_else(|| self.items(value))
    }

    /// Returns the axes of an entry, which is a dictionary, a list of numbers, or a list of names.
    fn axis_list(&self, axes: &Value<'t>) -> Vec<(i64, Value<'t>)> {
        if let Some(entries) = self.entries(axes) {
            let given = entries.into_iter().filter(|(_, name)| is_dynamic(name));
            return given.filter_map(|(axis, name)| Some((axis.int()?, name))).collect();
        }
        let items = self.items(axes).unwrap_or_default();
        if items.iter().all(|item| matches!(item, Value::Int(_))) {
            // Listed axes are dynamic, without a name.
            return items.iter().filter_map(|axis| Some((axis.int()?, Value::Unknown))).collect();
        }
        (0i64..).zip(items).filter(|(_, name)| is_dynamic(name)).collect()
    }
}

/// Returns true if an entry of `dynamic_shapes` makes an axis dynamic for certain.
fn is_dynamic(dim: &Value) -> bool {
    match dim {
        Value::None | Value::Int(_) | Value::Unknown => false,
        Value::Name(path) => path.ends_with(".DYNAMIC"),
        _ => true,
    }
}

/// Returns examples with changed sizes of dynamic axes, or `None` if no dynamic axis has a known size.
pub fn resized<'t>(
    values: &[Value<'t>],
    axes: &[Vec<(i64, Value<'t>)>],
    resizing: Resizing,
) -> Option<Vec<Value<'t>>> {
    let mut changed = values.to_vec();
    let mut any = false;
    // An axis that has the same name as the first axis of an input is resized like a batch, too.
    let batches: Vec<&Value<'t>> = axes
        .iter()
        .flatten()
        .filter(|(axis, name)| *axis == 0 && matches!(name, Value::Str(_) | Value::Object(_)))
        .map(|(_, name)| name)
        .collect();
    for (value, axes) in changed.iter_mut().zip(axes) {
        let Value::Tensor(tensor) = value else { continue };
        let Some(mut shape) = tensor.shape.clone() else { continue };
        for (axis, name) in axes {
            let size = usize::try_from(*axis).ok().and_then(|axis| shape.get_mut(axis));
            let Some(Some(size)) = size else { continue };
            // The batch may have any size. Strides and windows often require multiples of a number, so
            // other axes are doubled or halved (odd sizes: reduced by 1).
            *size = match (*axis == 0 || batches.contains(&name), resizing) {
                (true, Resizing::Tiny) => 1,
                (_, Resizing::Huge) => *size * 8,
                (true, Resizing::Smaller) => *size + 2,
                (true, _) | (_, Resizing::Odd) => *size + 1,
                (_, Resizing::Larger) => *size * 2,
                (_, Resizing::Tiny) => (*size / 8).max(1),
                (_, Resizing::Smaller) if *size % 2 == 0 => *size / 2,
                (_, Resizing::Smaller) if *size > 1 => *size - 1,
                _ => *size,
            };
            any = true;
        }
        let shape = Some(shape);
        *value = Value::Tensor(Rc::new(Tensor { shape, data: None, varies: true, ..(**tensor).clone() }));
    }
    any.then_some(changed)
}
