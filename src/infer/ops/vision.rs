//! Shape rules of operators on images and image regions.

use super::Cx;
use crate::infer::shape::{Shape, Size, known};

/// `GridSample`: returns one sample for each point of the grid.
pub fn grid_sample(cx: &mut Cx) -> Option<()> {
    let rank = cx.rank(0).or_else(|| cx.rank(1))?;
    let mut dims = vec![cx.dim(0, 0), cx.dim(0, 1)];
    dims.extend((1..rank.checked_sub(1)?).map(|axis| cx.dim(1, axis)));
    cx.set_dims(0, dims);
    Some(())
}

/// `AffineGrid`: returns one point for each spatial position of the size in the second input.
pub fn affine_grid(cx: &mut Cx) -> Option<()> {
    let size = cx.ints(1).or_else(|| Some(vec![None; cx.length(1)?]))?;
    let (batch, spatial) = (size.first()?, size.get(2..)?);
    let mut dims: Vec<Size> = std::iter::once(batch).chain(spatial).cloned().collect();
    dims.push(known(spatial.len() as i64));
    cx.set_dims(0, dims);
    Some(())
}

/// `RoiAlign`: pools each region to `output_height` × `output_width`.
pub fn roi_align(cx: &mut Cx) -> Option<()> {
    let (height, width) = (known(cx.int_or("output_height", 1)), known(cx.int_or("output_width", 1)));
    let regions = cx.dim(1, 0).or_else(|| cx.dim(2, 0));
    cx.set_dims(0, vec![regions, cx.dim(0, 1), height, width]);
    Some(())
}

/// `MaxRoiPool`: pools each region to `pooled_shape`.
pub fn max_roi_pool(cx: &mut Cx) -> Option<()> {
    let mut dims = vec![cx.dim(1, 0), cx.dim(0, 1)];
    dims.extend(cx.ints_attr("pooled_shape")?.iter().map(|&size| known(size)));
    cx.set_dims(0, dims);
    Some(())
}

/// `ImageDecoder`: height and width depend on the encoded image.
pub fn image_decoder(cx: &mut Cx) -> Option<()> {
    let channels = if cx.text("pixel_format") == Some("Grayscale") { 1 } else { 3 };
    cx.set_shape(0, Shape::new(vec![None, None, known(channels)]));
    Some(())
}

#[cfg(test)]
mod tests {
    use crate::infer::testing::{check, check_call};

    #[test]
    fn grid_and_region_operators_compute_their_dimensions() {
        check_call("float[n, 3, h, w] x, float[n, 5, k, 2] g", "GridSample(x, g)", "float[n, 3, 5, k]");
        check_call(
            "float[n, 3, h, w] x, float[r, 5] rois",
            "MaxRoiPool <pooled_shape = [2, 4]> (x, rois)",
            "float[r, 3, 2, 4]",
        );
        check_call(
            "float[n, 3, h, w] x, float[r, 4] rois, int64[r] batch",
            "RoiAlign <output_height = 2> (x, rois, batch)",
            "float[r, 3, 2, 1]",
        );
        check_call(
            "uint8[k] data",
            "ImageDecoder <pixel_format = \"Grayscale\"> (data)",
            "uint8[y0_dim_0, y0_dim_1, 1]",
        );
        let text = "g (float[n, 2, 3] t) => (y) {
            size = Constant <value_ints = [4, 3, 5, 6]> ()
            y = AffineGrid(t, size)
        }";
        check(text, &["y: float[4, 5, 6, 2]"]);
    }
}
