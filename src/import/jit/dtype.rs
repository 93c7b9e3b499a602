//! Element types of the results of PyTorch operators.

use super::preserving::{WIDE, preserves};
use crate::graph::ElemType;
use crate::import::names::Names;
use crate::import::promote::{combine, promote};
use crate::torch::{Argument, Input, Trace, Type, ValueId};

/// Operators whose result is boolean.
static BOOLEAN: Names = Names::new("eq ne lt le gt ge equal isclose isin greater less not_equal greater_equal less_equal logical_and
    logical_or logical_xor logical_not isnan isinf isfinite isneginf isposinf isreal signbit any all is_nonzero");

/// Operators whose result is int64.
static INDICES: Names = Names::new(
    "argmax argmin argsort nonzero bincount searchsorted bucketize one_hot count_nonzero multinomial nms
    nonzero_numpy _shape_as_tensor argwhere tril_indices triu_indices randperm",
);

/// Operators whose second result is int64.
static WITH_INDICES: Names = Names::new(
    "topk sort msort kthvalue mode cummax cummin max_pool1d_with_indices max_pool2d_with_indices
    max_pool3d_with_indices adaptive_max_pool1d adaptive_max_pool2d adaptive_max_pool3d fractional_max_pool2d
    fractional_max_pool3d max min median nanmedian",
);

/// Operators whose results all have the dtype of the operand, although they have several results.
static UNIFORM: Names = Names::new("lstm gru rnn_tanh rnn_relu lstm_cell native_layer_norm native_group_norm native_batch_norm
    _native_batch_norm_legit_no_training var_mean std_mean aminmax _aminmax svd linalg_svd qr linalg_qr linalg_eigh slogdet
    linalg_slogdet");

/// Operators whose results are int64, except the first.
static COUNTED: Names =
    Names::new("embedding_bag _unique2 unique_dim unique_consecutive unique_dim_consecutive");

/// Operators that sum integers and booleans in int64.
static SUMS: Names = Names::new("sum prod cumsum cumprod nansum trace");

/// Operators that convert integers and booleans to the default dtype.
static FLOATING: Names = Names::new("sqrt rsqrt exp exp2 expm1 log log2 log10 log1p sin cos tan asin acos atan sinh cosh tanh asinh acosh
    atanh arccosh arcsinh arctanh ldexp sigmoid erf erfc erfinv lgamma digamma reciprocal div divide true_divide atan2 arctan2 logit sinc xlogy special_xlogy
    logaddexp deg2rad rad2deg arcsin arccos arctan i0 logsumexp copysign polygamma mvlgamma");

/// Operators whose result has the promoted dtype of all tensors and numbers.
static PROMOTING: Names = Names::new("add sub subtract mul multiply remainder fmod floor_divide pow maximum minimum fmax fmin
    lerp addcmul addcdiv clamp clip clamp_min clamp_max rsub __and__ __or__ __xor__ __lshift__ __rshift__ bitwise_and bitwise_or bitwise_xor
    bitwise_left_shift bitwise_right_shift hypot cat concat concatenate stack hstack vstack dstack column_stack
    mse_loss l1_loss smooth_l1_loss huber_loss kl_div dot mv cross kron outer heaviside gcd lcm nextafter linear matmul bmm mm addmm baddbmm addbmm");

/// Returns the element types of `count` results; an unknown element type is `None`.
///
/// `name` is the functional name without overload.
pub fn results(
    trace: &Trace,
    name: &str,
    overload: &str,
    inputs: &[Input],
    count: usize,
) -> Vec<Option<ElemType>> {
    let is_partial = matches!(name, "max" | "min" | "median" | "nanmedian") && overload != "dim";
    let is_known = [&WITH_INDICES, &UNIFORM, &COUNTED].iter().any(|names| names.contains(name));
    if count > 1 && !is_known {
        return vec![None; count];
    }
    let first = result(trace, name, inputs);
    (0..count)
        .map(|place| match place {
            1 if WITH_INDICES.contains(name) && !is_partial => Some(ElemType::Int64),
            1.. if COUNTED.contains(name) => Some(ElemType::Int64),
            _ => first,
        })
        .collect()
}

fn result(trace: &Trace, name: &str, inputs: &[Input]) -> Option<ElemType> {
    let argument =
        |name: &str| inputs.iter().find(|input| input.name.as_deref() == Some(name)).map(|it| &it.argument);
    if let Some(Argument::Elem(elem)) = argument("dtype") {
        return Some(*elem);
    }
    let own = || inputs.iter().find_map(|input| first_elem(trace, &input.argument));
    let whole = |elem: ElemType| elem == ElemType::Bool || elem.is_integer();
    match name {
        "any" | "all" if own() == Some(ElemType::Uint8) => own(),
        "float_power" => Some(ElemType::Double),
        "bucketize" | "searchsorted" if argument("out_int32") == Some(&Argument::Bool(true)) => {
            Some(ElemType::Int32)
        }
        "bincount" if matches!(argument("weights"), Some(Argument::Value(_))) => None,
        name if name.starts_with("special_") && own().is_none_or(whole) => None,
        name if BOOLEAN.contains(name) => Some(ElemType::Bool),
        name if INDICES.contains(name) => Some(ElemType::Int64),
        name if SUMS.contains(name) => own().map(|elem| if whole(elem) { ElemType::Int64 } else { elem }),
        name if FLOATING.contains(name) => {
            let rounds = matches!(argument("rounding_mode"), Some(Argument::Str(_)));
            let elem = promoted(trace, inputs)?;
            Some(if whole(elem) && !rounds { ElemType::Float } else { elem })
        }
        name if PROMOTING.contains(name) => promoted(trace, inputs),
        "max" | "min" if argument("other").is_some() => promoted(trace, inputs),
        "where" => {
            let branches: Vec<Input> = inputs.iter().skip(1).cloned().collect();
            promoted(trace, &branches)
        }
        "zeros" | "ones" | "empty" | "rand" | "randn" | "eye" | "linspace" | "logspace" | "hann_window"
        | "hamming_window" | "blackman_window" | "bartlett_window" | "kaiser_window" | "normal" => {
            Some(ElemType::Float)
        }
        "randint" => Some(ElemType::Int64),
        "full" => number_elem(trace, argument("fill_value")?),
        "scalar_tensor" => Some(ElemType::Float),
        "arange" => {
            let bounds = inputs.iter().filter(|input| input.name.as_deref() != Some("dtype"));
            let elems = bounds.map(|input| number_elem(trace, &input.argument));
            let elems: Option<Vec<_>> = elems.collect();
            Some(if elems?.contains(&ElemType::Float) { ElemType::Float } else { ElemType::Int64 })
        }
        "type_as" => first_elem(trace, argument("other")?),
        "real" | "imag" | "view_as_real" | "abs" | "absolute" => own().map(real),
        "view_as_complex" | "complex" | "polar" => own().and_then(complex),
        "stft" => match argument("return_complex") {
            Some(Argument::Bool(true)) => own().and_then(complex),
            _ => own(),
        },
        "angle" | "istft" | "fft_irfft" | "fft_irfft2" | "fft_irfftn" | "fft_hfft" | "fft_hfft2"
        | "fft_hfftn" => own().filter(|elem| !whole(*elem)).map(real),
        name if name.starts_with("fft_") && !name.ends_with("shift") => own().and_then(complex),
        "square" => own().filter(|elem| *elem != ElemType::Bool),
        name if WIDE.contains(name) => {
            own().filter(|elem| matches!(elem, ElemType::Float | ElemType::Double))
        }
        name if [&WITH_INDICES, &UNIFORM, &COUNTED].iter().any(|names| names.contains(name)) => own(),
        name if name.starts_with("special_") || name.starts_with("fft_") || preserves(name) => own(),
        // The dtype of any other operator is not known.
        _ => None,
    }
}

/// Returns the element type of a tensor, or of the first tensor of a list.
fn first_elem(trace: &Trace, argument: &Argument) -> Option<ElemType> {
    match argument {
        Argument::Value(value) => of_value(trace, *value),
        Argument::List(members) => first_elem(trace, members.first()?),
        _ => None,
    }
}

fn of_value(trace: &Trace, value: ValueId) -> Option<ElemType> {
    match &trace.value(value).ty {
        Type::Tensor(tensor) => tensor.elem,
        Type::Int => Some(ElemType::Int64),
        Type::Bool => Some(ElemType::Bool),
        Type::Float => Some(ElemType::Float),
        _ => None,
    }
}

/// Returns the dtype of a tensor made from a number.
fn number_elem(trace: &Trace, argument: &Argument) -> Option<ElemType> {
    match argument {
        Argument::Int(_) => Some(ElemType::Int64),
        Argument::Float(_) => Some(ElemType::Float),
        Argument::Complex(..) => Some(ElemType::Complex64),
        Argument::Bool(_) => Some(ElemType::Bool),
        Argument::Value(value) => of_value(trace, *value),
        _ => None,
    }
}

/// Returns the promoted dtype of the tensors and numbers among the arguments.
fn promoted(trace: &Trace, inputs: &[Input]) -> Option<ElemType> {
    // The precedence of a tensor of unknown rank is not known.
    let (mut all, mut is_ranked) = (Vec::new(), true);
    // Tensors with axes, 0-d tensors, and numbers, in the order of their precedence.
    let mut ranked: [Option<ElemType>; 3] = [None; 3];
    let mut add = |slot: usize, elem: ElemType| {
        ranked[slot] = match ranked[slot] {
            None => Some(elem),
            Some(other) => Some(promote(other, elem)?),
        };
        Some(())
    };
    for input in inputs {
        let is_scale = matches!(input.name.as_deref(), Some("dim" | "axis" | "rounding_mode" | "bias_k"));
        let members = match &input.argument {
            Argument::List(members) => &**members,
            one => std::slice::from_ref(one),
        };
        for member in members.iter().filter(|_| !is_scale) {
            match member {
                Argument::Value(value) => match &trace.value(*value).ty {
                    Type::Tensor(tensor) => {
                        is_ranked &= tensor.rank().is_some();
                        all.push(tensor.elem);
                        let slot = usize::from(tensor.rank() == Some(0));
                        add(slot, tensor.elem?)?;
                    }
                    _ => add(2, of_value(trace, *value)?)?,
                },
                Argument::Int(_) | Argument::Float(_) | Argument::Complex(..) | Argument::Bool(_) => {
                    add(2, number_elem(trace, member)?)?
                }
                _ => {}
            }
        }
    }
    if !is_ranked && all.iter().any(|elem| *elem != all[0]) {
        return None;
    }
    let [with_axes, without, numbers] = ranked;
    combine(combine(with_axes, without), numbers)
}

fn complex(elem: ElemType) -> Option<ElemType> {
    match elem {
        ElemType::Float | ElemType::Complex64 => Some(ElemType::Complex64),
        ElemType::Double | ElemType::Complex128 => Some(ElemType::Complex128),
        _ => None,
    }
}

fn real(elem: ElemType) -> ElemType {
    match elem {
        ElemType::Complex64 => ElemType::Float,
        ElemType::Complex128 => ElemType::Double,
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::dim::Dim;
    use crate::import::jit::recorder::{Recorder, named, tensor};

    /// Returns the dtypes of a call with tensors of these dtypes and ranks, and further arguments.
    fn of(
        name: &str,
        tensors: &[(ElemType, usize)],
        rest: &[(&str, Argument)],
        count: usize,
    ) -> Vec<Option<ElemType>> {
        let mut recorder = Recorder::new(None);
        let mut inputs = Vec::new();
        for (place, (elem, rank)) in tensors.iter().enumerate() {
            let sizes = vec![Some(Dim::known(2)); *rank];
            let value = recorder.input("x", tensor(Some(*elem), Some(&sizes)));
            inputs.push(named(if place == 0 { "self" } else { "other" }, Argument::Value(value)));
        }
        inputs.extend(rest.iter().map(|(name, argument)| named(name, argument.clone())));
        results(&recorder.trace, name, "", &inputs, count)
    }

    /// The expected dtypes are those of PyTorch 2.15.
    #[test]
    fn dtypes_of_results_are_those_of_pytorch() {
        use ElemType::{Bool, Double, Float, Float16, Int32, Int64, Uint8};
        let one = |name: &str, tensors: &[(ElemType, usize)], rest: &[(&str, Argument)]| {
            of(name, tensors, rest, 1)[0]
        };
        let float = [("other", Argument::Float(0.5))];
        let int = [("other", Argument::Int(2))];
        assert_eq!(one("add", &[(Int64, 1)], &float), Some(Float));
        assert_eq!(one("add", &[(Float16, 1)], &float), Some(Float16));
        assert_eq!(one("add", &[(Int32, 1)], &int), Some(Int32));
        assert_eq!(one("add", &[(Bool, 1)], &int), Some(Int64));
        assert_eq!(one("mul", &[(Float, 1), (Double, 0)], &[]), Some(Float));
        assert_eq!(one("mul", &[(Int32, 1), (Int64, 0)], &[]), Some(Int32));
        assert_eq!(one("mul", &[(Int32, 1), (Double, 0)], &[]), Some(Double));
        assert_eq!(one("div", &[(Int64, 1)], &int), Some(Float));
        let floor = [("other", Argument::Int(2)), ("rounding_mode", Argument::Str("floor".into()))];
        assert_eq!(one("div", &[(Int64, 1)], &floor), Some(Int64));
        assert_eq!(one("sum", &[(Bool, 1)], &[]), Some(Int64));
        assert_eq!(one("sqrt", &[(Int32, 1)], &[]), Some(Float));
        assert_eq!(one("lt", &[(Float, 1)], &int), Some(Bool));
        assert_eq!(one("all", &[(Uint8, 1)], &[]), Some(Uint8));
        assert_eq!(one("float_power", &[(Float, 1)], &int), Some(Double));
        assert_eq!(one("arange", &[], &[("end", Argument::Int(3)), ("dtype", Argument::None)]), Some(Int64));
        assert_eq!(one("to", &[(Float, 1)], &[("dtype", Argument::Elem(Int32))]), Some(Int32));
        assert_eq!(of("topk", &[(Float, 1)], &[], 2), [Some(Float), Some(Int64)]);
        assert_eq!(of("frexp", &[(Float, 1)], &[], 2), [None, None]);
        assert_eq!(one("ldexp", &[(Int64, 1), (Int64, 1)], &[]), Some(Float));
        assert_eq!(one("square", &[(Bool, 1)], &[]), None);
        assert_eq!(one("square", &[(Int32, 1)], &[]), Some(Int32));
        assert_eq!(one("an_operator_of_the_future", &[(Float, 1)], &[]), None);
    }
}
