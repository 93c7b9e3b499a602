//! Tests of the table of functions, one for each kind of line, all recorded by running PyTorch 2.15.

use super::*;

/// Calls, and the shapes and dtypes of their results.
const RESULTS: [(&str, &[i64], &str); 29] = [
    (
        "torch.special.xlog1py(torch.ones(2, 1, dtype=torch.int64), torch.ones(3, dtype=torch.int64))",
        &[2, 3],
        "float32",
    ),
    ("torch.float_power(torch.ones(2), 2)", &[2], "float64"),
    ("torch.div(torch.ones(2, dtype=torch.int32), 2, rounding_mode='floor')", &[2], "int32"),
    ("torch.signbit(torch.rand(2, 3))", &[2, 3], "bool"),
    ("torch.linalg.svd(torch.rand(2, 4, 3), full_matrices=False).Vh", &[2, 3, 3], "float32"),
    ("torch.linalg.eig(torch.rand(3, 3)).eigenvalues", &[3], "complex64"),
    ("torch.linalg.qr(torch.rand(2, 4, 3))[0]", &[2, 4, 3], "float32"),
    ("torch.addr(torch.rand(3, 1), torch.rand(3), torch.rand(4))", &[3, 4], "float32"),
    ("torch.inner(torch.rand(2, 3), torch.rand(4, 5, 3))", &[2, 4, 5], "float32"),
    ("torch.kron(torch.rand(2, 3), torch.rand(4))", &[2, 12], "float32"),
    ("torch.block_diag(torch.rand(2, 3), torch.rand(4))", &[3, 7], "float32"),
    ("torch.tensor_split(torch.rand(7, 2), 3)[0]", &[3, 2], "float32"),
    ("torch.quantile(torch.rand(2, 3), torch.rand(5), dim=1)", &[5, 2], "float32"),
    ("torch.permute_copy(torch.rand(2, 3), (1, 0))", &[3, 2], "float32"),
    (
        "torch.rand(2, 3).scatter_reduce(0, torch.zeros(1, 3, dtype=torch.int64), torch.rand(1, 3), 'sum')",
        &[2, 3],
        "float32",
    ),
    ("torch.rand(2, 3).flip(dims=(0, 1))", &[2, 3], "float32"),
    ("torch.rand(2, 3).repeat_interleave(repeats=2)", &[12], "float32"),
    ("torch.rand(2).tile(3, 2)", &[3, 4], "float32"),
    ("F.mse_loss(torch.rand(2, 3), torch.rand(2, 3), reduction='none')", &[2, 3], "float32"),
    (
        "F.cross_entropy(torch.rand(2, 3), torch.zeros(2, dtype=torch.int64), reduction='none')",
        &[2],
        "float32",
    ),
    ("torch.fft.irfftn(torch.rand(2, 3, 5, dtype=torch.complex64), dim=(1, 2))", &[2, 3, 8], "float32"),
    ("torch.stft(torch.rand(2, 64), 16, center=False, return_complex=True)", &[2, 9, 13], "complex64"),
    ("torch.polar(torch.rand(2), torch.rand(2))", &[2], "complex64"),
    ("torch.poisson(torch.full((2, 3), 4.0))", &[2, 3], "float32"),
    ("torch.tril_indices(3, 4, offset=1)", &[2, 9], "int64"),
    ("torch.scalar_tensor(3)", &[], "float32"),
    ("torch.cov(torch.rand(1, 4))", &[], "float32"),
    ("torch.std(torch.rand(2, 3), 1, True)", &[2], "float32"),
    ("torch.masked_fill(torch.rand(3), torch.ones(2, 3, dtype=torch.bool), 0.0)", &[2, 3], "float32"),
];

/// Calls that raise.
const REFUSED: [&str; 5] = [
    "torch.addmv(torch.rand(2), torch.rand(2, 3), torch.rand(4))",
    "torch.trace(torch.rand(2, 3, 4))",
    "torch.linalg.eigh(torch.rand(3, 4))",
    "torch.inner(torch.rand(2, 3), torch.rand(4, 5))",
    "torch.vdot(torch.rand(3), torch.rand(4))",
];

#[test]
fn tabulated_results_have_the_shapes_and_dtypes_of_pytorch() {
    for (call, shape, dtype) in RESULTS {
        let sizes: Vec<String> = shape.iter().map(ToString::to_string).collect();
        let sizes = sizes.join(", ");
        let product = |dtype: &str| {
            format!("torch.mm(torch.ones(1, 1, dtype=torch.{dtype}), {call}.reshape(-1)[:1].view(1, 1))")
        };
        check(&format!("torch.stack([{call}, torch.zeros(({sizes}), dtype=torch.{dtype})])\n"));
        check(&format!("torch.stack([{call}, torch.zeros(7, {sizes})])  #! shape-mismatch\n"));
        check(&format!("{}\n", product(dtype)));
        check(&format!("{}  #! dtype-mismatch\n", product("int16")));
    }
}

#[test]
fn operands_that_do_not_fit_the_table_are_reported() {
    for call in REFUSED {
        check(&format!("{call}  #! shape-mismatch\n"));
    }
}

#[test]
fn arguments_that_decide_the_result_are_followed_only_if_they_are_known() {
    check(
        "from elsewhere import flag, rank\n\
         torch.linalg.svd(torch.rand(4, 3), full_matrices=flag)[0].view(5)\n\
         torch.cov(torch.rand(rank, 3)).view(5)\n\
         F.mse_loss(torch.rand(2), torch.rand(2), reduction=flag).view(5)\n",
    );
}

#[test]
fn results_that_are_written_to_a_tensor_resize_it() {
    check(
        "y = torch.empty(0)\n\
         torch.add(torch.rand(2, 3), 1, out=y)\n\
         y.view(6)\n\
         y.view(5)  #! shape-mismatch\n",
    );
}
