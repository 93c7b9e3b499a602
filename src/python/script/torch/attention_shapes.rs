//! Masks and batches that attention layers and Transformers refuse.

use super::super::calls::Args;
use super::super::faults::Fault;
use super::super::machine::{Machine, Stop};
use super::super::tensor::{Dim, Tensor, differ, numel, shown};
use super::super::value::Value;

/// Sizes of one attention: batch, length of the queries and length of the keys.
#[derive(Clone, Copy, Debug)]
pub struct Attention {
    pub batch: Dim,
    pub queries: Dim,
    pub keys: Dim,
    pub heads: Dim,
}

impl Attention {
    /// Returns the sizes of the attention from `queries` to `keys`, if both have three axes.
    pub fn of(queries: &Tensor, keys: &Tensor, batch_first: Option<bool>, heads: Dim) -> Option<Self> {
        let (queries, keys) = (queries.shape.as_ref()?, keys.shape.as_ref()?);
        let (batch, length) = if batch_first? { (0, 1) } else { (1, 0) };
        (queries.len() == 3 && keys.len() == 3).then(|| Attention {
            batch: queries[batch],
            queries: queries[length],
            keys: keys[length],
            heads,
        })
    }
}

impl<'t> Machine<'t> {
    /// Reports two sequences of different batch sizes.
    pub fn check_batches(
        &self,
        (layer, name): (&Value<'t>, &str),
        (first, second): (&str, &str),
        (x, other): (&Tensor<'t>, &Tensor<'t>),
        batch_first: Option<bool>,
        args: &Args<'t>,
    ) -> Result<(), Stop> {
        let (Some(a), Some(b), Some(batch_first)) = (&x.shape, &other.shape, batch_first) else {
            return Ok(());
        };
        let at = usize::from(!batch_first);
        if !self.is_plain_transformer(layer, name)
            || a.len() != 3
            || b.len() != 3
            || !differ(&a[at..=at], &b[at..=at])
        {
            return Ok(());
        }
        let message = format!(
            "`{name}` expects `{first}` and `{second}` of one batch at axis {at}, gets the shapes {} and {}",
            shown(a),
            shown(b)
        );
        let help = match batch_first {
            true => "use equal batch sizes",
            false => {
                "construct the layer with `batch_first=True`, or transpose both to [length, batch, features]"
            }
        };
        Err(self.fault(args.node, Fault::shape(message, help)))
    }

    /// Reports masks that PyTorch refuses: `attention` is the mask of pairs, `padding` that of keys.
    ///
    /// Each mask is given by its position and its name. Without gradients, a fused path takes other masks.
    pub fn check_masks(
        &self,
        (layer, name): (&Value<'t>, &str),
        sizes: Option<Attention>,
        attention: (usize, &str),
        padding: (usize, &str),
        args: &Args<'t>,
    ) -> Result<(), Stop> {
        if args.open || self.may_ignore_masks(layer, name, args) {
            return Ok(());
        }
        let mask_of = |(at, mask): (usize, &str)| args.get(at, mask).and_then(Value::tensor).cloned();
        let (pairs, keys) = (mask_of(attention), mask_of(padding));
        for (mask, (_, called)) in [(&pairs, attention), (&keys, padding)] {
            let dtype = mask.as_ref().and_then(|mask| mask.dtype);
            if let Some(dtype) = dtype.filter(|dtype| dtype.is_integer()) {
                let message =
                    format!("`{called}` of `{name}` is {}, not boolean or floating-point", dtype.name());
                let fault = Fault { kind: "AssertionError", ..Fault::dtype(message, "use `mask.bool()`") };
                return Err(self.fault(args.node, fault));
            }
        }
        let is_frozen = self.mentions(&["requires_grad", "set_grad_enabled"]);
        let may_fuse = is_frozen || self.is_without_gradients();
        let Some(sizes) = sizes.filter(|_| !may_fuse) else { return Ok(()) };
        let folded = sizes.batch.zip(sizes.heads).map(|(batch, heads)| batch * heads);
        if let Some(shape) = pairs.as_ref().and_then(|mask| mask.shape.as_ref()) {
            let expected = match shape.len() {
                3 => vec![folded, sizes.queries, sizes.keys],
                _ => vec![sizes.queries, sizes.keys],
            };
            self.same_mask(name, attention.1, shape, &expected, args)?;
        }
        if let Some(shape) = keys.as_ref().and_then(|mask| mask.shape.as_ref()) {
            let expected = [sizes.batch, sizes.keys];
            // Tracing reinterprets a mask with as many elements, instead of raising.
            let counts = numel(shape).zip(numel(&expected));
            let is_long = |size: &Dim| size.is_some_and(|size| size > 1);
            let is_turned = shape.len() == 2 && shape[0] == sizes.keys && shape[1] == sizes.batch;
            if is_turned && shape.iter().all(is_long)
                || counts.is_some_and(|(given, expected)| given != expected)
            {
                self.same_mask(name, padding.1, shape, &expected, args)?;
            }
        }
        Ok(())
    }

    /// Returns true if a layer may drop its masks, or use other masks than the layer of PyTorch.
    fn may_ignore_masks(&self, layer: &Value<'t>, name: &str, args: &Args<'t>) -> bool {
        let masks = match name {
            "TransformerEncoder" | "TransformerEncoderLayer" => 3,
            "TransformerDecoder" | "TransformerDecoderLayer" => 6,
            "MultiheadAttention" => 7,
            _ => 8,
        };
        let is_causal = args.positional.len() > masks
            || args.keywords.iter().any(|(name, ..)| name.ends_with("is_causal"));
        is_causal || !self.is_plain_transformer(layer, name)
    }

    /// Returns true if a layer of a Transformer, and the layers in it, are those of PyTorch.
    pub fn is_plain_transformer(&self, layer: &Value<'t>, name: &str) -> bool {
        let class_of = |value: &Value<'t>| {
            let instance = self.heap.instance(value.object()?)?;
            instance.class.path().map(|path| path.rsplit('.').next().unwrap_or(path).to_owned())
        };
        let inner = match name {
            "TransformerEncoder" => Some(("encoder_layer", "TransformerEncoderLayer")),
            "TransformerDecoder" => Some(("decoder_layer", "TransformerDecoderLayer")),
            _ => None,
        };
        let is_plain = class_of(layer).as_deref() == Some(name)
            && inner
                .is_none_or(|(inner, class)| class_of(&self.setting(layer, inner)).as_deref() == Some(class));
        is_plain
            && !self.mentions(&["custom_encoder", "custom_decoder", ".layers["])
            && !["self_attn", "multihead_attn", "layers"].iter().any(|name| self.is_patched(name))
            && !self.may_replace_forward()
    }

    fn same_mask(
        &self,
        name: &str,
        mask: &str,
        given: &[Dim],
        expected: &[Dim],
        args: &Args<'t>,
    ) -> Result<(), Stop> {
        if !differ(given, expected) {
            return Ok(());
        }
        let message =
            format!("`{name}` expects `{mask}` of shape {}, gets {}", shown(expected), shown(given));
        let help = "create the mask from the lengths of the sequences, in the layout of `batch_first`";
        Err(self.fault(args.node, Fault::shape(message, help)))
    }
}
