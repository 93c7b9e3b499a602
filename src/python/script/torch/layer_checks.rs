//! Arguments for which the constructors of layers raise.

use tree_sitter::Node;

use super::super::calls::Args;
use super::super::faults::Fault;
use super::super::heap::Object;
use super::super::machine::{Machine, Stop};
use super::super::tensor::{Tensor, shown};
use super::super::value::Value;

/// A refused argument: the exception, the message and the help.
type Refused = Option<(&'static str, String, &'static str)>;

/// Sizes of weights, by layer. A weight cannot have a negative or fractional size.
const SIZES: [(&str, &[&str]); 10] = [
    ("Linear", &["in_features", "out_features"]),
    ("Bilinear", &["in1_features", "in2_features", "out_features"]),
    ("Embedding", &["num_embeddings", "embedding_dim"]),
    ("EmbeddingBag", &["num_embeddings", "embedding_dim"]),
    ("LSTM", &["input_size", "hidden_size", "num_layers"]),
    ("GRU", &["input_size", "hidden_size", "num_layers"]),
    ("RNN", &["input_size", "hidden_size", "num_layers"]),
    ("LSTMCell", &["input_size", "hidden_size"]),
    ("GRUCell", &["input_size", "hidden_size"]),
    ("RNNCell", &["input_size", "hidden_size"]),
];

/// Width and number of heads of attention layers.
const HEADS: [(&str, &str, &str); 4] = [
    ("MultiheadAttention", "embed_dim", "num_heads"),
    ("TransformerEncoderLayer", "d_model", "nhead"),
    ("TransformerDecoderLayer", "d_model", "nhead"),
    ("Transformer", "d_model", "nhead"),
];

/// Help for a size that is no integer.
const WHOLE: &str = "divide with `//`, or convert the size with `int(…)`";

/// Code that may set the modes of layers one by one.
const MODES: [&str; 7] =
    [".apply(", "modules(", "children(", ".freeze(", "select_model", "training = ", "training="];

impl<'t> Machine<'t> {
    /// Reports a batch with one value for each channel, of which a batch norm in training has no variance.
    pub fn check_batch_norm(&self, name: &str, x: &Tensor<'t>, node: Node<'t>) -> Result<(), Stop> {
        let Some(shape) = x.shape.as_ref().filter(|shape| shape.len() >= 2) else { return Ok(()) };
        let has_several = shape.iter().enumerate().any(|(axis, size)| axis != 1 && *size != Some(1));
        if has_several || self.mentions(&MODES) {
            return Ok(());
        }
        let message = format!(
            "`{name}` in training mode expects more than 1 value for each channel, gets the shape {}",
            shown(shape)
        );
        let help = "call `model.eval()` before, or pass a batch of 2 samples or more";
        Err(self.fault(node, Fault { kind: "ValueError", ..Fault::shape(message, help) }))
    }

    /// Reports an argument for which the constructor of a layer certainly raises.
    ///
    /// The attributes of `layer` are the arguments.
    pub fn check_layer(&self, layer: &Value<'t>, name: &str, args: &Args<'t>) -> Result<(), Stop> {
        let of = |setting: &str| self.setting(layer, setting);
        let refused = self
            .convolution_refuses(layer, name)
            .or_else(|| heads(name, &of))
            .or_else(|| padding_index(name, &of))
            .or_else(|| recurrent(name, &of))
            .or_else(|| probability(name, &of))
            .or_else(|| norm(name, &of))
            .or_else(|| choices(name, &of))
            .or_else(|| sizes(name, &of));
        // The script may replace the class: `nn.Linear = QuietLinear`.
        self.refuse(refused.filter(|_| !self.is_patched(name)), args)
    }

    /// Reports an item that a container of modules refuses, because it is no module.
    pub fn check_items(&self, container: &str, args: &Args<'t>) -> Result<(), Stop> {
        let items = match container {
            "Sequential" => args.values(),
            "ModuleList" => args.get(0, "modules").and_then(|list| self.items(list)).unwrap_or_default(),
            _ => return Ok(()),
        };
        let strange = items.iter().find_map(|item| Some((item, self.no_module(item)?)));
        let refused = strange.map(|(item, what)| {
            let help = match item {
                Value::Object(_) if container == "Sequential" && what == "a list" => {
                    "unpack the list: `nn.Sequential(*layers)`"
                }
                Value::Name(_) | Value::Object(_) if what == "a class" => "call the class to create a module",
                _ => "pass instances of `nn.Module`, such as `nn.ReLU()`",
            };
            ("TypeError", format!("`{container}` gets {what}, which is no module"), help)
        });
        self.refuse(refused.filter(|_| !self.is_patched(container)), args)
    }

