//! `forward` of the layers of `torch.nn`.

use std::rc::Rc;

use super::super::calls::Args;
use super::super::faults::Fault;
use super::super::machine::{Eval, Machine};
use super::super::tensor::{DType, Dim, Tensor, differ, shown};
use super::super::unsupported::PROJECTED;
use super::super::value::Value;
use super::convolution::{Convolution, Padding, Window};
use crate::diag::counted;

impl<'t> Machine<'t> {
    /// Runs `forward` of a library class on an instance of it, or of a derived class.
    pub fn layer_forward(&mut self, layer: &Value<'t>, class: &str, args: &Args<'t>) -> Eval<'t> {
        match class {
            "torch.compile"
            | "torch.nn.DataParallel"
            | "torch.jit.ScriptModule"
            | "torch.jit.TopLevelTracedModule" => {
                let names = ["_orig_mod", "module", "original"];
                let inner = names.iter().find_map(|name| self.attribute_of(layer, name));
                let Some(inner) = inner else { return Ok(Value::Unknown) };
                let is_scripted = u32::from(class == "torch.jit.ScriptModule");
                self.scripted += is_scripted;
                let result = self.invoke(&inner, args);
                self.scripted -= is_scripted;
                return result;
            }
            _ => {}
        }
        if class.starts_with("torchvision.models.") {
            let result = self.torchvision_forward(layer, class, args)?;
            return Ok(self.deviate_layer(layer, class, args, result));
        }
        if let Some(result) = self.einops_layer(layer, args) {
            return Ok(self.deviate_layer(layer, class, args, result));
        }
        let Some(name) = class.strip_prefix("torch.nn.") else { return Ok(Value::Unknown) };
        let is_open = self.heap.instance(layer.object().unwrap_or(0)).is_none_or(|layer| layer.open);
        if is_open || args.open {
            return Ok(Value::Unknown);
        }
        if name == "Sequential" {
            return self.sequential(layer, args);
        }
        let names = ["input", "x", "query", "src", "tgt"];
        let first = args.positional.first().map(|(value, _)| value);
        let x = match first.or_else(|| names.iter().find_map(|name| args.keyword(name))) {
            Some(Value::Tensor(x)) => x.clone(),
            other => {
                if let Some(Value::Tuple(_)) = other {
                    self.refuse_tuple(name, args.node)?;
                }
                self.executed(name, args.node, false);
                return Ok(Value::Unknown);
            }
        };
        let result = self.layer_result(layer, name, &x, args)?;
        Ok(self.deviate_layer(layer, name, args, result))
    }

    fn sequential(&mut self, layer: &Value<'t>, args: &Args<'t>) -> Eval<'t> {
        let layers = layer.object().and_then(|object| self.container_items(object));
        let Some(layers) = layers else { return Ok(Value::Unknown) };
        let mut args = args.clone();
        let mut value = args.get(0, "input").cloned().unwrap_or_default();
        for layer in layers {
            args = Args::of(args.node, vec![value]);
            value = self.invoke(&layer, &args)?;
        }
        Ok(value)
    }

    fn layer_result(
        &mut self,
        layer: &Value<'t>,
        name: &str,
        x: &Rc<Tensor<'t>>,
        args: &Args<'t>,
    ) -> Eval<'t> {
        let node = args.node;
        let is_projected =
            name == "LSTM" && self.setting(layer, "proj_size").int().is_some_and(|size| size > 0);
        self.executed(if is_projected { PROJECTED } else { name }, node, x.varies && !self.is_changed(x));
        self.check_dtypes(name, x, args)?;
        let weight = match self.setting(layer, "weight") {
            Value::Tensor(weight) => Some(weight),
            _ => None,
        };
        if let Some(weight) = &weight
            && (name.contains("BatchNorm") || matches!(name, "GroupNorm" | "LayerNorm"))
            && (x.dtype, weight.dtype) == (Some(DType::Float64), Some(DType::Float32))
            && x.device.as_deref() == Some("cpu")
        {
            self.same_dtype(name, &[x, weight], node)?;
        }
        match (name, weight) {
            ("Linear" | "LazyLinear", Some(weight)) => {
                let result = self.linear("Linear", x, &weight, node)?;
                return Ok(self.trained(result, &weight));
            }
            ("Embedding", Some(weight)) => {
                return Ok(Self::contiguous_as(self.embed(x, &weight, node)?, &[x]));
            }
            ("EmbeddingBag", Some(weight)) => return self.embed_bags(x, &weight, node),
            ("LayerNorm" | "RMSNorm", _) => {
                let shape = self.setting(layer, "normalized_shape");
                return self.layer_norm(name, x, &shape, node);
            }
            (_, Some(weight)) if name.starts_with("Conv") || name.starts_with("LazyConv") => {
                let axes = weight.rank().unwrap_or(2).saturating_sub(2);
                let window = self.layer_window(layer, axes);
                let groups = self.setting(layer, "groups").int();
                let extra = name.contains("Transpose").then(|| self.setting(layer, "output_padding"));
                let output_padding = extra.map(|extra| self.sizes(&extra, axes));
                let what = name.trim_start_matches("Lazy");
                let too_large = output_padding.iter().flatten().enumerate().any(|(axis, extra)| {
                    let limit = window.stride[axis].zip(window.dilation[axis]).map(|(a, b)| a.max(b));
                    extra.zip(limit).is_some_and(|(extra, limit)| extra >= limit)
                });
                if too_large {
                    let message =
                        format!("`output_padding` of `{what}` must be smaller than its stride or dilation");
                    return Err(
                        self.fault(node, Fault::shape(message, "use an `output_padding` below the stride"))
                    );
                }
                let convolution = Convolution { window, groups, output_padding };
                let result = self.convolve(what, x, &weight, &convolution, node)?;
                return Ok(self.trained(Self::contiguous_as(result, &[x]), &weight));
            }
            _ => {}
        }
        if name.contains("BatchNorm") || name.contains("InstanceNorm") || name == "GroupNorm" {
            // Without parameters and statistics, the number of channels is free.
            let has_weights =
                ["weight", "running_mean"].iter().any(|name| self.setting(layer, name).tensor().is_some());
            let channels =
                self.setting(layer, "num_features").int().or(self.setting(layer, "num_channels").int());
            let channels = channels.filter(|_| has_weights);
            let axes = name.chars().rev().nth(1).and_then(|digit| digit.to_digit(10));
            if name.contains("BatchNorm") && self.setting(layer, "training") == Value::Bool(true) {
                self.check_batch_norm(name, x, node)?;
            }
            return self.channel_norm(name, x, channels, axes, node);
        }
        if matches!(name, "LSTM" | "GRU" | "RNN") {
            return self.recurrent(layer, name, x, args);
        }
        if matches!(name, "LSTMCell" | "GRUCell" | "RNNCell") {
            return self.recurrent_cell(layer, name, x, args);
        }
        if name == "MultiheadAttention" {
            return self.attention_layer(layer, x, args);
        }
        if matches!(name, "TransformerEncoderLayer" | "TransformerEncoder") {
            return self.encoder(layer, name, x, args);
        }
        if matches!(name, "TransformerDecoderLayer" | "TransformerDecoder" | "Transformer") {
            return self.decoder(layer, name, x, args);
        }
        if let Some(result) = self.module_call(layer, name, args) {
            return result;
        }
        if name.contains("Pool") {
            return self.pool_layer(layer, name, x, args);
        }
        if matches!(name, "Softmax" | "LogSoftmax" | "Softmin")
            && let axis @ Value::Int(_) = self.setting(layer, "dim")
        {
            let function = if name == "LogSoftmax" { "log_softmax" } else { "softmax" };
            self.operator(function, &Args::of(node, vec![Value::Tensor(x.clone()), axis]))?;
        }
        let same = [
            "Dropout",
            "Dropout1d",
            "Dropout2d",
            "Dropout3d",
            "AlphaDropout",
            "Identity",
            "ReLU",
            "ReLU6",
            "GELU",
            "SiLU",
            "Mish",
            "Sigmoid",
            "Tanh",
            "LeakyReLU",
            "ELU",
            "CELU",
            "SELU",
            "Softplus",
            "Softsign",
            "Hardswish",
            "Hardsigmoid",
            "Hardtanh",
            "LogSigmoid",
            "RReLU",
            "Threshold",
            "Tanhshrink",
            "Hardshrink",
            "Softshrink",
            "FeatureAlphaDropout",
        ];
        if same.contains(&name) {
            return Ok(Value::Tensor(Rc::new(self.dense(x))));
        }
        match name {
            "CrossEntropyLoss" | "NLLLoss" => self.classification_loss(name, args),
            "Flatten" => {
                let axes = ["start_dim", "end_dim"].map(|axis| self.setting(layer, axis));
                self.flatten(x, &axes[0], &axes[1], node)
            }
            "Unflatten" => {
                let parts = vec![
                    Value::Tensor(x.clone()),
                    self.setting(layer, "dim"),
                    self.setting(layer, "unflattened_size"),
                ];
                self.operator("unflatten", &Args::of(node, parts))
            }
            _ => Ok(Value::Unknown),
        }
    }

    fn layer_window(&self, layer: &Value<'t>, axes: usize) -> Window {
        let sizes = |name: &str| self.sizes(&self.setting(layer, name), axes);
        let padding = match self.setting(layer, "padding") {
            Value::Str(text) if &*text == "same" => Padding::Same,
            Value::Str(_) => Padding::Sizes(vec![Some(0); axes]),
            other => Padding::Sizes(self.sizes(&other, axes)),
        };
        let kernel = sizes("kernel_size");
        let stride = match self.setting(layer, "stride") {
            Value::None => kernel.clone(),
            other => self.sizes(&other, axes),
        };
        let dilation = match self.attribute_of(layer, "dilation") {
            Some(dilation) => self.sizes(&dilation, axes),
            None => vec![Some(1); axes],
        };
        let ceil = match self.attribute_of(layer, "ceil_mode") {
            None => Some(false),
            Some(ceil) => self.truth(&ceil),
        };
        Window { kernel, stride, padding, dilation, ceil }
    }

    fn pool_layer(&mut self, layer: &Value<'t>, name: &str, x: &Rc<Tensor<'t>>, args: &Args<'t>) -> Eval<'t> {
        let Some(axes) = name.chars().rev().nth(1).and_then(|digit| digit.to_digit(10)) else {
            return Ok(Value::Unknown);
        };
        let axes = axes as usize;
        let indices = self.setting(layer, "return_indices");
        if indices == Value::Bool(true) && name.starts_with("MaxPool") {
            let window = self.layer_window(layer, axes);
            let pooled = self.pool(name, x, &window, args.node)?;
            return Ok(self.with_indices(pooled));
        }
        if indices == Value::Bool(true) || name.contains("Unpool") {
            return Ok(Value::Unknown);
        }
        if name.starts_with("Adaptive") {
            let output = self.setting(layer, "output_size");
            return self.adaptive_pool(name, x, &output, axes, args.node);
        }
        if name.starts_with("Fractional") {
            return Ok(Value::Unknown);
        }
        let window = self.layer_window(layer, axes);
        self.pool(name, x, &window, args.node)
    }

    /// Evaluates a norm over channels.
    pub fn channel_norm(
        &mut self,
        what: &str,
        x: &Rc<Tensor<'t>>,
        channels: Dim,
        axes: Option<u32>,
        node: tree_sitter::Node<'t>,
    ) -> Eval<'t> {
        let Some(shape) = &x.shape else { return Ok(Value::Tensor(Rc::new(self.derived(x)))) };
        let batched = match axes {
            Some(1) => vec![2, 3],
            Some(axes) => vec![axes as usize + 2],
            None => vec![],
        };
        let is_instance = what.contains("Instance");
        let fits = |rank: usize| {
            batched.contains(&rank) || is_instance && axes.is_some_and(|axes| rank == axes as usize + 1)
        };
        if !batched.is_empty() && !fits(shape.len()) {
            let most = batched[batched.len() - 1];
            let expected = match is_instance || batched.len() > 1 {
                true => format!("{} or {most}", most - 1),
                false => most.to_string(),
            };
            let message =
                format!("`{what}` expects {expected} axes, gets {}: shape {}", shape.len(), shown(shape));
            let fault =
                Fault { kind: "ValueError", ..Fault::shape(message, "use the norm for this number of axes") };
            return Err(self.fault(node, fault));
        }
        let unbatched = is_instance && axes.is_some_and(|axes| shape.len() == axes as usize + 1);
        let at = usize::from(!unbatched);
        if let (Some(expected), Some(Some(given))) = (channels, shape.get(at))
            && *given != expected
        {
            let channels = counted(expected, "channel");
            let message = format!("`{what}` expects {channels}, gets {given} (shape {})", shown(shape));
            // A convolution without a batch axis has the channels first.
            let help = match at == 1 && shape[0] == Some(expected) {
                true => "add a batch axis to the input: `x.unsqueeze(0)`".to_owned(),
                false => format!("construct the layer with {}", counted(*given, "channel")),
            };
            return Err(self.fault(node, Fault::shape(message, help)));
        }
        Ok(Value::Tensor(Rc::new(self.dense(x))))
    }

    /// Evaluates a norm over the last axes.
    pub fn layer_norm(
        &mut self,
        what: &str,
        x: &Rc<Tensor<'t>>,
        normalized: &Value<'t>,
        node: tree_sitter::Node<'t>,
    ) -> Eval<'t> {
        let expected = match normalized {
            Value::Int(size) => Some(vec![Some(*size)]),
            other => self.items(other).map(|items| items.iter().map(Value::int).collect::<Vec<Dim>>()),
        };
        if let Some(expected) = &expected {
            self.note_constants(expected, node);
        }
        if let (Some(shape), Some(expected)) = (&x.shape, expected) {
            let last = shape.len().checked_sub(expected.len()).map(|start| &shape[start..]);
            if last.is_none_or(|last| differ(last, &expected)) {
                let message = format!(
                    "`{what}` expects the last axes {}, gets the shape {}",
                    shown(&expected),
                    shown(shape)
                );
                return Err(
                    self.fault(node, Fault::shape(message, "normalize over the last axes of the input"))
                );
            }
        }
        Ok(Value::Tensor(Rc::new(self.dense(x))))
    }

    /// Returns a new tensor of the shape, dtype and device of another.
    pub fn derived(&mut self, x: &Tensor<'t>) -> Tensor<'t> {
        let mut derived = self.tensor(x.shape.clone(), x.dtype, x.device.clone());
        derived.unbacked = x.unbacked;
        derived.varies = x.varies;
        derived.needs_grad = x.needs_grad && self.records_gradients();
        derived
    }

    /// Returns a new tensor like another, with elements in the same order.
    pub fn dense(&mut self, x: &Tensor<'t>) -> Tensor<'t> {
        let derived = self.derived(x);
        if Self::is_contiguous(x) { Self::contiguous(derived) } else { derived }
    }
}
