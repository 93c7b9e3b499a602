//! Layers of `torch.nn` whose `forward` calls one function with the attributes of the layer.

use std::rc::Rc;

use super::super::calls::Args;
use super::super::machine::{Eval, Machine};
use super::super::value::Value;

/// Layers, the functions that they call, and the attributes that they pass by name.
const CALLS: [(&str, &str, &[&str]); 25] = [
    ("Softmax", "softmax", &["dim"]),
    ("LogSoftmax", "log_softmax", &["dim"]),
    ("Softmin", "softmin", &["dim"]),
    ("Softmax2d", "softmax2d", &[]),
    ("PReLU", "prelu", &["weight"]),
    ("LocalResponseNorm", "local_response_norm", &["size"]),
    ("GLU", "glu", &["dim"]),
    ("PixelShuffle", "pixel_shuffle", &["upscale_factor"]),
    ("PixelUnshuffle", "pixel_unshuffle", &["downscale_factor"]),
    ("ChannelShuffle", "channel_shuffle", &["groups"]),
    ("Upsample", "interpolate", &["size", "scale_factor", "mode"]),
    ("UpsamplingBilinear2d", "interpolate", &["size", "scale_factor"]),
    ("UpsamplingNearest2d", "interpolate", &["size", "scale_factor"]),
    ("Unfold", "unfold", &["kernel_size", "dilation", "padding", "stride"]),
    ("CosineSimilarity", "cosine_similarity", &["dim"]),
    ("PairwiseDistance", "pairwise_distance", &[]),
    ("L1Loss", "l1_loss", &[]),
    ("MSELoss", "mse_loss", &[]),
    ("SmoothL1Loss", "smooth_l1_loss", &[]),
    ("HuberLoss", "huber_loss", &[]),
    ("KLDivLoss", "kl_div", &[]),
    ("HingeEmbeddingLoss", "hinge_embedding_loss", &[]),
    ("PoissonNLLLoss", "poisson_nll_loss", &[]),
    ("BCELoss", "binary_cross_entropy", &[]),
    ("BCEWithLogitsLoss", "binary_cross_entropy_with_logits", &[]),
];

/// Modes of the layers that pad, by the start of their names.
const PADS: [(&str, &str); 5] = [
    ("ZeroPad", "constant"),
    ("ConstantPad", "constant"),
    ("ReflectionPad", "reflect"),
    ("ReplicationPad", "replicate"),
    ("CircularPad", "circular"),
];

impl<'t> Machine<'t> {
    /// Calls the function of a layer, or returns `None` if the layer calls no single function.
    pub fn module_call(&mut self, layer: &Value<'t>, name: &str, args: &Args<'t>) -> Option<Eval<'t>> {
        let mut call = args.clone();
        let mut pass = |name: &str, value: Value<'t>| call.keywords.push((Rc::from(name), value, None));
        if let Some((_, function, attributes)) = CALLS.iter().find(|(known, ..)| *known == name) {
            for attribute in *attributes {
                pass(attribute, self.setting(layer, attribute));
            }
            match name {
                "UpsamplingBilinear2d" => pass("mode", Value::str("bilinear")),
                "UpsamplingNearest2d" => pass("mode", Value::str("nearest")),
                _ => {}
            }
            return Some(self.operator(function, &call));
        }
        let (_, mode) = PADS.iter().find(|(start, _)| name.starts_with(start))?;
        let axes = name.chars().rev().nth(1).and_then(|digit| digit.to_digit(10))?;
        let padding = self.sizes(&self.setting(layer, "padding"), 2 * axes as usize);
        pass("pad", Value::tuple(padding.into_iter().map(Value::size).collect()));
        pass("mode", Value::str(mode));
        Some(self.operator("pad", &call))
    }
}
