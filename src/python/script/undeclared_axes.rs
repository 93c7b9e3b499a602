//! Axes of inputs that are fixed, although the model combines them with dynamic axes.

use std::rc::Rc;

use crate::diag::{Finding, Level, Place, rule_ids};

use super::calls::Args;
use super::exporting::ExportCall;
use super::machine::Machine;
use super::resizing::{Resizing, resized};
use super::tensor::Tensor;
use super::value::Value;

/// Maximum number of axes that are tried.
const MAX_AXES: usize = 6;

/// An axis: the position of its input, and the axis of the tensor.
type Axis = (usize, usize);

impl<'t> Machine<'t> {
    /// Returns the other axes that must be dynamic so that a model runs at other sizes.
    ///
    /// The model fails without them. Returns no axes if the failure has another cause.
    pub fn undeclared_axes(
        &mut self,
        model: &Value<'t>,
        values: &[Value<'t>],
        axes: &[Vec<(i64, Value<'t>)>],
        args: &Args<'t>,
    ) -> Vec<Axis> {
        let Some(changed) = resized(values, axes, Resizing::Larger) else { return vec![] };
        let mut needed = partners(values, &changed, axes);
        if needed.is_empty()
            || needed.len() > MAX_AXES
            || !self.runs_with(model, values, &changed, &needed, args)
        {
            return vec![];
        }
        for axis in needed.clone() {
            let fewer: Vec<Axis> = needed.iter().copied().filter(|other| *other != axis).collect();
            if !fewer.is_empty() && self.runs_with(model, values, &changed, &fewer, args) {
                needed = fewer;
            }
        }
        needed
    }

    /// Returns true if a model runs when the sizes of `axes` change with the dynamic axes.
    fn runs_with(
        &mut self,
        model: &Value<'t>,
        values: &[Value<'t>],
        changed: &[Value<'t>],
        axes: &[Axis],
        args: &Args<'t>,
    ) -> bool {
        let mut joint = changed.to_vec();
        for (place, axis) in axes {
            let size = size(&values[*place], *axis);
            let new = size.and_then(|size| new_size(values, changed, size));
            let Value::Tensor(tensor) = &joint[*place] else { continue };
            let Some(mut shape) = tensor.shape.clone() else { continue };
            shape[*axis] = new;
            joint[*place] =
                Value::Tensor(Rc::new(Tensor { shape: Some(shape), data: None, ..(**tensor).clone() }));
        }
        self.quiet_run(model, joint, args).is_ok()
    }

    /// Returns the finding about axes that must be dynamic, too.
    pub fn undeclared_finding(
        &mut self,
        model: &Value<'t>,
        call: &ExportCall<'t>,
        values: &[Value<'t>],
        needed: &[Axis],
        failure: &Finding,
    ) -> Option<Finding> {
        let (place, axis) = *needed.first()?;
        let parameters = self.forward_parameters(model).unwrap_or_default();
        let name = |place: usize| parameters.get(place).map_or("input", |parameter| parameter.name);
        let size = size(&values[place], axis)?;
        let is_axes = |name: Option<&str>| matches!(name, Some("dynamic_axes" | "dynamic_shapes"));
        let argument = call.arguments.iter().find(|argument| is_axes(argument.name.as_deref()));
        let node = argument.and_then(|argument| argument.node).unwrap_or(call.node);
        let message = format!(
            "axis {axis} of `{}` keeps the size {size} of the example, but the model combines it with a dynamic axis",
            name(place)
        );
        let entries: Vec<String> =
            needed.iter().map(|(place, axis)| format!("axis {axis} of `{}`", name(*place))).collect();
        let finding = rule_ids::BAKED_SHAPE
            .at(Level::Error)
            .finding(message, Place::Source(self.place(call.file, node)))
            .note(format!("at another size, {}", failure.message))
            .help(format!("declare {} dynamic, too", entries.join(" and ")));
        Some(match failure.source.clone() {
            Some(failed) => finding.related(Place::Source(failed), "fails here"),
            None => finding,
        })
    }
}

/// Returns the axes that have the size of a dynamic axis in the example, but are not declared dynamic.
fn partners(values: &[Value], changed: &[Value], axes: &[Vec<(i64, Value)>]) -> Vec<Axis> {
    let mut found = vec![];
    for (place, value) in values.iter().enumerate() {
        let rank = value.tensor().and_then(Tensor::rank).unwrap_or(0);
        let is_declared = |axis: usize| {
            let declared = axes.get(place).into_iter().flatten();
            declared.into_iter().any(|(known, _)| usize::try_from(*known) == Ok(axis))
        };
        let is_partner = |axis: &usize| {
            let size = size(value, *axis).filter(|size| *size > 1);
            !is_declared(*axis) && size.is_some_and(|size| new_size(values, changed, size).is_some())
        };
        found.extend((0..rank).filter(is_partner).map(|axis| (place, axis)));
    }
    found
}

/// Returns the size to which the first dynamic axis of a size changes.
fn new_size(values: &[Value], changed: &[Value], size: i64) -> Option<i64> {
    let shapes = values.iter().zip(changed).filter_map(|(before, after)| {
        Some((before.tensor()?.shape.as_ref()?, after.tensor()?.shape.as_ref()?))
    });
    let mut sizes = shapes.flat_map(|(before, after)| before.iter().zip(after));
    let (_, after) = sizes.find(|(before, after)| **before == Some(size) && before != after)?;
    *after
}

fn size(value: &Value, axis: usize) -> Option<i64> {
    *value.tensor()?.shape.as_ref()?.get(axis)?
}