    fn refuse(&self, refused: Refused, args: &Args<'t>) -> Result<(), Stop> {
        match refused {
            Some((kind, message, help)) => {
                Err(self.fault(args.node, Fault { kind, ..Fault::shape(message, help) }))
            }
            None => Ok(()),
        }
    }

    /// Returns the kind of a value that is certainly no module, and not `None`.
    fn no_module(&self, value: &Value<'t>) -> Option<&'static str> {
        Some(match value {
            Value::Function(_) | Value::Bound(_) => "a function",
            Value::Name(path) if path.starts_with("torch.nn.functional.") => "a function",
            Value::Name(path) => {
                let class = path.strip_prefix("torch.nn.")?;
                let is_class = class.starts_with(|first: char| first.is_ascii_uppercase());
                (is_class && !class.contains('.')).then_some("a class")?
            }
            Value::Tuple(_) => "a tuple",
            Value::Int(_) | Value::Float(_) => "a number",
            Value::Str(_) => "a string",
            Value::Object(object) => match self.heap.get(*object) {
                Object::List(_) => "a list",
                Object::Class(class) if !class.open => "a class",
                _ => return None,
            },
            _ => return None,
        })
    }

    fn convolution_refuses(&self, layer: &Value<'t>, name: &str) -> Refused {
        if !name.contains("Conv") {
            return None;
        }
        let of = |setting: &str| self.setting(layer, setting);
        let groups = of("groups").int();
        if groups.is_some_and(|groups| groups <= 0) {
            let message = format!("`groups` of `{name}` is {}", groups.unwrap_or_default());
            return Some(("ValueError", message, "use a positive number of groups"));
        }
        for what in ["in_channels", "out_channels"] {
            if let (Some(channels), Some(groups)) = (of(what).int(), groups)
                && channels % groups != 0
            {
                let message =
                    format!("`{what}` of `{name}` is {channels}, which `groups` = {groups} does not divide");
                return Some(("ValueError", message, "choose a divisor for `groups`"));
            }
        }
        if name.contains("Transpose") {
            return match of("padding_mode").text() {
                Some(mode) if mode != "zeros" => Some((
                    "ValueError",
                    format!("`{name}` does not support `padding_mode` \"{mode}\""),
                    "remove the argument, and pad before the layer",
                )),
                _ => None,
            };
        }
        let modes = ["zeros", "reflect", "replicate", "circular"];
        if let Some(mode) = of("padding_mode").text().filter(|mode| !modes.contains(mode)) {
            let message = format!("`{name}` has no `padding_mode` \"{mode}\"");
            return Some(("ValueError", message, "use `zeros`, `reflect`, `replicate` or `circular`"));
        }
        let stride = of("stride");
        let strides = if stride.int().is_some() { vec![stride] } else { self.items(&stride)? };
        match of("padding").text() {
            Some("same") if strides.iter().filter_map(Value::int).any(|stride| stride != 1) => Some((
                "ValueError",
                format!("`{name}` has a stride and the padding \"same\""),
                "pass the padding as numbers, or use stride 1",
            )),
            Some(padding) if !matches!(padding, "same" | "valid") => Some((
                "ValueError",
                format!("`{name}` has no padding \"{padding}\""),
                "use `same`, `valid` or numbers",
            )),
            _ => None,
        }
    }
}

fn heads<'t>(name: &str, of: &dyn Fn(&str) -> Value<'t>) -> Refused {
    let (_, width, heads) = HEADS.iter().find(|(layer, ..)| *layer == name)?;
    let is_replaced = |part: &str| name == "Transformer" && of(part) != Value::None;
    if is_replaced("custom_encoder") && is_replaced("custom_decoder") {
        return None;
    }
    match (of(width).int()?, of(heads).int()?) {
        (_, 0) => Some(("ValueError", format!("`{heads}` of `{name}` is 0"), "use at least one head")),
        (size, count) if size > 0 && count > 0 && size % count != 0 => Some((
            "AssertionError",
            format!("`{width}` of `{name}` is {size}, which `{heads}` = {count} does not divide"),
            "choose a number of heads that divides the width",
        )),
        _ => None,
    }
}

fn padding_index<'t>(name: &str, of: &dyn Fn(&str) -> Value<'t>) -> Refused {
    if !matches!(name, "Embedding" | "EmbeddingBag") {
        return None;
    }
    let (count, index) = (of("num_embeddings").int()?, of("padding_idx").int()?);
    let is_inside = index == 0 || (-count..count).contains(&index);
    let message = format!("`padding_idx` of `{name}` is {index}, but it has {count} embeddings");
    (!is_inside).then_some((
        "AssertionError",
        message,
        "use an index below `num_embeddings`, or add embeddings",
    ))
}

