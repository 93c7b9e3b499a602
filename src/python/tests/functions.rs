//! Tests of the shapes of functions, all recorded by running PyTorch 2.15.

use super::*;

/// Calls, and the shapes of their results.
const SHAPES: [(&str, &[i64]); 52] = [
    ("torch.outer(torch.randn(3), torch.randn(4))", &[3, 4]),
    ("torch.mv(torch.randn(3, 4), torch.randn(4))", &[3]),
    ("torch.addmm(torch.randn(5), torch.randn(3, 4), torch.randn(4, 5))", &[3, 5]),
    ("torch.baddbmm(torch.randn(3, 1), torch.randn(2, 3, 4), torch.randn(2, 4, 5))", &[2, 3, 5]),
    ("torch.addcmul(torch.randn(3, 1), torch.randn(4), torch.randn(3, 4))", &[3, 4]),
    ("torch.cdist(torch.randn(2, 3, 4), torch.randn(2, 5, 4))", &[2, 3, 5]),
    ("torch.cdist(torch.randn(3, 4), torch.randn(2, 5, 4))", &[2, 3, 5]),
    (
        "F.scaled_dot_product_attention(torch.randn(2, 6, 3, 4), torch.randn(2, 6, 5, 4), torch.randn(2, 6, 5, 8))",
        &[2, 6, 3, 8],
    ),
    ("F.cosine_similarity(torch.randn(2, 3, 4), torch.randn(3, 4), dim=-1)", &[2, 3]),
    ("F.cosine_similarity(torch.randn(2, 3), torch.randn(2, 3))", &[2]),
    ("F.pairwise_distance(torch.randn(2, 3), torch.randn(2, 3))", &[2]),
    ("nn.CosineSimilarity(dim=0)(torch.randn(2, 3), torch.randn(2, 3))", &[3]),
    ("torch.hypot(torch.randn(2, 1), torch.randn(3))", &[2, 3]),
    ("torch.linalg.inv(torch.randn(2, 3, 3))", &[2, 3, 3]),
    ("torch.linalg.det(torch.randn(2, 3, 3))", &[2]),
    ("torch.linalg.norm(torch.randn(2, 3), dim=1)", &[2]),
    ("torch.linalg.vector_norm(torch.randn(2, 3), 2, 1, True)", &[2, 1]),
    ("torch.fft.fft(torch.randn(2, 8)).abs()", &[2, 8]),
    ("torch.fft.rfft(torch.randn(2, 8), dim=1).abs()", &[2, 5]),
    ("torch.fft.rfft(torch.randn(2, 8), n=10).abs()", &[2, 6]),
    ("torch.fft.irfft(torch.fft.rfft(torch.randn(2, 8)))", &[2, 8]),
    ("torch.fft.rfft2(torch.randn(2, 8, 6)).abs()", &[2, 8, 4]),
    ("torch.hstack([torch.randn(2, 3), torch.randn(2, 4)])", &[2, 7]),
    ("torch.hstack((torch.randn(2), torch.randn(3)))", &[5]),
    ("torch.vstack([torch.randn(3), torch.randn(3)])", &[2, 3]),
    ("torch.vstack([torch.randn(2, 3), torch.randn(4, 3)])", &[6, 3]),
    ("torch.column_stack([torch.randn(3), torch.randn(3)])", &[3, 2]),
    ("torch.dstack([torch.randn(2, 3, 4), torch.randn(2, 3, 1)])", &[2, 3, 5]),
    ("torch.meshgrid(torch.arange(3), torch.arange(4), indexing='ij')[1]", &[3, 4]),
    ("torch.meshgrid([torch.arange(3), torch.arange(4)], indexing='xy')[0]", &[4, 3]),
    ("torch.movedim(torch.randn(2, 3, 4), 0, -1)", &[3, 4, 2]),
    ("torch.randn(2, 3, 4, 5).movedim((1, 2), (-2, -1))", &[2, 5, 3, 4]),
    ("torch.randn(2, 3, 4).moveaxis(2, 0)", &[4, 2, 3]),
    ("torch.diagonal(torch.randn(2, 3, 4), dim1=-2, dim2=-1)", &[2, 3]),
    ("torch.randn(5, 3).diagonal(-1)", &[3]),
    ("torch.diag(torch.randn(3), 1)", &[4, 4]),
    ("torch.diag(torch.randn(3, 5), 3)", &[2]),
    ("F.pixel_unshuffle(torch.randn(1, 2, 6, 4), 2)", &[1, 8, 3, 2]),
    ("torch.bucketize(torch.randn(2, 3), torch.arange(4.))", &[2, 3]),
    ("torch.searchsorted(torch.arange(4.), torch.randn(2, 3))", &[2, 3]),
    ("torch.kthvalue(torch.randn(2, 3), 1)[0]", &[2]),
    ("torch.kthvalue(torch.randn(2, 3), 1, 0, True).values", &[1, 3]),
    ("torch.cummax(torch.randn(2, 3), dim=1)[0]", &[2, 3]),
    ("torch.mode(torch.randn(2, 3), dim=0).indices", &[3]),
    ("torch.var_mean(torch.randn(2, 3), dim=1)[1]", &[2]),
    ("torch.std_mean(torch.randn(2, 3, 4), dim=(1, 2), keepdim=True)[0]", &[2, 1, 1]),
    ("torch.broadcast_to(torch.randn(3, 1), (2, 3, 4))", &[2, 3, 4]),
    ("F.grid_sample(torch.randn(2, 3, 8, 8), torch.randn(2, 4, 5, 2))", &[2, 3, 4, 5]),
    ("F.affine_grid(torch.randn(2, 2, 3), (2, 3, 4, 5))", &[2, 4, 5, 2]),
    ("F.conv_transpose2d(torch.randn(1, 3, 4, 4), torch.randn(3, 2, 2, 2), stride=2)", &[1, 2, 8, 8]),
    ("F.conv_transpose1d(torch.randn(1, 4, 5), torch.randn(4, 3, 3), None, 2, 1, 1, 2)", &[1, 6, 10]),
    ("torch.logcumsumexp(torch.randn(2, 3), dim=1)", &[2, 3]),
];

