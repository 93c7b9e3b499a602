//! Neural network layers.

mod attention;
mod batch_norm;
mod cell;
mod conv;
mod conv_transpose;
mod deform_conv;
mod dropout;
mod fold;
mod linear_attention;
mod loss;
mod norm;
mod optimizer;
mod pool;
mod rnn;
mod rotary;
mod softmax;
mod window;

use super::Kernel::{self, Many, One};

pub(super) use conv::{Filter, convolve};

/// Returns the kernel of an `ai.onnx` network operator; `None` if this module has no kernel for `op`.
pub(super) fn find(op: &str) -> Option<Kernel> {
    Some(match op {
        "Conv" => One(conv::conv),
        "ConvTranspose" => One(conv_transpose::conv_transpose),
        "DeformConv" => One(deform_conv::deform_conv),
        "CausalConvWithState" => Many(conv::causal_conv),
        "Col2Im" => One(fold::col2im),
        "MaxPool" => Many(pool::max_pool),
        "AveragePool" | "LpPool" => One(pool::pool),
        "GlobalAveragePool" | "GlobalMaxPool" | "GlobalLpPool" => One(pool::global),
        "MaxUnpool" => One(fold::max_unpool),
        "LayerNormalization" => Many(norm::layer),
        "RMSNormalization" => One(norm::rms),
        "GroupNormalization" => One(norm::group),
        "InstanceNormalization" => One(norm::instance),
        "MeanVarianceNormalization" => One(norm::mean_variance),
        "LpNormalization" => One(norm::lp),
        "LRN" => One(norm::local_response),
        "BatchNormalization" => Many(batch_norm::batch_norm),
        "Dropout" => Many(dropout::dropout),
        "Softmax" | "LogSoftmax" | "Hardmax" => One(softmax::softmax),
        "NegativeLogLikelihoodLoss" => One(loss::negative_log_likelihood),
        "SoftmaxCrossEntropyLoss" => Many(loss::softmax_cross_entropy),
        "Attention" => Many(attention::attention),
        "LinearAttention" => Many(linear_attention::linear_attention),
        "RNN" | "GRU" | "LSTM" => Many(rnn::recurrent),
        "RotaryEmbedding" => One(rotary::rotary_embedding),
        _ => return None,
    })
}

/// Returns the kernel of an operator of `ai.onnx.preview`: `FlexAttention`.
pub(super) fn find_preview(op: &str) -> Option<Kernel> {
    (op == "FlexAttention").then_some(One(attention::flex_attention))
}

/// Returns the kernel of an operator of `ai.onnx.preview.training`: an optimizer.
pub(super) fn find_training(op: &str) -> Option<Kernel> {
    Some(match op {
        "Adagrad" => Many(optimizer::adagrad),
        "Adam" => Many(optimizer::adam),
        "Momentum" => Many(optimizer::momentum),
        _ => return None,
    })
}