fn recurrent<'t>(name: &str, of: &dyn Fn(&str) -> Value<'t>) -> Refused {
    if !matches!(name, "LSTM" | "GRU" | "RNN") {
        return None;
    }
    for size in ["input_size", "hidden_size", "num_layers"] {
        if of(size) == Value::Int(0) {
            return Some(("ValueError", format!("`{size}` of `{name}` is 0"), "use a positive size"));
        }
    }
    if let (Some(projected), Some(hidden)) = (of("proj_size").int(), of("hidden_size").int())
        && name == "LSTM"
        && projected >= hidden
    {
        let message = format!("`proj_size` of `LSTM` is {projected}, but `hidden_size` is only {hidden}");
        return Some(("ValueError", message, "use a `proj_size` below `hidden_size`"));
    }
    let nonlinearity = of("nonlinearity");
    let unknown = nonlinearity.text().filter(|kind| name == "RNN" && !matches!(*kind, "tanh" | "relu"))?;
    Some(("ValueError", format!("`RNN` has no nonlinearity \"{unknown}\""), "use `tanh` or `relu`"))
}

fn probability<'t>(name: &str, of: &dyn Fn(&str) -> Value<'t>) -> Refused {
    let setting = match name {
        "Dropout" | "Dropout1d" | "Dropout2d" | "Dropout3d" | "AlphaDropout" | "FeatureAlphaDropout" => "p",
        "LSTM" | "GRU" | "RNN" => "dropout",
        _ if name.starts_with("Transformer") => "dropout",
        _ => return None,
    };
    let rate = of(setting).number().filter(|rate| !(0.0..=1.0).contains(rate))?;
    let message = format!("`{setting}` of `{name}` is {rate}, which is no probability");
    Some(("ValueError", message, "use a number from 0 to 1"))
}

fn norm<'t>(name: &str, of: &dyn Fn(&str) -> Value<'t>) -> Refused {
    if name == "GroupNorm" {
        let (channels, groups) = (of("num_channels").int()?, of("num_groups").int()?);
        let is_divisor = groups != 0 && channels % groups == 0;
        let message = format!(
            "`num_channels` of `GroupNorm` is {channels}, which `num_groups` = {groups} does not divide"
        );
        return (!is_divisor).then_some(("ValueError", message, "choose a divisor for `num_groups`"));
    }
    let is_batch = name.contains("BatchNorm") || name.contains("InstanceNorm");
    if !is_batch || of("affine") != Value::Bool(true) {
        return None;
    }
    size(name, "num_features", &of("num_features"))
}

fn choices<'t>(name: &str, of: &dyn Fn(&str) -> Value<'t>) -> Refused {
    if matches!(name, "TransformerEncoderLayer" | "TransformerDecoderLayer") {
        let activation = of("activation");
        let unknown = activation.text().filter(|name| !matches!(*name, "relu" | "gelu"))?;
        let message = format!("`{name}` has no activation \"{unknown}\"");
        return Some(("RuntimeError", message, "use `relu` or `gelu`, or pass a function"));
    }
    if name == "Unflatten" && matches!(of("unflattened_size"), Value::Int(_)) {
        let message = "`unflattened_size` of `Unflatten` is a number, not a tuple".to_owned();
        return Some(("TypeError", message, "pass a tuple of sizes"));
    }
    None
}

fn sizes<'t>(name: &str, of: &dyn Fn(&str) -> Value<'t>) -> Refused {
    if name.contains("Conv") {
        let channels = ["in_channels", "out_channels"];
        return channels.iter().find_map(|channels| size(name, channels, &of(channels)));
    }
    // An embedding with given weights creates none.
    if name.starts_with("Embedding") && of("_weight") != Value::None {
        return None;
    }
    let (_, names) = SIZES.iter().find(|(layer, _)| *layer == name)?;
    names.iter().find_map(|setting| size(name, setting, &of(setting)))
}

fn size(name: &str, setting: &str, value: &Value) -> Refused {
    match value {
        Value::Int(size) if *size < 0 => {
            let message = format!("`{setting}` of `{name}` is {size}");
            Some(("RuntimeError", message, "use a positive size"))
        }
        Value::Float(size) => {
            let shown = if size.fract() == 0.0 { format!("{size:.1}") } else { size.to_string() };
            let message = format!("`{setting}` of `{name}` is the float {shown}, not an integer");
            Some(("TypeError", message, WHOLE))
        }
        _ => None,
    }
}
