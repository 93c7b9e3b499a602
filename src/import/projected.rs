//! Lowering of LSTM layers that project their hidden states (`proj_size`): a Scan over the steps.
//!
//! The operator LSTM of ONNX has no projection.

use super::body;
use super::builder::Builder;
use super::recurrent::Net;
use crate::graph::{
    AttrValue, Attribute, DeclaredDim, Dimension, ElemType, GraphId, Tensor, Type, TypeKind, ValueId,
};

/// The transposed matrices that are multiplied with the hidden state and with the new hidden state.
#[derive(Clone, Copy)]
struct Matrices {
    recurrent: ValueId,
    projection: ValueId,
}

impl Builder<'_> {
    /// Adds one layer; returns its output sequence and its final states.
    pub(super) fn projected_layer(
        &mut self,
        net: &Net,
        x: ValueId,
        states: &[ValueId],
        weights: &[ValueId],
        layer: usize,
    ) -> Result<Vec<ValueId>, String> {
        let zero = self.constant(Tensor::int64s(vec![1], &[0]));
        let elem = self.known(weights[0]).0.ok_or("the dtype of its weights is not known")?;
        let mut parts: [Vec<Option<ValueId>>; 3] = Default::default();
        for (direction, weights) in weights.chunks(weights.len() / net.directions).enumerate() {
            let [input, recurrent, biases @ .., projection] = weights else {
                return Err("its number of weights does not match its number of layers".to_owned());
            };
            let [input, recurrent, projection] =
                [input, recurrent, projection].map(|&matrix| self.swapped(matrix, &[1, 0]));
            // The share of the inputs in the gates does not depend on the step before.
            let mut shares = self.call("MatMul", &[x, input]);
            for &bias in biases {
                shares = self.call("Add", &[shares, bias]);
            }
            let body = self.step(elem, Matrices { recurrent, projection })?;
            let from = (layer * net.directions + direction) as i64;
            let mut inputs = Vec::new();
            for &state in states {
                let one = self.sliced(state, from, from + 1);
                inputs.push(Some(self.call("Squeeze", &[one, zero])));
            }
            inputs.push(Some(shares));
            let made: Vec<ValueId> = (0..3).map(|_| self.unmade("LSTM")).collect();
            let order = AttrValue::Ints(vec![direction as i64]);
            let mut attrs = body::scan(body, 1);
            attrs.push(Attribute::new("scan_input_directions", order.clone()));
            attrs.push(Attribute::new("scan_output_directions", order));
            self.add_with_bodies("Scan", inputs, made.iter().copied().map(Some).collect(), attrs);
            parts[0].push(Some(made[2]));
            for (at, &end) in made[..2].iter().enumerate() {
                let end = self.call("Unsqueeze", &[end, zero]);
                parts[at + 1].push(Some(end));
            }
        }
        let [sequences, hidden, cells] = parts;
        Ok(vec![self.joined(sequences, 2), self.joined(hidden, 0), self.joined(cells, 0)])
    }

    /// Builds the subgraph of one step.
    fn step(&mut self, elem: ElemType, matrices: Matrices) -> Result<GraphId, String> {
        let absent = Dimension { dim: DeclaredDim::Absent, denotation: None };
        let shape = Some(vec![absent; 2]);
        let ty: Type = TypeKind::Tensor { elem: Some(elem.number()), shape }.into();
        self.body(|builder| {
            let [hidden, cells, share] =
                ["hidden", "cells", "share"].map(|name| builder.body_input(name, ty.clone()));
            let recurrent = builder.call("MatMul", &[hidden, matrices.recurrent]);
            let gates = builder.call("Add", &[share, recurrent]);
            let [input, forget, cell, output] = builder.gates(gates);
            let [input, forget, output] =
                [input, forget, output].map(|gate| builder.call("Sigmoid", &[gate]));
            let cell = builder.call("Tanh", &[cell]);
            let (kept, added) = (builder.call("Mul", &[forget, cells]), builder.call("Mul", &[input, cell]));
            let cells = builder.call("Add", &[kept, added]);
            let shown = builder.call("Tanh", &[cells]);
            let shown = builder.call("Mul", &[output, shown]);
            let hidden = builder.call("MatMul", &[shown, matrices.projection]);
            for output in [hidden, cells, hidden] {
                builder.give_one(output, ty.clone());
            }
            Ok(())
        })
    }

    /// Splits the gates: input, forget, cell and output, in PyTorch's order.
    fn gates(&mut self, gates: ValueId) -> [ValueId; 4] {
        let parts = [(); 4].map(|()| self.unmade("Split"));
        let attrs = vec![
            Attribute::new("axis", AttrValue::Int(-1)),
            Attribute::new("num_outputs", AttrValue::Int(4)),
        ];
        self.add(("", "Split"), vec![Some(gates)], parts.map(Some).to_vec(), attrs);
        parts
    }
}
