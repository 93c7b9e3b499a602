//! Complex tensors as two tensors: the real and the imaginary parts.
//!
//! Operators that only move elements, or are linear with real factors, are applied to each part, and products
//! of two operands to pairs of parts (`bilinear.rs`). Any other operator becomes an `aten.complex` operator,
//! such as `aten.complex.mul.Tensor (ar, ai?, br, bi?)`. In the inputs, the imaginary part of an operand
//! follows the real part, and is absent for a real operand. A complex model input or output is one tensor,
//! with a last axis of size 2.

use super::argument;
use super::builder::{Builder, declared};
use super::names::Names;
use super::part::{Part, is_complex};
use crate::graph::{
    AttrValue, Attribute, DeclaredDim, Def, Dimension, ElemType, Tensor, Type, TypeKind, ValueId,
};
use crate::schema::aten;
use crate::torch::{self, Argument, Node};

/// Operators that can be applied to each part separately.
static BY_PARTS: Names = Names::new("
    _chunk_cat _neg_view _reshape_alias _to_copy _unsafe_index _unsafe_masked_index_put_accumulate _unsafe_view
    alias alias_copy as_strided as_strided_copy as_strided_scatter atleast_1d atleast_2d atleast_3d block_diag
    broadcast_tensors broadcast_to cartesian_prod cat channel_shuffle chunk clone column_stack combinations concat
    concatenate constant_pad_nd contiguous copy cumsum cumulative_trapezoid detach diag diag_embed diagflat diagonal
    diagonal_copy diagonal_scatter diff dsplit dstack empty empty_like expand expand_as expand_copy fft_fftshift
    fft_ifftshift fill flatten flip fliplr flipud full full_like gather gradient hsplit hstack index index_add
    index_copy index_fill index_put index_select lift_fresh lift_fresh_copy linalg_diagonal mT masked_fill
    masked_scatter masked_select mean meshgrid moveaxis movedim narrow narrow_copy native_channel_shuffle neg
    negative new_empty new_full new_zeros numpy_T permute permute_copy pixel_shuffle pixel_unshuffle positive put
    ravel repeat repeat_interleave reshape reshape_as resolve_conj resolve_neg roll rot90 scatter scatter_add select
    select_copy select_scatter slice slice_copy slice_scatter split split_copy split_with_sizes
    split_with_sizes_copy squeeze squeeze_copy stack sum sum_to_size swapaxes swapdims t t_copy take take_along_dim
    tensor_split tile to trace transpose transpose_copy trapezoid trapz tril triu type_as unbind unbind_copy
    unflatten unfold unfold_copy unsafe_chunk unsafe_split unsafe_split_with_sizes unsqueeze unsqueeze_copy view
    view_as view_copy vsplit vstack where zero zeros zeros_like");

/// Returns the type of a tensor of pairs whose parts have type `ty`.
fn paired(ty: Type) -> Type {
    match ty.kind {
        TypeKind::Tensor { elem, shape } => {
            let two = Dimension { dim: DeclaredDim::Value(2), denotation: None };
            let shape = shape.map(|shape| shape.into_iter().chain([two]).collect());
            TypeKind::Tensor { elem, shape }.into()
        }
        kind => kind.into(),
    }
}

impl Builder<'_> {
    /// Returns true if a value of the trace is a complex tensor.
    pub fn is_complex(&self, value: torch::ValueId) -> bool {
        self.trace.value(value).ty.elem().is_some_and(is_complex)
    }

    /// Returns the parts of a value: the real part and, if the value is complex, the imaginary part.
    pub(super) fn parts(&self, value: torch::ValueId) -> &'static [Part] {
        if self.is_complex(value) { &[Part::Real, Part::Imaginary] } else { &[Part::Real] }
    }

    /// Returns true if a node has complex operands or results.
    pub fn computes_complex(&self, node: &Node) -> bool {
        fn takes(builder: &Builder, argument: &Argument) -> bool {
            match argument {
                Argument::List(members) => members.iter().any(|member| takes(builder, member)),
                one => builder.is_complex_argument(one),
            }
        }
        node.outputs.iter().any(|&output| self.is_complex(output))
            || node.inputs.iter().any(|input| takes(self, &input.argument))
    }

    /// Lowers a node that has complex operands or results.
    pub fn complex_node(&mut self, node: &Node) -> Result<(), String> {
        if self.bilinear(node)? {
            return Ok(());
        }
        let base = node.op.in_place_of().or(node.op.aten()).unwrap_or_default();
        let is_truth = |&output: &torch::ValueId| self.trace.value(output).ty.elem() == Some(ElemType::Bool);
        let is_test = matches!(base, "to" | "_to_copy") && node.outputs.iter().any(is_truth);
        let by_parts = BY_PARTS.contains(base) && !is_test;
        let done = if by_parts { self.by_parts(node) } else { self.whole(node) };
        self.part = Part::Real;
        done
    }

    /// Applies the operator to each part separately, or only to the real part if its result is real.
    fn by_parts(&mut self, node: &Node) -> Result<(), String> {
        let gives = |builder: &Self, wanted: fn(ElemType) -> bool| {
            node.outputs.iter().all(|&output| builder.trace.value(output).ty.elem().is_some_and(wanted))
        };
        let is_complex = gives(self, is_complex);
        // A cast to a real type drops the imaginary part.
        let is_cast = matches!(node.op.aten(), Some("to" | "_to_copy" | "type_as"))
            && gives(self, ElemType::is_integer);
        if !is_complex && !is_cast && !gives(self, ElemType::is_float) {
            return Err(
                "its operands are complex, but its result is neither complex nor floating-point".to_owned()
            );
        }
        for part in [Part::Real, Part::Imaginary] {
            self.part = part;
            if part == Part::Imaginary && !is_complex {
                continue;
            }
            let said = argument::called(self, node)?;
            let outputs: Vec<ValueId> =
                node.outputs.iter().map(|&output| self.output(output, part)).collect();
            let made = outputs.iter().copied().map(Some).collect();
            self.add((aten::DOMAIN, &said.op), said.inputs, made, said.attrs);
            for (&of, &value) in node.outputs.iter().zip(&outputs) {
                self.define(of, part, value);
            }
        }
        Ok(())
    }

    /// Adds one `aten.complex` operator, with both parts of its operands and results.
    fn whole(&mut self, node: &Node) -> Result<(), String> {
        self.part = Part::Both;
        let said = argument::called(self, node)?;
        let mut outputs = Vec::new();
        for &output in &node.outputs {
            for &part in self.parts(output) {
                let value = self.output(output, part);
                outputs.push(Some(value));
                self.define(output, part, value);
            }
        }
        if !said.is_known {
            return Err("it is a custom operator with complex operands or results".to_owned());
        }
        self.add((aten::DOMAIN, &format!("{}{}", aten::COMPLEX, said.op)), said.inputs, outputs, said.attrs);
        Ok(())
    }

    /// Returns true if an argument is a complex tensor or number.
    pub fn is_complex_argument(&self, argument: &Argument) -> bool {
        match argument {
            Argument::Value(value) => self.is_complex(*value),
            argument => matches!(argument, Argument::Complex(..)),
        }
    }

    /// Returns the imaginary part of an operand; `None` if the operand is real.
    pub fn imaginary_of(&mut self, argument: &Argument) -> Option<ValueId> {
        match argument {
            Argument::Value(value) => self.part(*value, Part::Imaginary),
            Argument::Complex(_, imaginary) => Some(self.constant(argument::double(*imaginary))),
            _ => None,
        }
    }

    /// Returns the imaginary part of an operand, or zeros if the operand is real.
    pub fn imaginary_or_zeros(&mut self, argument: &Argument) -> Result<Option<ValueId>, String> {
        Ok(match (argument, self.imaginary_of(argument)) {
            (_, Some(imaginary)) => Some(imaginary),
            (Argument::None, None) => None,
            (Argument::Value(value), None) => {
                let like = self.value_of(*value)?;
                let ty = declared(&self.trace.value(*value).ty);
                let zeros = self.value("zeros", Def::Missing);
                self.declare(zeros, ty);
                self.add((aten::DOMAIN, "zeros_like"), vec![Some(like)], vec![Some(zeros)], Vec::new());
                Some(zeros)
            }
            _ => Some(self.constant(Tensor::from_raw(ElemType::Double, Vec::new(), vec![0; 8]))),
        })
    }

    /// Splits a tensor of pairs into the parts of a complex value.
    pub fn halve(&mut self, of: torch::ValueId, pairs: ValueId) {
        let ty = declared(&self.trace.value(of).ty);
        for (place, part) in [(0, Part::Real), (1, Part::Imaginary)] {
            let place = self.constant(Tensor::int64s(Vec::new(), &[place]));
            let half = self.onnx("Gather", vec![Some(pairs), Some(place)], vec![axis(-1)]);
            self.declare(half, ty.clone());
            self.define(of, part, half);
        }
    }

    /// Returns the model value for an output of the program, and its type.
    /// The parts of a complex output are stacked along a new last axis.
    pub fn returned(&mut self, value: torch::ValueId) -> Result<(ValueId, Type), String> {
        let real = self.value_of(value)?;
        let ty = declared(&self.trace.value(value).ty);
        let Some(imaginary) = self.part(value, Part::Imaginary) else { return Ok((real, ty)) };
        let last = self.constant(Tensor::int64s(vec![1], &[-1]));
        let parts = [real, imaginary];
        let parts = parts.map(|part| Some(self.onnx("Unsqueeze", vec![Some(part), Some(last)], Vec::new())));
        Ok((self.onnx("Concat", parts.to_vec(), vec![axis(-1)]), paired(ty)))
    }

    /// Returns the declared type of a model input.
    pub fn given_type(&self, value: torch::ValueId) -> Type {
        let ty = declared(&self.trace.value(value).ty);
        if self.is_complex(value) { paired(ty) } else { ty }
    }
}

fn axis(axis: i64) -> Attribute {
    Attribute::new("axis", AttrValue::Int(axis))
}
