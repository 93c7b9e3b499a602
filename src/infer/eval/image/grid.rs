//! Grid sampling and affine grids.

use super::kernel::{Interpolation, Weighted};
use crate::infer::eval::cx::Cx;
use crate::infer::eval::shape::{numel, positions, strides, to_sizes};
use crate::infer::eval::{Array, Refusal, Result, bad};

/// Padding mode: which value a position outside the image has.
#[derive(Clone, Copy)]
enum Padding {
    Zeros,
    Border,
    Reflection,
}

/// Attributes of `GridSample`, which determine the elements and weights of a coordinate.
struct Sampler {
    padding: Padding,
    align_corners: bool,
    /// `None` selects the nearest element.
    interpolation: Option<Interpolation>,
}

impl Sampler {
    fn of(cx: &Cx) -> Result<Sampler> {
        let padding = match cx.text("padding_mode", "zeros").as_str() {
            "zeros" => Padding::Zeros,
            "border" => Padding::Border,
            "reflection" => Padding::Reflection,
            _ => return bad("unknown value of `padding_mode`"),
        };
        // The modes had other names before opset 20.
        let interpolation = match cx.text("mode", "linear").as_str() {
            "linear" | "bilinear" => Some(Interpolation::Linear),
            "cubic" | "bicubic" => Some(Interpolation::Cubic(-0.75)),
            "nearest" => None,
            _ => return bad("unknown value of `mode`"),
        };
        Ok(Sampler { padding, align_corners: cx.flag("align_corners", false)?, interpolation })
    }

    /// Returns the indices and weights of the elements that a coordinate along an axis reads.
    /// Coordinates from −1 to 1 lie inside the image.
    fn taps(&self, at: f64, length: usize) -> Vec<(usize, f64)> {
        let n = length as f64;
        // Nearest-element selection uses `float` arithmetic, as in runtimes.
        let r = |x: f64| if self.interpolation.is_none() { f64::from(x as f32) } else { x };
        let shifted = r(at + 1.0);
        let at = match self.align_corners {
            true => r(shifted / 2.0 * (n - 1.0)),
            false => r(r(r(shifted * n) - 1.0) / 2.0),
        };
        if !at.is_finite() || at.abs() > 1e9 {
            return vec![];
        }
        let (base, weights): (i64, Vec<Weighted>) = match self.interpolation {
            None => (at.round_ties_even() as i64, vec![(0, 1.0)]),
            Some(kernel) => (at.floor() as i64, kernel.weights(at - at.floor(), 1.0)),
        };
        let place = |(i, weight): Weighted| Some((self.element(base + i, length)?, weight));
        weights.into_iter().filter_map(place).collect()
    }

    fn element(&self, at: i64, length: usize) -> Option<usize> {
        let n = length as i64;
        let inside = match self.padding {
            Padding::Zeros => at,
            Padding::Border => at.clamp(0, n - 1),
            // With `align_corners`, reflect at the centers of the outermost elements, else at their outer edges.
            Padding::Reflection if self.align_corners && n == 1 => 0,
            Padding::Reflection => {
                let (period, last) = if self.align_corners { (2 * n - 2, 0) } else { (2 * n, 1) };
                let at = at.rem_euclid(period);
                if at < n { at } else { period - at - last }
            }
        };
        usize::try_from(inside).ok().filter(|&at| at < length)
    }
}

/// Computes `GridSample` for any number of spatial axes, none of them empty.
pub(super) fn grid_sample(cx: &Cx) -> Result<Array> {
    let (x, grid) = (cx.tensor(0)?, cx.tensor(1)?);
    let sampler = Sampler::of(cx)?;
    let ([batch, channels, spatial @ ..], [grids, out @ .., axes]) = (x.shape(), grid.shape()) else {
        return bad("the input must have a batch and a channel axis");
    };
    if batch != grids || *axes != spatial.len() || out.len() != spatial.len() || spatial.contains(&0) {
        return bad("the grid does not match the image, or the image is empty");
    }
    let mut shape = vec![*batch, *channels];
    shape.extend(out);
    let mut y = vec![0.0; cx.room(&shape)?];
    let (plane, points) = (numel(spatial)?, numel(out)?);
    let corners = 4usize.saturating_pow(spatial.len() as u32);
    cx.work(&[*batch, *channels, points, corners])?;
    let (values, places, steps) = (x.f64s()?, grid.f64s()?, strides(spatial));
    for n in 0..*batch {
        for point in 0..points {
            let start = (n * points + point) * axes;
            let mut corners = vec![(0, 1.0)];
            for (i, &length) in spatial.iter().enumerate() {
                // A grid point lists the coordinate along the last axis first.
                let taps = sampler.taps(places[start + axes - 1 - i], length);
                let mut finer = Vec::with_capacity(corners.len() * taps.len());
                for (offset, weight) in corners {
                    finer.extend(taps.iter().map(|(at, part)| (offset + at * steps[i], weight * part)));
                }
                corners = finer;
            }
            for c in 0..*channels {
                let image = (n * channels + c) * plane;
                let terms = corners.iter().map(|(offset, weight)| values[image + offset] * weight);
                // Not `sum`: Rust's empty sum is −0.
                let value = terms.fold(0.0, |sum, term| sum + term);
                y[(n * channels + c) * points + point] = value;
            }
        }
    }
    Array::from_f64s(x.elem(), shape, y)
}

/// Computes `AffineGrid`, which applies each sample's affine map to a regular grid.
pub(super) fn affine_grid(cx: &Cx) -> Result<Array> {
    let (theta, size) = (cx.tensor(0)?, to_sizes(&cx.tensor(1)?.as_i64s()?)?);
    let [batch, _, spatial @ ..] = &size[..] else {
        return bad("`size` must contain a batch size and a number of channels");
    };
    let axes = spatial.len();
    if !(2..=3).contains(&axes) || theta.shape() != [*batch, axes, axes + 1] {
        return bad("the shape of `theta` does not match `size`");
    }
    let align = cx.flag("align_corners", false)?;
    if align && spatial.contains(&1) {
        return Err(Refusal::Unsupported);
    }
    let mut shape = vec![*batch];
    shape.extend(spatial);
    shape.push(axes);
    let mut grid = Vec::with_capacity(cx.room(&shape)?);
    let maps = theta.f64s()?;
    for n in 0..*batch {
        for position in positions(spatial) {
            let place = |i: usize| {
                let (at, length) = (position[i] as f64, spatial[i] as f64);
                if align { 2.0 * at / (length - 1.0) - 1.0 } else { (2.0 * at + 1.0) / length - 1.0 }
            };
            for row in 0..axes {
                let map = &maps[(n * axes + row) * (axes + 1)..][..=axes];
                let turned: f64 = (0..axes).map(|i| map[i] * place(axes - 1 - i)).sum();
                grid.push(turned + map[axes]);
            }
        }
    }
    Array::from_f64s(theta.elem(), shape, grid)
}
