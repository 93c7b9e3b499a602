//! Operators that create, convert, move and select elements.

mod blocks;
mod by_axis;
mod cast;
mod cut;
mod gather;
mod make;
mod order;
mod pad;
mod scatter;
mod view;

use super::Kernel::{self, Many, One, Values};

pub(super) use by_axis::by_axis;
pub(super) use cast::cast_to;
pub(super) use cut::{join, pieces};
pub(super) use view::permuted;

/// Returns the kernel of a layout operator; `None` if this module has no kernel for `op`.
pub(super) fn find(op: &str) -> Option<Kernel> {
    Some(match op {
        "Cast" => One(cast::cast),
        "CastLike" => One(cast::cast_like),
        "Shape" => One(view::shape),
        "Size" => One(view::size),
        "Reshape" => One(view::reshape),
        "Flatten" => One(view::flatten),
        "Squeeze" => One(view::squeeze),
        "Unsqueeze" => One(view::unsqueeze),
        "Transpose" => One(view::transpose),
        "Expand" => One(view::expand),
        "Tile" => One(view::tile),
        "Concat" => One(cut::concat),
        "Split" => Many(cut::split),
        "Slice" => One(cut::slice),
        "CenterCropPad" => One(pad::center_crop_pad),
        "Pad" => One(pad::pad),
        "Gather" => One(gather::gather),
        "GatherElements" => One(gather::gather_elements),
        "GatherND" => One(gather::gather_nd),
        "Compress" => One(gather::compress),
        "Where" => One(gather::select),
        "Scatter" | "ScatterElements" => One(scatter::scatter_elements),
        "ScatterND" => One(scatter::scatter_nd),
        "TensorScatter" => One(scatter::tensor_scatter),
        "Constant" => Values(make::constant),
        "ConstantOfShape" => One(make::constant_of_shape),
        "Range" => One(make::range),
        "EyeLike" => One(make::eye_like),
        "OneHot" => One(make::one_hot),
        "Trilu" => One(make::trilu),
        "NonZero" => One(order::non_zero),
        "TopK" => Many(order::top_k),
        "Unique" => Many(order::unique),
        "DepthToSpace" => One(blocks::depth_to_space),
        "SpaceToDepth" => One(blocks::space_to_depth),
        "ReverseSequence" => One(blocks::reverse_sequence),
        _ => return None,
    })
}
