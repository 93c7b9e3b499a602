//! Lowering of recurrent networks: one ONNX node for each layer.
//!
//! The number of weights depends on the number of layers, so no rule can name them.

use super::builder::Builder;
use super::ops::cast_to;
use super::part::Part;
use crate::graph::{AttrValue, Attribute, ElemType, Tensor, ValueId};
use crate::torch::{Argument, Node, Type};

/// A cell kind: its ONNX operator, and PyTorch's gates in ONNX order.
struct Cell {
    op: &'static str,
    gates: &'static [i64],
    activation: Option<&'static str>,
}

fn cell(name: &str) -> Option<Cell> {
    let (op, gates, activation) = match name {
        // The gate order is input, forget, cell, output in PyTorch, and input, output, forget, cell in ONNX.
        "lstm" => ("LSTM", &[0, 3, 1, 2][..], None),
        // The gate order is reset, update, new in PyTorch, and update, reset, hidden (new) in ONNX.
        "gru" => ("GRU", &[1, 0, 2][..], None),
        "rnn_tanh" => ("RNN", &[0][..], Some("Tanh")),
        "rnn_relu" => ("RNN", &[0][..], Some("Relu")),
        _ => return None,
    };
    Some(Cell { op, gates, activation })
}

/// Properties of a recurrent network that all of its layers share.
pub(super) struct Net {
    cell: Cell,
    pub(super) has_biases: bool,
    /// Whether an LSTM projects its hidden state (`proj_size`).
    is_projected: bool,
    /// 1, or 2 for a bidirectional network.
    pub(super) directions: usize,
    /// Size of the hidden state.
    hidden: i64,
}

