//! Construction of the layers of `torch.nn`: attributes, parameters and buffers.

use std::rc::Rc;
use std::sync::LazyLock;

use rustc_hash::FxHashMap;

use super::super::calls::Args;
use super::super::library::named_dtype;
use super::super::machine::{Eval, Machine, Stop};
use super::super::tensor::{DType, Dim, Role, Tensor};
use super::super::value::Value;

/// Parameters of the constructors of layers. The script `generate` writes `layers.txt`.
const LAYERS: &str = include_str!("layers.txt");

static SIGNATURES: LazyLock<FxHashMap<&str, Vec<&str>>> = LazyLock::new(|| {
    let lines = LAYERS.lines().filter_map(|line| {
        let mut words = line.split(' ');
        Some((words.next()?, words.collect()))
    });
    lines.collect()
});

/// Adds the parameters and buffers of a layer.
struct Weights<'m, 't> {
    machine: &'m mut Machine<'t>,
    layer: &'m Value<'t>,
    dtype: Option<DType>,
    device: Option<Rc<str>>,
}

impl<'t> Weights<'_, 't> {
    fn add(&mut self, name: &str, shape: &[Dim], role: Role) {
        let dtype = self.dtype;
        let mut tensor = self.machine.tensor(Some(shape.to_vec()), dtype, self.device.clone());
        tensor.role = role;
        self.machine.set_attribute(self.layer, name, Value::Tensor(Rc::new(tensor)));
    }

    fn bias(&mut self, shape: &[Dim], has: &Value<'t>) {
        match has {
            Value::Bool(false) => self.machine.set_attribute(self.layer, "bias", Value::None),
            Value::Bool(true) => self.add("bias", shape, Role::Parameter),
            _ => self.machine.set_attribute(self.layer, "bias", Value::Unknown),
        }
    }
}

