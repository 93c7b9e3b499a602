//! Conversion of values between layouts.

use super::cx::{Cx, It, Operand};
use super::layout::{Layout, OldDim};
use super::obstacle::{Result, mixes, unknown};

impl Cx<'_> {
    /// Returns the operand with a sample axis before its old shape.
    /// The sample axis of a shared operand has size 1 and broadcasts.
    pub fn stacked(&mut self, operand: &Operand) -> Result<It> {
        let Layout::Axis { axis, pre, post } = operand.layout else {
            return match operand.layout {
                Layout::Stacked => Ok(operand.item),
                _ => self.unsqueeze(operand.item, &[0]),
            };
        };
        if self.samples.traced != 1 {
            return mixes(format!(
                "it computes the {} samples of the traced model together or differently",
                self.samples.traced
            ));
        }
        let dims = operand.dims()?;
        let rank = dims.len();
        let front = |axis: usize, rank: usize| -> Vec<usize> {
            std::iter::once(axis).chain((0..rank).filter(|&other| other != axis)).collect()
        };
        if (pre, post) == (1, 1) {
            let moved = self.transpose(operand.item, &front(axis, rank))?;
            return self.unsqueeze(moved, &[axis as i64 + 1]);
        }
        let after = known(&dims[axis + 1..])?;
        let pieces: Vec<i64> = match (pre, post) {
            (1, post) => vec![-1, post],
            (pre, 1) => vec![pre, -1],
            (pre, post) => vec![pre, -1, post],
        };
        let at = axis + usize::from(pre > 1);
        let split: Vec<i64> =
            std::iter::repeat_n(0, axis).chain(pieces.iter().copied()).chain(after.clone()).collect();
        let item = self.reshape(operand.item, &split)?;
        let moved = self.transpose(item, &front(at, split.len()))?;
        if pieces.len() == 2 {
            return Ok(moved);
        }
        let merged: Vec<i64> = std::iter::repeat_n(0, axis + 1).chain([pre * post]).chain(after).collect();
        self.reshape(moved, &merged)
    }

    /// Like [`Cx::stacked`], but a shared operand is repeated `N` times.
    pub fn spread(&mut self, operand: &Operand) -> Result<It> {
        let stacked = self.stacked(operand)?;
        if operand.is_carried() {
            return Ok(stacked);
        }
        let size = self.size()?;
        let ones = vec![1; operand.rank()?];
        let shape = match ones.is_empty() {
            true => size,
            false => {
                let ones = self.vector(&ones)?;
                self.join(&[size, ones])
            }
        };
        self.expand(stacked, shape)
    }

    /// Returns a carried operand with its samples in the axis `to`.
    /// Samples that are moved become the outermost factor of the axis `to`.
    pub fn at_axis(&mut self, operand: &Operand, to: usize) -> Result<(It, Layout)> {
        if let Layout::Axis { axis, .. } = operand.layout
            && axis == to
        {
            return Ok((operand.item, operand.layout));
        }
        let stacked = self.spread(operand)?;
        self.merged_at(stacked, operand.dims()?, to)
    }

    /// Merges the leading axis of samples into the old axis `to`.
    pub fn merged_at(&mut self, item: It, dims: &[OldDim], to: usize) -> Result<(It, Layout)> {
        let Some(&size) = dims.get(to) else { return unknown("an input has too few axes") };
        let Some(size) = size.filter(|&size| size > 0) else {
            return unknown("the size of an axis is unknown or 0");
        };
        let perm: Vec<usize> = (1..=to).chain([0]).chain(to + 1..=dims.len()).collect();
        let moved = self.transpose(item, &perm)?;
        let layout = Layout::Axis { axis: to, pre: 1, post: size };
        if size == 1 {
            return Ok((self.squeeze(moved, &[to as i64 + 1])?, layout));
        }
        let after = known(&dims[to + 1..])?;
        let merged: Vec<i64> = std::iter::repeat_n(0, to).chain([-1]).chain(after).collect();
        Ok((self.reshape(moved, &merged)?, layout))
    }

    /// Converts the operand to the layout `to`.
    pub fn convert(&mut self, operand: &Operand, to: Layout) -> Result<It> {
        if operand.layout == to {
            return Ok(operand.item);
        }
        match to {
            Layout::Shared => mixes("a value that must be shared by all samples differs between them"),
            Layout::Stacked => self.spread(operand),
            Layout::Axis { axis, pre: 1, post: 1 } if !operand.is_carried() => {
                let traced = self.samples.traced;
                if operand.dims()?.get(axis) != Some(&Some(1)) {
                    return match traced {
                        1 => unknown("the size of an axis is not known to be 1"),
                        _ => {
                            mixes(format!("it combines the samples with a value traced for {traced} samples"))
                        }
                    };
                }
                let size = self.size()?;
                let ones = |count: usize| vec![1i64; count];
                let (before, after) = (ones(axis), ones(operand.rank()? - axis - 1));
                let mut parts = Vec::new();
                if !before.is_empty() {
                    parts.push(self.vector(&before)?);
                }
                parts.push(size);
                if !after.is_empty() {
                    parts.push(self.vector(&after)?);
                }
                let shape = self.join(&parts);
                self.expand(operand.item, shape)
            }
            Layout::Axis { axis, .. } => {
                let stacked = self.spread(operand)?;
                let (item, layout) = self.merged_at(stacked, operand.dims()?, axis)?;
                match layout == to {
                    true => Ok(item),
                    false => unknown("the order of samples within an axis differs between inputs"),
                }
            }
        }
    }

    /// Like [`Cx::stacked`], but pads the old shape to `rank` axes with leading axes of size 1.
    pub fn padded(&mut self, operand: &Operand, rank: usize) -> Result<It> {
        let stacked = self.stacked(operand)?;
        let missing = rank.saturating_sub(operand.rank()?);
        let axes: Vec<i64> = (1..=missing as i64).collect();
        self.unsqueeze(stacked, &axes)
    }
}

/// Returns the dimensions if all of them are static and none is 0.
fn known(dims: &[OldDim]) -> Result<Vec<i64>> {
    match dims.iter().map(|dim| dim.filter(|&dim| dim > 0)).collect::<Option<Vec<i64>>>() {
        Some(dims) => Ok(dims),
        None => unknown("a size that the rewrite needs is unknown or 0"),
    }
}
