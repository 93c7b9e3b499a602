//! Image resampling, pooling of regions, and box selection.

mod boxes;
mod grid;
mod kernel;
mod resize;
mod roi;

use super::Kernel::{self, One};

/// Returns the kernel of an image operator; `None` if this module has no kernel for `op`.
pub(super) fn find(op: &str) -> Option<Kernel> {
    Some(match op {
        "Resize" => One(resize::resize),
        "Upsample" => One(resize::upsample),
        "GridSample" => One(grid::grid_sample),
        "AffineGrid" => One(grid::affine_grid),
        "RoiAlign" => One(roi::roi_align),
        "MaxRoiPool" => One(roi::max_roi_pool),
        "NonMaxSuppression" => One(boxes::non_max_suppression),
        _ => return None,
    })
}
