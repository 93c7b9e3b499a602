//! Functions, methods and layers whose result depends on each of their tensors.

use super::words::lists;

/// Tensor methods whose result depends on the elements of the tensor.
const METHODS: &str = "
    abs add sub mul div pow exp log sqrt rsqrt neg float half double long int bool to type view reshape
    flatten permute transpose t squeeze unsqueeze expand repeat contiguous clone sum mean amax amin max min
    softmax log_softmax sigmoid tanh relu clamp matmul mm bmm masked_fill unflatten flip roll cumsum norm
    argmax argmin any all logical_not eq ne gt lt ge le unbind chunk split gather index_select narrow select
    movedim swapaxes std var square round floor ceil log1p log2 log10 expm1 sin cos tan erf reciprocal diff
";

/// Functions and layers of one or several tensors.
const FUNCTIONS: &str = "
    abs add sub mul div pow exp log sqrt rsqrt neg reshape flatten permute transpose squeeze unsqueeze sum
    mean amax amin max min softmax log_softmax sigmoid tanh relu relu6 gelu silu leaky_relu elu clamp matmul mm
    bmm einsum linear conv1d conv2d conv3d layer_norm batch_norm group_norm dropout normalize cat concat stack
    hstack vstack where maximum minimum interpolate pad cosine_similarity scaled_dot_product_attention
    grid_sample embedding max_pool1d max_pool2d avg_pool1d avg_pool2d adaptive_avg_pool1d adaptive_avg_pool2d
    square round floor ceil roll flip view_as_complex view_as_real fft.fft fft.ifft fft.rfft fft.irfft
    fft.fft2 fft.ifft2 fft.rfft2 fft.irfft2 log1p log2 log10 expm1 sin cos tan erf reciprocal elu selu celu
    softplus softsign mish hardswish hardsigmoid hardtanh log_sigmoid logsigmoid prelu glu atan2 diff
    Linear Conv1d Conv2d Conv3d ConvTranspose1d ConvTranspose2d BatchNorm1d BatchNorm2d BatchNorm3d LayerNorm
    GroupNorm InstanceNorm1d InstanceNorm2d Embedding ReLU ReLU6 GELU SiLU Sigmoid Tanh LeakyReLU ELU PReLU
    Hardswish Softmax LogSoftmax Dropout Dropout1d Dropout2d Flatten Unflatten Identity MaxPool1d MaxPool2d
    AvgPool1d AvgPool2d AdaptiveAvgPool1d AdaptiveAvgPool2d AdaptiveMaxPool1d AdaptiveMaxPool2d Upsample
    PixelShuffle LSTM GRU RNN TransformerEncoder TransformerEncoderLayer Softplus Mish RMSNorm SELU CELU
    Softsign Hardsigmoid Hardtanh LogSigmoid GLU
";

/// Functions of a list of tensors.
const JOINS: [&str; 5] = ["cat", "concat", "stack", "hstack", "vstack"];

/// Returns true if the result of a tensor method depends on the elements of the tensor.
pub fn is_tensor_method(name: &str) -> bool {
    lists(METHODS, name)
}

/// Returns true if the result of a function or layer depends on each tensor among its arguments.
pub fn is_reader(name: &str) -> bool {
    lists(FUNCTIONS, name)
}

/// Returns true if a function joins the tensors of a list.
pub fn is_join(name: &str) -> bool {
    JOINS.contains(&name)
}
