//! PyTorch operators whose results have the dtype of their first tensor.

use crate::import::names::Names;

/// Names of these operators. They were found by running samples of PyTorch 2.15 in seven dtypes.
static NAMES: Names = Names::new(
    "
    _adaptive_avg_pool2d _adaptive_avg_pool3d _chunk_cat _conv_depthwise2d _convolution _convolution_mode
    _masked_softmax _pad_circular _pad_enum _prelu_kernel _reshape_alias _reshape_copy _safe_softmax
    _to_copy _trilinear _unsafe_index _unsafe_index_put _unsafe_masked_index
    _unsafe_masked_index_put_accumulate _unsafe_view _upsample_bicubic2d_aa _upsample_bilinear2d_aa
    _upsample_nearest_exact1d _upsample_nearest_exact2d _upsample_nearest_exact3d _weight_norm
    adaptive_avg_pool1d adaptive_avg_pool2d adaptive_avg_pool3d addmv addr adjoint affine_grid_generator
    alias alias_copy alpha_dropout amax amin as_strided as_strided_copy as_strided_scatter atleast_1d
    atleast_2d atleast_3d avg_pool1d avg_pool2d avg_pool3d batch_norm bernoulli bilinear
    binary_cross_entropy binary_cross_entropy_with_logits bitwise_not block_diag broadcast_tensors
    broadcast_to cartesian_prod cauchy cdist ceil celu chain_matmul channel_shuffle cholesky
    cholesky_inverse cholesky_solve chunk clone col2im combinations conj conj_physical constant_pad_nd
    contiguous conv1d conv2d conv3d conv_tbc conv_transpose1d conv_transpose2d conv_transpose3d convolution
    copy cosine_similarity cross_entropy_loss ctc_loss deform_conv2d det detach detach_copy diag diag_embed
    diagflat diagonal diagonal_copy diagonal_scatter diff dist dropout dsplit elu embedding empty_like
    expand expand_as expand_copy exponential feature_alpha_dropout feature_dropout fft_fftshift
    fft_ifftshift fill fill_diagonal fix flatten flip fliplr flipud floor frac frobenius_norm full_like
    gather gelu geometric ger glu grid_sampler grid_sampler_2d grid_sampler_3d group_norm gru_cell
    hardshrink hardsigmoid hardswish hardtanh histc hsplit igamma igammac im2col index index_add index_copy
    index_fill index_put index_reduce index_select inner instance_norm inverse layer_norm leaky_relu lift
    lift_fresh lift_fresh_copy linalg_cholesky linalg_cross linalg_det linalg_diagonal linalg_eigvalsh
    linalg_householder_product linalg_inv linalg_matmul linalg_matrix_exp linalg_matrix_norm
    linalg_matrix_power linalg_multi_dot linalg_norm linalg_pinv linalg_solve linalg_solve_triangular
    linalg_svdvals linalg_tensorinv linalg_tensorsolve linalg_vecdot linalg_vector_norm log_normal
    log_sigmoid log_sigmoid_forward log_softmax logcumsumexp logdet lu_solve mH mT masked_fill
    masked_scatter masked_select matrix_H matrix_exp matrix_power max_pool1d max_pool2d max_pool3d
    max_unpool2d max_unpool3d mean meshgrid mish moveaxis movedim multi_margin_loss multilabel_margin_loss
    nan_to_num nanmean narrow narrow_copy native_channel_shuffle neg negative new_empty new_empty_strided
    new_full new_ones new_zeros nll_loss nll_loss2d nll_loss_nd norm norm_except_dim nuclear_norm numpy_T
    ones_like ormqr pad pad_sequence pdist permute permute_copy pinverse pixel_shuffle pixel_unshuffle
    poisson positive prelu ps_roi_align put quantile rand_like randint_like randn_like ravel
    reflection_pad1d reflection_pad2d reflection_pad3d relu relu6 renorm repeat repeat_interleave
    replication_pad1d replication_pad2d replication_pad3d reshape reshape_as resolve_conj resolve_neg
    rms_norm rnn_relu_cell rnn_tanh_cell roi_align roll rot90 round rrelu scaled_dot_product_attention
    scatter scatter_add scatter_reduce select select_copy select_scatter selu sgn sign silu slice slice_copy
    slice_scatter slow_conv3d slow_conv_dilated2d slow_conv_dilated3d slow_conv_transpose2d
    slow_conv_transpose3d softmax softplus softshrink split split_copy split_with_sizes
    split_with_sizes_copy squeeze squeeze_copy std swapaxes swapdims t t_copy take take_along_dim
    tensor_split tensordot threshold tile transpose transpose_copy triangular_solve tril triu trunc unbind
    unbind_copy unflatten unfold unfold_copy uniform unsafe_chunk unsafe_split unsafe_split_with_sizes
    unsqueeze unsqueeze_copy upsample_bicubic2d upsample_bilinear2d upsample_linear1d upsample_nearest1d
    upsample_nearest2d upsample_nearest3d upsample_trilinear3d var vdot view view_as view_copy vsplit zero
    zeros_like",
);

/// Operators for which this is true only if that dtype is float32 or float64.
pub static WIDE: Names =
    Names::new("einsum trapezoid trapz cumulative_trapezoid cov corrcoef quantile nanquantile");

/// Returns true for an operator whose results have the dtype of its first tensor.
pub fn preserves(name: &str) -> bool {
    NAMES.contains(name)
}
