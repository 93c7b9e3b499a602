//! Which operators the exporters have no ONNX form of.
//!
//! Kept from what the exporters register: `torch/onnx/_internal/torchscript_exporter/symbolic_opset*.py`
//! for the tracing one, `onnxscript/function_libs/torch_lib/ops` and PyTorch's decompositions for the
//! `torch.export` based one. Only what is certain is here: an operator that is not listed is taken to be
//! supported, so that silence, not a false alarm, is what an outdated table leads to.

use super::op::Op;

/// Whether an operator can become ONNX.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Support {
    /// As far as is known.
    Supported,
    /// By neither exporter.
    Nowhere,
    /// Not by the tracing exporter; what to do instead.
    NotByTracing { instead: &'static str },
    /// It is not PyTorch's own: only its author can say.
    Custom,
}

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

/// Namespaces of PyTorch itself, of the exporters, and of what they know how to export.
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

/// The operators of torchvision that it registers ONNX forms for (`torchvision/ops/_register_onnx_ops.py`).
const VISION: [&str; 5] = ["nms", "roi_align", "roi_pool", "deform_conv2d", "_interpolate"];

fn is_nowhere(name: &str) -> bool {
    let in_family = name.strip_prefix("special_").is_some_and(|name| {
        SPECIAL_FUNCTIONS.contains(&name) || SPECIAL_POLYNOMIALS.iter().any(|family| name.contains(family))
    });
    in_family || NOWHERE.contains(&name)
}

/// Of `torch.special`; ONNX has `Erf` and nothing else of their kind.
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

/// `special_shifted_chebyshev_polynomial_t` and its like.
const SPECIAL_POLYNOMIALS: [&str; 5] = [
    "chebyshev_polynomial",
    "hermite_polynomial",
    "laguerre_polynomial",
    "legendre_polynomial",
    "spherical_bessel",
];

/// Gamma functions, matrix decompositions and what is built on them, order statistics of a kind that
/// `TopK` cannot give, and what PyTorch 2.15 neither registers nor takes apart.
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

const BY_DYNAMO: &str = "export with `dynamo=True`, which has one";

/// What only the `torch.export` based exporter can do.
const NOT_BY_TRACING: [(&[&str], &str); 2] = [
    (
        &[
            "_transformer_encoder_layer_fwd",
            "_native_multi_head_attention",
            "_transformer_decoder_only_layer_fwd",
        ],
        "this is PyTorch's fused path for inference: turn it off with \
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
    fn what_is_certain_and_nothing_else() {
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
