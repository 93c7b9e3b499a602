//! Names of element-wise functions, by the dtypes of their results.

/// Functions of one tensor whose result has its shape and dtype.
pub const KEEPING: &str = "
    abs absolute neg negative positive relu relu6 leaky_relu elu celu selu gelu silu mish hardtanh hardswish
    hardsigmoid softplus softsign threshold rrelu logsigmoid tanhshrink softshrink hardshrink round floor ceil
    trunc frac sign sgn square dropout dropout1d dropout2d dropout3d alpha_dropout feature_dropout tril triu
    nan_to_num normalize prelu fliplr flipud contiguous clone detach cumsum cumprod masked_fill
    local_response_norm bitwise_not softmax log_softmax softmin gumbel_softmax softmax2d conj renorm bernoulli
    logcumsumexp";

/// Element-wise functions of one tensor whose result is floating-point.
pub const FLOATING: &str = "
    sigmoid tanh exp exp2 expm1 log log2 log10 log1p sqrt rsqrt sin cos tan asin acos atan sinh cosh asinh acosh
    atanh erf erfc erfinv reciprocal logit lgamma digamma sinc deg2rad rad2deg i0 i0e i1 i1e ndtr ndtri log_ndtr
    entr erfcx airy_ai bessel_j0 bessel_j1 bessel_y0 bessel_y1 spherical_bessel_j0 modified_bessel_i0
    modified_bessel_i1 modified_bessel_k0 modified_bessel_k1 scaled_modified_bessel_k0
    scaled_modified_bessel_k1";

/// Element-wise functions of two operands, whose dtypes are promoted.
pub const BINARY: &str = "
    add sub subtract rsub mul multiply div divide true_divide floor_divide remainder fmod pow maximum minimum
    atan2 fmax fmin bitwise_and bitwise_or bitwise_xor bitwise_left_shift bitwise_right_shift gcd lcm hypot
    logaddexp logaddexp2 lerp heaviside nextafter igamma igammac copysign xlogy xlog1py zeta float_power
    chebyshev_polynomial_t chebyshev_polynomial_u chebyshev_polynomial_v chebyshev_polynomial_w
    hermite_polynomial_h hermite_polynomial_he laguerre_polynomial_l legendre_polynomial_p
    shifted_chebyshev_polynomial_t shifted_chebyshev_polynomial_u shifted_chebyshev_polynomial_v
    shifted_chebyshev_polynomial_w ldexp";

/// Functions of two operands whose result is floating-point, also for integers.
pub const DIVIDING: &str = "
    div divide true_divide atan2 copysign xlogy xlog1py zeta chebyshev_polynomial_t chebyshev_polynomial_u
    chebyshev_polynomial_v chebyshev_polynomial_w hermite_polynomial_h hermite_polynomial_he
    laguerre_polynomial_l legendre_polynomial_p shifted_chebyshev_polynomial_t shifted_chebyshev_polynomial_u
    shifted_chebyshev_polynomial_v shifted_chebyshev_polynomial_w";

/// Comparisons and logical functions of two operands, whose result is boolean.
pub const COMPARISONS: &str = "
    eq ne lt le gt ge greater greater_equal less less_equal logical_and logical_or logical_xor isclose not_equal";

/// Reductions to one tensor.
pub const REDUCTIONS: &str =
    "sum mean prod std var argmax argmin amax amin logsumexp any all nansum nanmean count_nonzero norm";
