//! Lowering of convolutions whose number of groups is computed at run time: a Scan over the groups.
//!
//! The number of groups of the operator Conv is an attribute.

use super::argument;
use super::body;
use super::builder::{Builder, declared};
use super::part::Part;
use crate::graph::{AttrValue, Attribute, DeclaredDim, Tensor, Type, TypeKind, ValueId};
use crate::torch::{self, Argument, Node};

/// Position of the argument `groups`.
fn position(name: &str) -> Option<usize> {
    match name {
        "conv1d" | "conv2d" | "conv3d" | "conv_transpose1d" | "conv_transpose2d" | "conv_transpose3d" => {
            Some(6)
        }
        "convolution" => Some(8),
        _ => None,
    }
}

impl Builder<'_> {
    /// Lowers a convolution with a computed number of groups; returns `false` for any other node.
    pub fn grouped(&mut self, node: &Node) -> Result<bool, String> {
        let Some(position) = node.op.aten().and_then(position) else { return Ok(false) };
        let given = self.trace.argument(node, position, "groups");
        let Some(groups) = given.filter(|given| self.trace.int(given).is_none()) else { return Ok(false) };
        let Some(groups) = self.trace.as_value(groups) else { return Ok(false) };
        let mut single = node.clone();
        for input in &mut single.inputs {
            if input.argument == Argument::Value(groups) {
                input.argument = Argument::Int(1);
            }
        }
        let called = argument::called(self, &single)?;
        let [x, w, rest @ ..] = &*called.inputs else { return Ok(false) };
        let (Some(x), Some(w), Some(&output)) = (*x, *w, node.outputs.first()) else { return Ok(false) };
        let ranks = [x, w].map(|value| self.known(value).1);
        if ranks[0].is_none() || ranks[0] != ranks[1] {
            return Err("its number of groups is not a constant, and its input has no batch axis".to_owned());
        }
        let one = self.constant(Tensor::int64s(vec![1], &[1]));
        let groups = self.value_of(groups)?;
        let groups = self.call("Reshape", &[groups, one]);
        let operands = [Some(x), Some(w)].into_iter().chain(rest.iter().copied());
        let operands: Vec<(usize, ValueId)> = operands.flatten().enumerate().collect();
        let axes: Vec<i64> = operands.iter().map(|(at, _)| i64::from(*at == 0)).collect();
        let mut inputs = Vec::new();
        for (&(_, operand), &axis) in operands.iter().zip(&axes) {
            inputs.push(Some(self.in_groups(operand, groups, axis)));
        }
        let types: Vec<Type> = (single.inputs.iter().zip(&operands).zip(&axes))
            .map(|((input, _), &axis)| self.of_group(self.trace.as_value(&input.argument), axis))
            .collect();
        let result = self.of_group(Some(output), 1);
        let body = self.body(|builder| {
            let own = types.iter().map(|ty| Some(builder.body_input("group", ty.clone()))).collect();
            let made = builder.aten(&called.op, own, called.attrs.clone(), result.clone());
            builder.give_one(made, result.clone());
            Ok(())
        })?;
        let mut attrs = body::scan(body, axes.len());
        attrs.push(Attribute::new("scan_input_axes", AttrValue::Ints(axes)));
        attrs.push(Attribute::new("scan_output_axes", AttrValue::Ints(vec![1])));
        let stacked = self.unmade(&called.op);
        self.add_with_bodies("Scan", inputs, vec![Some(stacked)], attrs);
        let (groups, channels) = (self.sizes(stacked, 1, Some(2)), self.sizes(stacked, 2, Some(3)));
        let channels = self.call("Mul", &[groups, channels]);
        let shape = [self.sizes(stacked, 0, Some(1)), channels, self.sizes(stacked, 3, None)];
        let shape = self.joined(shape.map(Some).to_vec(), 0);
        let whole = self.output(output, Part::Real);
        self.add(("", "Reshape"), vec![Some(stacked), Some(shape)], vec![Some(whole)], Vec::new());
        self.define(output, Part::Real, whole);
        Ok(true)
    }

    /// Splits an axis into an axis of groups, and an axis within a group.
    fn in_groups(&mut self, value: ValueId, groups: ValueId, axis: i64) -> ValueId {
        let all = self.sizes(value, axis, Some(axis + 1));
        let each = self.call("Div", &[all, groups]);
        let before = (axis > 0).then(|| self.sizes(value, 0, Some(axis)));
        let is_last = self.known(value).1 == usize::try_from(axis + 1).ok();
        let behind = (!is_last).then(|| self.sizes(value, axis + 1, None));
        let sizes = [before, Some(groups), Some(each), behind].into_iter().flatten().map(Some).collect();
        let shape = self.joined(sizes, 0);
        self.call("Reshape", &[value, shape])
    }

    /// Returns the sizes of some axes at run time.
    fn sizes(&mut self, value: ValueId, start: i64, end: Option<i64>) -> ValueId {
        let mut attrs = vec![Attribute::new("start", AttrValue::Int(start))];
        attrs.extend(end.map(|end| Attribute::new("end", AttrValue::Int(end))));
        self.onnx("Shape", vec![Some(value)], attrs)
    }

    /// Returns the recorded type of a tensor, with an unknown size of the axis that is split into groups.
    fn of_group(&self, value: Option<torch::ValueId>, axis: i64) -> Type {
        let ty = value.map(|value| declared(&self.trace.value(value).ty));
        let mut ty = ty.unwrap_or_else(|| TypeKind::Undefined.into());
        if let TypeKind::Tensor { shape: Some(shape), .. } = &mut ty.kind
            && let Some(dim) = usize::try_from(axis).ok().and_then(|axis| shape.get_mut(axis))
        {
            dim.dim = DeclaredDim::Absent;
        }
        ty
    }
}