impl<'t> Machine<'t> {
    /// Constructs a class of `torch.nn`.
    pub fn construct(&mut self, class: &str, args: &Args<'t>) -> Eval<'t> {
        if matches!(class, "Parameter" | "Buffer") {
            let role = if class == "Buffer" { Role::Buffer } else { Role::Parameter };
            return Ok(match args.get(0, "data") {
                Some(Value::Tensor(tensor)) => Value::Tensor(Rc::new(Tensor { role, ..(**tensor).clone() })),
                _ => Value::Unknown,
            });
        }
        let path = format!("torch.nn.{class}");
        if class != "Module" && !SIGNATURES.contains_key(class) {
            self.havoc(args);
            return Ok(Value::Unknown);
        }
        let layer = self.instance(&path, vec![], false);
        self.set_origin(&layer, args.node);
        self.set_attribute(&layer, "training", Value::Bool(true));
        self.initialize(&layer, &path, args)?;
        Ok(layer)
    }

    /// Runs the constructor of a library class on an instance.
    pub fn initialize(&mut self, layer: &Value<'t>, class: &str, args: &Args<'t>) -> Result<(), Stop> {
        let Some(name) = class.strip_prefix("torch.nn.") else { return Ok(()) };
        if matches!(name, "Sequential" | "ModuleList" | "ModuleDict" | "ParameterList" | "ParameterDict") {
            self.check_items(name, args)?;
            self.fill_container(layer, name, args);
            return Ok(());
        }
        let Some(signature) = SIGNATURES.get(name) else { return Ok(()) };
        for (at, parameter) in signature.iter().enumerate() {
            let (parameter, default) = parameter.split_once('=').unwrap_or((parameter, "?"));
            let value = match args.get(at, parameter) {
                Some(value) => value.clone(),
                None if args.open => Value::Unknown,
                None => literal(default),
            };
            self.set_attribute(layer, parameter, value);
        }
        self.check_layer(layer, name, args)?;
        self.add_weights(layer, name, args);
        Ok(())
    }

    fn fill_container(&mut self, layer: &Value<'t>, name: &str, args: &Args<'t>) {
        let first = args.get(0, "modules").cloned();
        let entries = first.as_ref().and_then(|first| self.entries(first));
        let items = match (name, &first) {
            _ if args.open => None,
            (_, None) => Some(vec![]),
            ("Sequential", Some(_)) if entries.is_none() => Some(args.values()),
            (_, Some(first)) => self.items(first),
        };
        match (entries, items) {
            (Some(entries), _) => {
                for (key, value) in entries {
                    match key {
                        Value::Str(key) => self.set_attribute(layer, &key, value),
                        _ => self.forget(layer),
                    }
                }
            }
            (None, Some(items)) if !name.ends_with("Dict") || items.is_empty() => {
                for (at, item) in items.into_iter().enumerate() {
                    self.set_attribute(layer, &at.to_string(), item);
                }
            }
            _ => self.forget(layer),
        }
    }

    fn add_weights(&mut self, layer: &Value<'t>, name: &str, args: &Args<'t>) {
        let int = |machine: &Self, name: &str| machine.setting(layer, name).int();
        let dtype = match self.setting(layer, "dtype") {
            Value::None | Value::Unknown if !args.open => self.default_dtype,
            other => named_dtype(&other),
        };
        let device = match self.setting(layer, "device") {
            Value::None => self.creation_device(),
            other => device_text(&other),
        };
        let flag = self.setting(layer, "bias");
        let affine = self.setting(layer, "affine");
        let mut weights = Weights { machine: self, layer, dtype, device };
        let machine = &mut weights.machine;
        match name {
            "Linear" | "LazyLinear" => {
                let (features, results) = (int(machine, "in_features"), int(machine, "out_features"));
                weights.add("weight", &[results, features], Role::Parameter);
                weights.bias(&[results], &flag);
            }
            "Bilinear" => {
                let sizes = ["out_features", "in1_features", "in2_features"].map(|name| int(machine, name));
                weights.add("weight", &sizes, Role::Parameter);
                weights.bias(&sizes[..1], &flag);
            }
            "Embedding" | "EmbeddingBag" => {
                let sizes = ["num_embeddings", "embedding_dim"].map(|name| int(machine, name));
                weights.add("weight", &sizes, Role::Parameter);
            }
            "LayerNorm" | "RMSNorm" => {
                let shape = machine.setting(layer, "normalized_shape");
                let shape: Vec<Dim> = match &shape {
                    Value::Int(size) => vec![Some(*size)],
                    other => match machine.items(other) {
                        Some(items) => items.iter().map(Value::int).collect(),
                        None => return,
                    },
                };
                if machine.setting(layer, "elementwise_affine") == Value::Bool(true) {
                    weights.add("weight", &shape, Role::Parameter);
                    if name == "LayerNorm" {
                        weights.bias(&shape, &flag);
                    }
                }
            }
            "GroupNorm" => {
                let channels = int(machine, "num_channels");
                if affine == Value::Bool(true) {
                    weights.add("weight", &[channels], Role::Parameter);
                    weights.add("bias", &[channels], Role::Parameter);
                }
            }
            "PReLU" => {
                let count = int(machine, "num_parameters");
                weights.add("weight", &[count], Role::Parameter);
            }
            "LSTM" | "GRU" | "RNN" | "LSTMCell" | "GRUCell" | "RNNCell" => {
                let sizes = ["hidden_size", "input_size"].map(|name| int(machine, name));
                let gates = match &name[..3] {
                    "LST" => 4,
                    "GRU" => 3,
                    _ => 1,
                };
                let rows = sizes[0].and_then(|size| size.checked_mul(gates));
                weights.add("weight_ih_l0", &[rows, sizes[1]], Role::Parameter);
            }
            "MultiheadAttention" | "TransformerEncoderLayer" | "TransformerDecoderLayer" | "Transformer" => {
                let size = int(machine, "embed_dim").or(int(machine, "d_model"));
                let rows = size.and_then(|size| size.checked_mul(3));
                weights.add("in_proj_weight", &[rows, size], Role::Parameter);
            }
            _ if name.contains("BatchNorm") || name.contains("InstanceNorm") => {
                let count = int(machine, "num_features");
                if affine == Value::Bool(true) {
                    weights.add("weight", &[count], Role::Parameter);
                    weights.add("bias", &[count], Role::Parameter);
                }
                if weights.machine.setting(layer, "track_running_stats") == Value::Bool(true) {
                    weights.add("running_mean", &[count], Role::Buffer);
                    weights.add("running_var", &[count], Role::Buffer);
                }
            }
            _ if name.contains("Conv") => convolution(&mut weights, name),
            _ => {}
        }
    }

    /// Returns the device of new tensors.
    pub fn creation_device(&self) -> Option<Rc<str>> {
        let device = self.contexts.iter().rev().find_map(|context| match context {
            Value::Device(device) => Some(device.clone()),
            _ => None,
        });
        device.or(self.default_device.clone())
    }
}

/// Adds the weights of a convolution, and replaces its sizes that are integers by tuples.
fn convolution<'t>(weights: &mut Weights<'_, 't>, name: &str) {
    let axes = usize::from(name.as_bytes()[name.len() - 2] - b'0');
    let machine = &mut *weights.machine;
    let layer = weights.layer;
    let kernel = machine.sizes(&machine.setting(layer, "kernel_size"), axes);
    for size in ["kernel_size", "stride", "padding", "dilation", "output_padding"] {
        let value = machine.setting(layer, size);
        if let Value::Int(_) = value {
            let sizes = machine.sizes(&value, axes).into_iter().map(Value::size).collect();
            machine.set_attribute(layer, size, Value::tuple(sizes));
        }
    }
    let sizes = ["in_channels", "out_channels", "groups"].map(|name| machine.setting(layer, name).int());
    let [inputs, outputs, groups] = sizes;
    let each = |channels: Dim| channels.zip(groups).filter(|(_, groups)| *groups > 0).map(|(c, g)| c / g);
    let mut shape = match name.contains("Transpose") {
        true => vec![inputs, each(outputs)],
        false => vec![outputs, each(inputs)],
    };
    shape.extend(kernel);
    let flag = machine.setting(layer, "bias");
    weights.add("weight", &shape, Role::Parameter);
    weights.bias(&[outputs], &flag);
}

/// Returns the value of a default in a signature.
pub fn literal<'t>(text: &str) -> Value<'t> {
    match text {
        "?" => Value::Unknown,
        "None" => Value::None,
        "True" => Value::Bool(true),
        "False" => Value::Bool(false),
        _ => {
            let number = text.parse().map(Value::Int).or_else(|_| text.parse().map(Value::Float));
            number.unwrap_or_else(|_: std::num::ParseFloatError| Value::str(text))
        }
    }
}

/// Returns the text of a device argument.
pub fn device_text(value: &Value) -> Option<Rc<str>> {
    match value {
        Value::Str(text) | Value::Device(text) => Some(text.clone()),
        _ => None,
    }
}