/// Calls that raise.
const REFUSED: [&str; 18] = [
    "torch.outer(torch.randn(3, 1), torch.randn(4))",
    "torch.mv(torch.randn(3, 4), torch.randn(3))",
    "torch.dot(torch.randn(3), torch.randn(4))",
    "torch.addmm(torch.randn(4), torch.randn(3, 4), torch.randn(4, 5))",
    "torch.baddbmm(torch.randn(1, 2, 3, 5), torch.randn(2, 3, 4), torch.randn(2, 4, 5))",
    "torch.cdist(torch.randn(3, 4), torch.randn(5, 3))",
    "torch.cdist(torch.randn(4), torch.randn(5, 4))",
    "F.scaled_dot_product_attention(torch.randn(2, 3, 4), torch.randn(2, 5, 6), torch.randn(2, 5, 6))",
    "F.scaled_dot_product_attention(torch.randn(2, 3, 4), torch.randn(2, 5, 4), torch.randn(2, 5, 4), torch.ones(5, 3).bool())",
    "F.scaled_dot_product_attention(torch.randn(2, 3, 4), torch.randn(2, 5, 4), torch.randn(2, 5, 4), attn_mask=torch.ones(3, 5).long())",
    "torch.linalg.inv(torch.randn(2, 3))",
    "torch.hstack([torch.randn(2, 3), torch.randn(3, 3)])",
    "torch.vstack([torch.randn(2), torch.randn(3)])",
    "F.grid_sample(torch.randn(2, 3, 8, 8), torch.randn(1, 4, 5, 2))",
    "F.grid_sample(torch.randn(2, 3, 8, 8), torch.randn(2, 2, 4, 5))",
    "F.conv_transpose2d(torch.randn(1, 3, 4, 4), torch.randn(2, 3, 2, 2))",
    "torch.fft.rfft(torch.randn(2, 8), dim=2)",
    "torch.broadcast_to(torch.randn(3, 2), (2, 3, 4))",
];

#[test]
fn results_have_the_shapes_of_pytorch() {
    for (call, shape) in SHAPES {
        let stacked = |sizes: &[i64]| {
            let sizes: Vec<String> = sizes.iter().map(ToString::to_string).collect();
            format!("torch.stack([{call}, torch.zeros({})])", sizes.join(", "))
        };
        check(&format!("{}\n", stacked(shape)));
        for axis in 0..shape.len() {
            let mut other = shape.to_vec();
            other[axis] += 1;
            check(&format!("{}  #! shape-mismatch\n", stacked(&other)));
        }
    }
}

#[test]
fn operands_that_functions_refuse_are_reported() {
    for call in REFUSED {
        let rule = if call.contains(".long()") { "dtype-mismatch" } else { "shape-mismatch" };
        check(&format!("{call}  #! {rule}\n"));
    }
}
