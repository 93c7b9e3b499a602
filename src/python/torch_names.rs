//! Kinds of results of PyTorch's attributes, methods and functions, by name.
//!
//! Source: the reference of `torch.Tensor`, `torch`, `torch.nn` and `torch.nn.functional`, PyTorch 2.x.

use super::value::{Dtype, View};

/// Returns true for attributes and methods whose results are assumed to be plain Python values.
pub fn is_python_valued(name: &str) -> bool {
    let listed = [
        "dim",
        "ndim",
        "ndimension",
        "dtype",
        "device",
        "layout",
        "requires_grad",
        "grad",
        "grad_fn",
        "element_size",
        "get_device",
        "stride",
        "storage_offset",
        "data_ptr",
        "names",
        "itemsize",
        "retain_grad",
        "backward",
        "register_hook",
        "requires_grad_",
    ];
    name.starts_with("is_") || name.starts_with("__") || listed.contains(&name)
}

/// Returns the kind of view that a tensor method returns, or `None` if the method returns no view.
pub fn view(name: &str) -> Option<View> {
    let views = [
        "view",
        "view_as",
        "transpose",
        "swapaxes",
        "swapdims",
        "permute",
        "movedim",
        "moveaxis",
        "t",
        "T",
        "mT",
        "H",
        "mH",
        "adjoint",
        "unsqueeze",
        "squeeze",
        "expand",
        "expand_as",
        "unfold",
        "unflatten",
        "diagonal",
        "as_strided",
        "detach",
        "real",
        "imag",
        "unbind",
        "chunk",
        "split",
        "tensor_split",
        "hsplit",
        "vsplit",
        "dsplit",
        "split_with_sizes",
    ];
    match name {
        "select" | "narrow" | "__getitem__" => Some(View::Slice),
        "reshape" | "reshape_as" | "flatten" | "ravel" | "contiguous" | "to" | "type" | "float"
        | "type_as" | "cpu" | "cuda" => Some(View::Perhaps),
        _ => views.contains(&name).then_some(View::Other),
    }
}

/// Returns whether the number of tensors that a function returns depends on a size.
/// Returns `None` for functions that return one tensor, and for `max` and `min`.
pub fn several(name: &str) -> Option<bool> {
    match name {
        "unbind" | "split" => Some(true),
        "chunk" | "tensor_split" | "hsplit" | "vsplit" | "dsplit" | "split_with_sizes" | "topk" | "sort"
        | "kthvalue" | "mode" | "median" | "nanmedian" | "aminmax" | "std_mean" | "var_mean" | "svd"
        | "qr" | "eigh" | "eig" | "slogdet" | "frexp" | "cummax" | "cummin" | "meshgrid"
        | "broadcast_tensors" | "unique_consecutive" | "lu" | "geqrf" | "triangular_solve" => Some(false),
        _ => None,
    }
}

/// Returns true for in-place methods such as `add_`, but not for `__name__`.
pub fn is_in_place(name: &str) -> bool {
    name.ends_with('_') && !name.ends_with("__") && name != "requires_grad_"
}

/// Returns the dtype for its name in PyTorch or NumPy.
pub fn dtype(path: &str) -> Option<Dtype> {
    let name = path.strip_prefix("torch.").or_else(|| path.strip_prefix("numpy."))?;
    Some(match name {
        "float64" | "double" => Dtype::Double,
        "float32" | "float" | "single" => Dtype::Float,
        "float16" | "half" | "bfloat16" => Dtype::Half,
        "bool" | "bool_" => Dtype::Bool,
        "int64" | "long" | "int32" | "int" | "int16" | "short" | "int8" | "uint8" => Dtype::Int,
        _ => return None,
    })
}

/// Returns the result dtype of a conversion method.
pub fn conversion(method: &str) -> Option<Dtype> {
    Some(match method {
        "double" => Dtype::Double,
        "float" => Dtype::Float,
        "half" | "bfloat16" => Dtype::Half,
        "long" | "int" | "short" | "byte" | "char" => Dtype::Int,
        "bool" => Dtype::Bool,
        _ => return None,
    })
}

/// Returns true for functions and methods that return a boolean tensor.
pub fn is_comparison(name: &str) -> bool {
    matches!(
        name,
        "eq" | "ne"
            | "lt"
            | "le"
            | "gt"
            | "ge"
            | "greater"
            | "greater_equal"
            | "less"
            | "less_equal"
            | "isnan"
            | "isinf"
            | "isfinite"
            | "isin"
            | "isclose"
            | "logical_and"
            | "logical_or"
            | "logical_not"
            | "logical_xor"
            | "any"
            | "all"
            | "signbit"
    )
}

