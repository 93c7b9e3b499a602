//! Operators that the exporters cannot convert to ONNX.
//!
//! The tables follow the exporters' registrations:
//! `torch/onnx/_internal/torchscript_exporter/symbolic_opset*.py` for the tracing exporter;
//! `onnxscript/function_libs/torch_lib/ops` and PyTorch's decompositions for the `torch.export` based one.
//! Unlisted operators of PyTorch count as supported, so an outdated table misses problems instead of raising
//! false alarms.

use super::op::Op;

/// Exporter support for an operator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Support {
    /// Not known to be unsupported.
    Supported,
    /// Supported by neither exporter.
    Nowhere,
    /// Not supported by the tracing exporter; `instead` is the help text of the finding.
    NotByTracing { instead: &'static str },
    /// A custom operator, for which support is unknown.
    Custom,
}

/// Returns the exporter support for an operator.
pub fn support(op: &Op) -> Support {
    let name = op.in_place_of().unwrap_or(&op.name);
    match &*op.namespace {
        "aten" if is_nowhere(name) => Support::Nowhere,
        "aten" => NOT_BY_TRACING
            .iter()
            .find(|(names, _)| names.contains(&name))
            .map_or(Support::Supported, |(_, instead)| Support::NotByTracing { instead }),
        "torchvision" if !VISION.contains(&name) => Support::Custom,
        namespace if BUILT_IN.contains(&namespace) => Support::Supported,
        _ => Support::Custom,
    }
}

/// Namespaces of PyTorch, of the exporters, and of libraries that the exporters support.
const BUILT_IN: [&str; 19] = [
    "",
    "aten",
    "prim",
    "prims",
    "onnx",
    "quantized",
    "quantized_decomposed",
    "torchvision",
    "higher_order",
    "inductor",
    "_operator",
    "operator",
    "torch",
    "math",
    "builtins",
    "_c10d_functional",
    "profiler",
    "static",
    "cuda",
];

/// Operators of torchvision that an exporter converts.
/// The conversions are in `torchvision/ops/_register_onnx_ops.py` for the tracing exporter, and in
/// `onnxscript/function_libs/torch_lib/ops/vision.py` for the `torch.export` based one.
const VISION: [&str; 5] = ["nms", "roi_align", "roi_pool", "deform_conv2d", "_interpolate"];

fn is_nowhere(name: &str) -> bool {
    let in_family = name.strip_prefix("special_").is_some_and(|name| {
        SPECIAL_FUNCTIONS.contains(&name) || SPECIAL_POLYNOMIALS.iter().any(|family| name.contains(family))
    });
    in_family || NOWHERE.contains(&name)
}

/// Functions of `torch.special` without an ONNX equivalent; ONNX has only `Erf`.
const SPECIAL_FUNCTIONS: [&str; 25] = [
    "airy_ai",
    "bessel_j0",
    "bessel_j1",
    "bessel_y0",
    "bessel_y1",
    "digamma",
    "erfinv",
    "gammainc",
    "gammaincc",
    "gammaln",
    "i0",
    "i0e",
    "i1",
    "i1e",
    "modified_bessel_i0",
    "modified_bessel_i1",
    "modified_bessel_k0",
    "modified_bessel_k1",
    "multigammaln",
    "ndtri",
    "polygamma",
    "psi",
    "scaled_modified_bessel_k0",
    "scaled_modified_bessel_k1",
    "zeta",
];

/// Families of functions of `torch.special`, such as `special_shifted_chebyshev_polynomial_t`.
const SPECIAL_POLYNOMIALS: [&str; 5] = [
    "chebyshev_polynomial",
    "hermite_polynomial",
    "laguerre_polynomial",
    "legendre_polynomial",
    "spherical_bessel",
];