impl Builder<'_> {
    /// Lowers a recurrent network (overload `input`); returns `false` for any other node.
    pub fn recurrent(&mut self, node: &Node) -> Result<bool, String> {
        let Some(cell) = node.op.aten().and_then(cell).filter(|_| &*node.op.overload == "input") else {
            return Ok(false);
        };
        let has_cells = cell.op == "LSTM";
        let argument = |position: usize, name: &str| {
            self.trace
                .argument(node, position, name)
                .ok_or_else(|| format!("its argument `{name}` is missing"))
        };
        let flag = |position: usize, name: &str| {
            let flag = self.trace.bool(argument(position, name)?);
            flag.ok_or_else(|| format!("`{name}` is not a constant"))
        };
        let list = |position: usize, name: &str| {
            let list = self.trace.list(argument(position, name)?);
            Ok::<_, String>(list.ok_or_else(|| format!("`{name}` is not a list"))?.to_vec())
        };
        let (has_biases, trains) = (flag(3, "has_biases")?, flag(6, "train")?);
        let (is_bidirectional, is_batch_first) = (flag(7, "bidirectional")?, flag(8, "batch_first")?);
        let layers =
            self.trace.int(argument(4, "num_layers")?).and_then(|layers| usize::try_from(layers).ok());
        let layers = layers.filter(|&layers| layers > 0).ok_or("its number of layers is not a constant")?;
        let drops =
            !matches!(self.trace.see(argument(5, "dropout")?), Argument::Float(0.0) | Argument::Int(0));
        if trains && drops && layers > 1 {
            return Err("it applies dropout between its layers: call `.eval()` first".to_owned());
        }
        let input = argument(0, "input")?.clone();
        let states = if has_cells { list(1, "hx")? } else { vec![argument(1, "hx")?.clone()] };
        let weights = list(2, "params")?;
        let ty = |argument: &Argument| match self
            .trace
            .as_value(argument)
            .map(|value| &self.trace.value(value).ty)
        {
            Some(Type::Tensor(tensor)) => Some(tensor),
            _ => None,
        };
        let unknown = "the dtypes and shapes of its inputs are not known";
        let (elem, rank) = ty(&input).and_then(|ty| Some((ty.elem?, ty.rank()?))).ok_or(unknown)?;
        let hidden =
            weights.get(1).and_then(ty).and_then(|ty| ty.shape.as_ref()?.last()?.fixed()).ok_or(unknown)?;
        let directions = if is_bidirectional { 2 } else { 1 };
        let each = if has_biases { 4 } else { 2 };
        let is_projected = has_cells && layers.checked_mul(directions * (each + 1)) == Some(weights.len());
        if !is_projected && layers.checked_mul(directions * each) != Some(weights.len()) {
            return Err("its number of weights does not match its number of layers".to_owned());
        }
        let net = Net { cell, has_biases, is_projected, directions, hidden };
        let mut x = self.computed(&input)?;
        let mut states = states.iter().map(|state| self.computed(state)).collect::<Result<Vec<_>, _>>()?;
        let batch = self.constant(Tensor::int64s(vec![1], &[1]));
        let is_single = rank == 2;
        if is_single {
            let unsqueezed = |builder: &mut Self, value| {
                builder.onnx("Unsqueeze", vec![Some(value), Some(batch)], Vec::new())
            };
            x = unsqueezed(self, x);
            states = states.into_iter().map(|state| unsqueezed(self, state)).collect();
        } else if is_batch_first {
            x = self.swapped(x, &[1, 0, 2]);
        }
        let mut finals: Vec<Vec<Option<ValueId>>> = vec![Vec::new(); states.len()];
        let per_layer = weights.len() / layers;
        for (layer, weights) in weights.chunks(per_layer).enumerate() {
            let weights =
                weights.iter().map(|weight| self.computed(weight)).collect::<Result<Vec<_>, _>>()?;
            let made = match net.is_projected {
                true => self.projected_layer(&net, x, &states, &weights, layer)?,
                false => self.layer(&net, x, &states, &weights, layer),
            };
            let [y, ends @ ..] = &*made else { return Ok(false) };
            x = *y;
            for (all, &end) in finals.iter_mut().zip(ends) {
                all.push(Some(end));
            }
        }
        if !is_single && is_batch_first {
            x = self.swapped(x, &[1, 0, 2]);
        }
        let finals = finals.into_iter().map(|ends| self.joined(ends, 0)).collect::<Vec<_>>();
        for (&output, value) in node.outputs.iter().zip([x].into_iter().chain(finals)) {
            let value = match is_single {
                true => self.onnx("Squeeze", vec![Some(value), Some(batch)], Vec::new()),
                false => value,
            };
            let made = self.output(output, Part::Real);
            self.add(("", "Cast"), vec![Some(value)], vec![Some(made)], vec![cast_to(elem)]);
            self.define(output, Part::Real, made);
        }
        Ok(true)
    }

    /// Adds the node of one layer; returns its output sequence and its final states.
    fn layer(
        &mut self,
        net: &Net,
        x: ValueId,
        states: &[ValueId],
        weights: &[ValueId],
        layer: usize,
    ) -> Vec<ValueId> {
        let each = weights.len() / net.directions;
        let mut parts: [Vec<Option<ValueId>>; 3] = Default::default();
        for weights in weights.chunks(each) {
            let weights: Vec<ValueId> = weights.iter().map(|&weight| self.reordered(net, weight)).collect();
            parts[0].push(weights.first().copied());
            parts[1].push(weights.get(1).copied());
            if net.has_biases {
                let biases = weights.iter().skip(2).copied().map(Some).collect();
                parts[2].push(Some(self.joined(biases, 0)));
            }
        }
        let zero = self.constant(Tensor::int64s(vec![1], &[0]));
        let parts = parts.map(|directions| {
            let stacked = directions
                .into_iter()
                .map(|one| Some(self.onnx("Unsqueeze", vec![one, Some(zero)], Vec::new())));
            let stacked: Vec<_> = stacked.collect();
            (!stacked.is_empty()).then(|| self.joined(stacked, 0))
        });
        let [from, to] = [layer, layer + 1].map(|layer| (layer * net.directions) as i64);
        let starts = states.iter().map(|&state| Some(self.sliced(state, from, to))).collect::<Vec<_>>();
        let inputs = [Some(x)].into_iter().chain(parts).chain([None]).chain(starts).collect();
        let direction: &'static [u8] = if net.directions == 2 { b"bidirectional" } else { b"forward" };
        let mut attrs = vec![
            Attribute::new("direction", AttrValue::String(direction.into())),
            Attribute::new("hidden_size", AttrValue::Int(net.hidden)),
        ];
        if net.cell.op == "GRU" {
            attrs.push(Attribute::new("linear_before_reset", AttrValue::Int(1)));
        }
        if let Some(activation) = net.cell.activation {
            let each = vec![activation.as_bytes().into(); net.directions];
            attrs.push(Attribute::new("activations", AttrValue::Strings(each)));
        }
        let made: Vec<ValueId> = (0..=states.len()).map(|_| self.unmade(net.cell.op)).collect();
        self.add(("", net.cell.op), inputs, made.iter().copied().map(Some).collect(), attrs);
        // Convert the shape (steps, directions, batch, size) to (steps, batch, directions * size).
        let moved = self.swapped(made[0], &[0, 2, 1, 3]);
        let shape = self.constant(Tensor::int64s(vec![3], &[0, 0, net.directions as i64 * net.hidden]));
        let y = self.onnx("Reshape", vec![Some(moved), Some(shape)], Vec::new());
        [y].into_iter().chain(made.into_iter().skip(1)).collect()
    }

    /// Returns a weight or bias with its gates in ONNX order.
    fn reordered(&mut self, net: &Net, weight: ValueId) -> ValueId {
        let gates = net.cell.gates.iter();
        let gates =
            gates.map(|gate| Some(self.sliced(weight, gate * net.hidden, (gate + 1) * net.hidden))).collect();
        self.joined(gates, 0)
    }

    /// Returns a float or double tensor. 16-bit floats are cast to float.
    fn computed(&mut self, argument: &Argument) -> Result<ValueId, String> {
        let value = super::argument::operand(self, argument)?.ok_or("one of its tensors is missing")?;
        match self.known(value).0 {
            Some(ElemType::Float | ElemType::Double) => Ok(value),
            Some(ElemType::Float16 | ElemType::Bfloat16) => Ok(self.cast(value, ElemType::Float)),
            _ => Err("one of its tensors is not floating-point".to_owned()),
        }
    }
}
