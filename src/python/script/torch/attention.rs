//! Recurrent layers and attention.

use std::rc::Rc;

use super::super::calls::Args;
use super::super::faults::Fault;
use super::super::machine::{Eval, Machine, Stop};
use super::super::record::Taken;
use super::super::tensor::{Dim, Tensor, differ, shown};
use super::super::unsupported::FAST_ENCODER;
use super::super::value::Value;
use super::attention_shapes::Attention;
use crate::diag::counted;

impl<'t> Machine<'t> {
    /// Evaluates an LSTM, GRU or RNN.
    pub fn recurrent(
        &mut self,
        layer: &Value<'t>,
        name: &str,
        x: &Rc<Tensor<'t>>,
        args: &Args<'t>,
    ) -> Eval<'t> {
        let Some(shape) = x.shape.clone() else {
            return Ok(Value::tuple(vec![Value::Unknown, Value::Unknown]));
        };
        let expected = self.setting(layer, "input_size").int();
        if !matches!(shape.len(), 2 | 3) {
            let message =
                format!("`{name}` expects 2 or 3 axes, gets {}: shape {}", shape.len(), shown(&shape));
            return Err(self.fault(
                args.node,
                Fault::shape(
                    message,
                    "reshape the example to 3 axes: batch, length and features, ordered by `batch_first`",
                ),
            ));
        }
        self.last_axis(name, &shape, expected, args)?;
        if let Value::Tensor(weight) = self.setting(layer, "weight_ih_l0") {
            self.same_device(&[x, &weight], args.node)?;
            self.same_dtype(name, &[x, &weight], args.node)?;
        }
        let hidden = self.setting(layer, "hidden_size").int();
        let projected = self.setting(layer, "proj_size").int().filter(|size| *size > 0);
        let both = match self.setting(layer, "bidirectional") {
            Value::Bool(flag) => Some(1 + i64::from(flag)),
            _ => None,
        };
        let features = projected.or(hidden);
        let width = features.zip(both).map(|(features, both)| features * both);
        let mut sequence = shape.clone();
        if let Some(last) = sequence.last_mut() {
            *last = width;
        }
        let batch_first = self.truth(&self.setting(layer, "batch_first"));
        let layers = self.setting(layer, "num_layers").int().zip(both).map(|(layers, both)| layers * both);
        let batch = match (shape.len(), batch_first) {
            (2, _) => None,
            (_, Some(first)) => Some(shape[usize::from(!first)]),
            _ => Some(None),
        };
        self.check_state(name, args.get(1, "hx"), (layers, batch, features), args)?;
        let state = |size: Dim| {
            let mut state = vec![layers];
            state.extend(batch);
            state.push(size);
            state
        };
        let output = self.made(Some(sequence), x.dtype, &[x]);
        let h = self.made(Some(state(features)), x.dtype, &[x]);
        Ok(Value::tuple(vec![
            output,
            if name == "LSTM" {
                let c = self.made(Some(state(hidden)), x.dtype, &[x]);
                Value::tuple(vec![h, c])
            } else {
                h
            },
        ]))
    }

    /// Reports an initial state of another shape than a recurrent layer expects.
    fn check_state(
        &mut self,
        name: &str,
        state: Option<&Value<'t>>,
        (layers, batch, features): (Dim, Option<Dim>, Dim),
        args: &Args<'t>,
    ) -> Result<(), Stop> {
        let state = match state {
            Some(Value::Tensor(state)) => state.clone(),
            Some(Value::Tuple(states)) => match states.first() {
                Some(Value::Tensor(state)) => state.clone(),
                _ => return Ok(()),
            },
            _ => return Ok(()),
        };
        if let Some(x) = args.get(0, "input").and_then(Value::tensor) {
            self.same_device(&[x, &state], args.node)?;
        }
        let Some(given) = &state.shape else { return Ok(()) };
        let mut expected = vec![layers];
        expected.extend(batch);
        expected.push(features);
        if differ(given, &expected) {
            let message = format!(
                "`{name}` expects an initial state of shape {}, gets {}",
                shown(&expected),
                shown(given)
            );
            let help = "create the state from the input, in this shape: `x.new_zeros(…)`";
            return Err(self.fault(args.node, Fault::shape(message, help)));
        }
        Ok(())
    }

    /// Evaluates one step of an LSTM, GRU or RNN.
    pub fn recurrent_cell(
        &mut self,
        layer: &Value<'t>,
        name: &str,
        x: &Rc<Tensor<'t>>,
        args: &Args<'t>,
    ) -> Eval<'t> {
        let Some(shape) = x.shape.clone() else { return Ok(Value::Unknown) };
        self.last_axis(name, &shape, self.setting(layer, "input_size").int(), args)?;
        let mut state = shape;
        if let Some(last) = state.last_mut() {
            *last = self.setting(layer, "hidden_size").int();
        }
        if let Some(Value::Tensor(before)) = args.get(1, "hx") {
            self.same_device(&[x, before], args.node)?;
        }
        if let Some(Value::Tensor(before)) = args.get(1, "hx")
            && let Some(given) = &before.shape
            && given.len() == state.len()
            && differ(given, &state)
        {
            let message =
                format!("`{name}` expects a state of shape {}, gets {}", shown(&state), shown(given));
            return Err(self.fault(args.node, Fault::shape(message, "create the state from the input")));
        }
        let h = self.made(Some(state.clone()), x.dtype, &[x]);
        if name == "LSTMCell" {
            let c = self.made(Some(state), x.dtype, &[x]);
            return Ok(Value::tuple(vec![h, c]));
        }
        Ok(h)
    }

    /// Records the length of the keys of an attention layer.
    fn attend(&mut self, keys: &Tensor<'t>, batch_first: Option<bool>, args: &Args<'t>) {
        let axis = match (keys.rank(), batch_first) {
            (Some(3), Some(first)) => i64::from(first),
            _ => return,
        };
        if let Some(length) = keys.dim(axis) {
            let _ = self.taken(Taken::Length, args.node, length);
        }
    }

    /// Reports a last axis of another size than a layer expects.
    fn last_axis(&self, what: &str, shape: &[Dim], expected: Dim, args: &Args<'t>) -> Result<(), Stop> {
        if let (Some(Some(given)), Some(expected)) = (shape.last(), expected)
            && *given != expected
        {
            let features = counted(expected, "feature");
            let message = format!("`{what}` expects {features}, gets {given} (shape {})", shown(shape));
            let features = counted(*given, "feature");
            let help = format!("construct the layer for {features}, or correct the example");
            return Err(self.fault(args.node, Fault::shape(message, help)));
        }
        Ok(())
    }

    /// Evaluates `nn.MultiheadAttention`.
    pub fn attention_layer(&mut self, layer: &Value<'t>, x: &Rc<Tensor<'t>>, args: &Args<'t>) -> Eval<'t> {
        if let Some(shape) = &x.shape {
            self.last_axis("MultiheadAttention", shape, self.setting(layer, "embed_dim").int(), args)?;
        }
        if let Value::Tensor(weight) = self.setting(layer, "in_proj_weight") {
            self.same_device(&[x, &weight], args.node)?;
            self.same_dtype("MultiheadAttention", &[x, &weight], args.node)?;
        }
        self.check_memory(layer, x, args)?;
        if let Some(Value::Tensor(key)) = args.get(1, "key") {
            let batch_first = self.truth(&self.setting(layer, "batch_first"));
            let heads = self.setting(layer, "num_heads").int();
            let sizes = Attention::of(x, key, batch_first, heads);
            let masks = ((5, "attn_mask"), (3, "key_padding_mask"));
            self.check_masks((layer, "MultiheadAttention"), sizes, masks.0, masks.1, args)?;
        }
        let memory = |value: Option<&Value<'t>>| value.and_then(Value::tensor).map(|tensor| tensor.memory);
        let (key, value) = (args.get(1, "key").cloned(), memory(args.get(2, "value")));
        if let Some(Value::Tensor(key)) = &key
            && (value == Some(key.memory) || x.memory == key.memory)
        {
            let batch_first = self.truth(&self.setting(layer, "batch_first"));
            self.attend(&key.clone(), batch_first, args);
        }
        let output = Value::Tensor(Rc::new(self.derived(x)));
        Ok(Value::tuple(vec![output, Value::Unknown]))
    }

    /// Checks the key and the value of `nn.MultiheadAttention`.
    fn check_memory(&self, layer: &Value<'t>, x: &Tensor<'t>, args: &Args<'t>) -> Result<(), Stop> {
        let width = self.setting(layer, "embed_dim").int();
        for (at, name, own) in [(1, "key", "kdim"), (2, "value", "vdim")] {
            let Some(Value::Tensor(memory)) = args.get(at, name) else { continue };
            let Some(shape) = &memory.shape else { continue };
            let expected = match self.setting(layer, own) {
                Value::None => width,
                other => other.int(),
            };
            self.last_axis(&format!("{name} of MultiheadAttention"), shape, expected, args)?;
            let Some(query) = &x.shape else { continue };
            let batch = match self.truth(&self.setting(layer, "batch_first")) {
                Some(is_first) if query.len() == 3 => Some(usize::from(!is_first)),
                _ => None,
            };
            let of_batch = |shape: &[Dim]| batch.and_then(|batch| shape.get(batch).copied().flatten());
            let sizes = of_batch(query).zip(of_batch(shape));
            if query.len() != shape.len() || sizes.is_some_and(|(query, memory)| query != memory) {
                let message = format!(
                    "`MultiheadAttention` expects a query and a {name} of one batch, gets the shapes {} and {}",
                    shown(query),
                    shown(shape)
                );
                let help = "use equal batch sizes, at the axis that `batch_first` selects";
                return Err(self.fault(args.node, Fault::shape(message, help)));
            }
        }
        Ok(())
    }

    /// Returns the module with the settings of a Transformer's layers, such as `encoder_layer`.
    fn layer_settings(&self, layer: &Value<'t>, name: &str) -> Value<'t> {
        match name {
            "TransformerEncoder" => self.setting(layer, "encoder_layer"),
            "TransformerDecoder" => self.setting(layer, "decoder_layer"),
            _ => layer.clone(),
        }
    }

    /// Evaluates a Transformer encoder or one of its layers.
    pub fn encoder(
        &mut self,
        layer: &Value<'t>,
        name: &str,
        x: &Rc<Tensor<'t>>,
        args: &Args<'t>,
    ) -> Eval<'t> {
        let inner = self.layer_settings(layer, name);
        self.sequence_of(&inner, name, x, args)?;
        let batch_first = self.truth(&self.setting(&inner, "batch_first"));
        let even_heads = self.setting(&inner, "nhead").int().is_some_and(|heads| heads % 2 == 0);
        if batch_first == Some(true) && even_heads && x.rank() == Some(3) && self.is_without_gradients() {
            self.executed(FAST_ENCODER, args.node, x.varies && self.is_plain_transformer(layer, name));
        }
        let sizes = Attention::of(x, x, batch_first, self.setting(&inner, "nhead").int());
        let mask = if name == "TransformerEncoder" { "mask" } else { "src_mask" };
        self.check_masks((layer, name), sizes, (1, mask), (2, "src_key_padding_mask"), args)?;
        self.attend(x, batch_first, args);
        Ok(Value::Tensor(Rc::new(self.dense(x))))
    }

    /// Evaluates a Transformer decoder, one of its layers, or a whole Transformer.
    pub fn decoder(
        &mut self,
        layer: &Value<'t>,
        name: &str,
        x: &Rc<Tensor<'t>>,
        args: &Args<'t>,
    ) -> Eval<'t> {
        let inner = self.layer_settings(layer, name);
        let second = if name == "Transformer" { "tgt" } else { "memory" };
        let other = match args.get(1, second) {
            Some(Value::Tensor(other)) => other.clone(),
            _ => return Ok(Value::Unknown),
        };
        self.sequence_of(&inner, name, x, args)?;
        self.sequence_of(&inner, name, &other, args)?;
        let batch_first = self.truth(&self.setting(&inner, "batch_first"));
        let heads = self.setting(&inner, "nhead").int();
        let sizes =
            |queries: &Tensor<'t>, keys: &Tensor<'t>| Attention::of(queries, keys, batch_first, heads);
        if name == "Transformer" {
            self.check_batches((layer, name), ("src", "tgt"), (x, &other), batch_first, args)?;
            self.check_masks((layer, name), sizes(x, x), (2, "src_mask"), (5, "src_key_padding_mask"), args)?;
            self.check_masks(
                (layer, name),
                sizes(&other, &other),
                (3, "tgt_mask"),
                (6, "tgt_key_padding_mask"),
                args,
            )?;
            let masks = ((4, "memory_mask"), (7, "memory_key_padding_mask"));
            self.check_masks((layer, name), sizes(&other, x), masks.0, masks.1, args)?;
        } else {
            self.check_batches((layer, name), ("tgt", "memory"), (x, &other), batch_first, args)?;
            self.check_masks((layer, name), sizes(x, x), (2, "tgt_mask"), (4, "tgt_key_padding_mask"), args)?;
            let masks = ((3, "memory_mask"), (5, "memory_key_padding_mask"));
            self.check_masks((layer, name), sizes(x, &other), masks.0, masks.1, args)?;
        }
        self.attend(x, batch_first, args);
        self.attend(&other, batch_first, args);
        let target = if name == "Transformer" { &other } else { x };
        Ok(Value::Tensor(Rc::new(self.derived(target))))
    }

    /// Checks a sequence that a layer of a Transformer reads.
    fn sequence_of(
        &self,
        layer: &Value<'t>,
        name: &str,
        x: &Tensor<'t>,
        args: &Args<'t>,
    ) -> Result<(), Stop> {
        let expected = self.attribute_of(layer, "d_model").and_then(|size| size.int());
        if let Some(shape) = &x.shape {
            if !matches!(shape.len(), 2 | 3) {
                let message =
                    format!("`{name}` expects 2 or 3 axes, gets {}: shape {}", shape.len(), shown(shape));
                let help =
                    "reshape the example to 3 axes: batch, length and features, ordered by `batch_first`";
                return Err(self.fault(args.node, Fault::shape(message, help)));
            }
            self.last_axis(name, shape, expected, args)?;
        }
        if let Some(Value::Tensor(weight)) = self.attribute_of(layer, "in_proj_weight") {
            self.same_device(&[x, &weight], args.node)?;
            self.same_dtype(name, &[x, &weight], args.node)?;
        }
        Ok(())
    }
}