/// Operators that neither exporter supports.
///
/// The operators are gamma functions, matrix decompositions and functions built on these, order statistics
/// that `TopK` cannot compute, and others that PyTorch 2.15 neither registers nor decomposes.
const NOWHERE: [&str; 82] = [
    "_cdist_forward",
    "_cholesky_solve_helper",
    "_linalg_check_errors",
    "_linalg_eigh",
    "_linalg_eigvals",
    "_linalg_slogdet",
    "_linalg_solve_ex",
    "_linalg_svd",
    "_pdist_forward",
    "binomial",
    "cholesky",
    "cholesky_inverse",
    "cholesky_solve",
    "cummax",
    "cummin",
    "digamma",
    "eig",
    "erfinv",
    "geqrf",
    "grid_sampler_3d",
    "hash_tensor",
    "histogram",
    "histogramdd",
    "i0",
    "igamma",
    "igammac",
    "index_reduce",
    "inverse",
    "istft",
    "kthvalue",
    "lgamma",
    "linalg_cholesky",
    "linalg_cholesky_ex",
    "linalg_eig",
    "linalg_eigh",
    "linalg_eigvals",
    "linalg_eigvalsh",
    "linalg_householder_product",
    "linalg_inv",
    "linalg_inv_ex",
    "linalg_ldl_factor",
    "linalg_ldl_factor_ex",
    "linalg_ldl_solve",
    "linalg_lstsq",
    "linalg_lu",
    "linalg_lu_factor",
    "linalg_lu_factor_ex",
    "linalg_lu_solve",
    "linalg_matrix_exp",
    "linalg_matrix_rank",
    "linalg_matrix_sqrth",
    "linalg_pinv",
    "linalg_polar",
    "linalg_qr",
    "linalg_solve",
    "linalg_solve_ex",
    "linalg_solve_triangular",
    "linalg_svd",
    "linalg_svdvals",
    "linalg_tensorinv",
    "linalg_tensorsolve",
    "lstsq",
    "lu_solve",
    "lu_unpack",
    "matrix_exp",
    "median",
    "mode",
    "mvlgamma",
    "nanmedian",
    "nonzero_static",
    "orgqr",
    "ormqr",
    "pinverse",
    "poisson",
    "polygamma",
    "put",
    "qr",
    "searchsorted",
    "segment_reduce",
    "svd",
    "symeig",
    "triangular_solve",
];

const BY_DYNAMO: &str = "export with `dynamo=True`, which supports it";

/// Operators that only the `torch.export` based exporter supports, with the help text for each group.
const NOT_BY_TRACING: [(&[&str], &str); 2] = [
    (
        &[
            "_transformer_encoder_layer_fwd",
            "_native_multi_head_attention",
            "_transformer_decoder_only_layer_fwd",
        ],
        "disable PyTorch's fused inference path with \
         `torch.backends.mha.set_fastpath_enabled(False)` before the export, or export with `dynamo=True`",
    ),
    (
        &[
            "fft_fft",
            "fft_fft2",
            "fft_fftn",
            "fft_hfft",
            "fft_ifft",
            "fft_ifft2",
            "fft_ifftn",
            "fft_ihfft",
            "fft_irfft",
            "fft_irfft2",
            "fft_irfftn",
            "fft_rfft",
            "fft_rfft2",
            "fft_rfftn",
            "histc",
            "view_as_complex",
            "polar",
            "complex",
        ],
        BY_DYNAMO,
    ),
];

#[cfg(test)]
mod tests {
    use super::*;

    fn check(op: &str, expected: Support) {
        assert_eq!(support(&Op::parse(op)), expected, "{op}");
    }

    #[test]
    fn only_operators_known_to_fail_are_unsupported() {
        check("aten::special_bessel_j0", Support::Nowhere);
        check("torch.ops.aten.special_shifted_chebyshev_polynomial_t.default", Support::Nowhere);
        check("aten::lgamma_", Support::Nowhere);
        check("aten::linalg_svd", Support::Nowhere);
        check("aten::_transformer_encoder_layer_fwd", Support::NotByTracing { instead: NOT_BY_TRACING[0].1 });
        for supported in [
            "aten::add",
            "aten::special_expit",
            "aten::linalg_det",
            "aten::something_new",
            "prim::If",
            "_operator.mul",
            "torchvision::nms",
            "torch.sym_not",
        ] {
            check(supported, Support::Supported);
        }
        check("mylib::op", Support::Custom);
        check("torch.ops.mylib.op.default", Support::Custom);
        check("torchvision::_deform_conv2d_backward", Support::Custom);
    }
}