/// Classifies functions of `torch` that create a tensor from sizes, numbers or values.
pub fn factory(name: &str) -> Option<Factory> {
    Some(match name {
        "zeros" | "ones" | "empty" | "full" => Factory::Sized,
        "rand" | "randn" | "randint" | "normal" | "bernoulli" => Factory::Random,
        "randperm" => Factory::Random,
        "arange" | "range" | "linspace" | "logspace" => Factory::Line,
        "hann_window" | "hamming_window" | "blackman_window" | "bartlett_window" | "kaiser_window" => {
            Factory::Line
        }
        "eye" | "tril_indices" | "triu_indices" => Factory::Plane,
        "tensor" | "as_tensor" | "asarray" | "from_numpy" | "scalar_tensor" | "Tensor" | "LongTensor"
        | "FloatTensor" | "BoolTensor" | "IntTensor" | "DoubleTensor" => Factory::Values,
        _ => return None,
    })
}

/// Kind of function that creates a tensor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Factory {
    /// Creates a tensor of any rank from a list of sizes.
    Sized,
    Random,
    /// Creates a tensor of one axis.
    Line,
    /// Creates a tensor of two axes.
    Plane,
    /// Creates a tensor from Python or NumPy values.
    Values,
}

/// Returns true for names in `torch` that are assumed to be functions that return tensors.
pub fn is_tensor_function(name: &str) -> bool {
    let others = [
        "Size",
        "device",
        "dtype",
        "finfo",
        "iinfo",
        "no_grad",
        "enable_grad",
        "inference_mode",
        "set_grad_enabled",
        "autocast",
        "Generator",
        "manual_seed",
        "numel",
        "get_default_dtype",
        "set_default_dtype",
        "compile",
        "typename",
        "load",
        "save",
        "stream",
        "Stream",
        "promote_types",
        "result_type",
        "can_cast",
        "broadcast_shapes",
        "sym_int",
        "sym_float",
        "sym_max",
        "sym_min",
        "sym_not",
        "sym_ite",
        "initial_seed",
        "cond",
        "while_loop",
        "vmap",
        "func",
        "unique",
    ];
    let lower = name.starts_with(|c: char| c.is_ascii_lowercase());
    lower && !name.starts_with("is_") && !name.starts_with("_") && !others.contains(&name)
}

/// Returns true for functions that read elements and return a Python boolean.
pub fn is_python_predicate(path: &str) -> bool {
    matches!(path, "torch.equal" | "torch.allclose" | "torch.is_nonzero")
}

/// Returns true for layers of `torch.nn` that return a tuple.
pub fn gives_tuple(layer: &str) -> bool {
    matches!(layer, "LSTM" | "GRU" | "RNN" | "LSTMCell" | "MultiheadAttention" | "AdaptiveLogSoftmaxWithLoss")
}

/// Returns true for layers and functions that drop elements at random in training.
pub fn is_dropout(name: &str) -> bool {
    let lower = name.to_ascii_lowercase();
    lower.contains("dropout") || lower == "droppath"
}

/// Returns true for functional dropouts that are active by default.
pub fn trains_by_default(function: &str) -> bool {
    matches!(function, "dropout" | "dropout1d" | "dropout2d" | "dropout3d")
}

/// Returns true for the names of tensor attributes and methods.
/// A function parameter with an attribute of another name is not a tensor.
pub fn is_tensor_attribute(name: &str) -> bool {
    let others = ["shape", "size", "data", "item", "tolist", "numpy", "numel", "new", "sum", "mean", "abs"];
    is_python_valued(name)
        || view(name).is_some()
        || several(name).is_some()
        || conversion(name).is_some()
        || is_comparison(name)
        || is_in_place(name)
        || name.starts_with("new_")
        || others.contains(&name)
        || TENSOR_METHODS.split_whitespace().any(|method| method == name)
}

/// Further names of tensor methods.
const TENSOR_METHODS: &str = "
    acos acosh add addbmm addcdiv addcmul addmm addmv addr align_to allclose amax amin angle arccos
    arcsin arctan arctan2 argmax argmin argsort argwhere asin asinh atan atan2 atanh baddbmm bernoulli
    bincount bitwise_and bitwise_not bitwise_or bitwise_xor bmm broadcast_to ceil cholesky clamp
    clamp_max clamp_min clip clone conj copysign cos cosh count_nonzero cov cross cummax cummin cumprod
    cumsum deg2rad dequantize det diag diag_embed diff digamma dist div divide dot equal erf erfc erfinv
    exp exp2 expm1 fix flip fliplr flipud float_power floor floor_divide fmax fmin fmod frac gather gcd
    hardshrink heaviside histc hypot index_add index_copy index_fill index_put index_reduce index_select
    inner inverse kron kthvalue lerp lgamma log log10 log1p log2 log_softmax logaddexp logcumsumexp
    logdet logit logsumexp masked_fill masked_scatter masked_select matmul matrix_exp matrix_power max
    maximum median min minimum mm mode msort mul multinomial multiply mv nan_to_num nanmean nanquantile
    nansum narrow_copy neg negative nonzero norm numpy outer pin_memory pinverse positive pow prelu prod
    put quantile rad2deg reciprocal relu remainder renorm repeat repeat_interleave roll rot90 round
    rsqrt scatter scatter_add scatter_reduce select_scatter sgn sigmoid sign sin sinc sinh slice_scatter
    softmax sqrt square std sub subtract sum_to_size svd take take_along_dim tan tanh tile topk trace
    tril triu true_divide trunc unique unique_consecutive var vdot where xlogy
";
