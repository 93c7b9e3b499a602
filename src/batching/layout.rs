//! Position of the sample axis in a value.

/// The layout of a value once the model runs on `N` samples.
///
/// "Old" dimensions are those of the traced model, on a batch of `traced` samples. "New" dimensions are those of the
/// rewritten model, on `N` samples.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Layout {
    /// All samples have the same tensor: shape and elements are those of the traced model.
    Shared,
    /// Samples on one axis.
    /// The size of this axis changes from `pre * traced * post` to `pre * N * post`; other axes are
    /// unchanged.
    /// If the axis is viewed as `(pre, N, post)`, sample `i` has the elements `(p, i, q)`, for all `p` and
    /// `q`.
    Axis {
        /// Index of the axis in the old and the new shape.
        axis: usize,
        /// Number of blocks of samples along the axis.
        pre: i64,
        /// Number of consecutive elements of one sample along the axis.
        post: i64,
    },
    /// The new shape is `N`, followed by the old shape. The layout requires a traced batch size of 1.
    Stacked,
}

impl Layout {
    /// Returns the layout of an axis that only holds the samples.
    pub const fn plain(axis: usize) -> Layout {
        Layout::Axis { axis, pre: 1, post: 1 }
    }

    /// Returns true if each sample has its own elements.
    pub fn is_carried(self) -> bool {
        self != Layout::Shared
    }
}

/// Dimension of the traced model; `None` if it is not static.
pub type OldDim = Option<i64>;

/// Returns the layout of a tensor after a row-major reshape to the shape `to`.
///
/// `outer` is the number of blocks of samples in row-major order: the product of `pre` and the sizes of the axes before
/// the sample axis. An axis of `to` that only holds the samples is preferred. Returns `None` if no axis of `to` can
/// hold the samples, because a reshape keeps the order of elements.
pub fn placed(outer: i64, traced: i64, to: &[i64]) -> Option<Layout> {
    let mut best: Option<(u8, Layout)> = None;
    let mut before = 1i64;
    for (axis, &size) in to.iter().enumerate() {
        if before > 0 && outer % before == 0 && size % ((outer / before).max(1) * traced) == 0 {
            let pre = outer / before;
            if pre >= 1 {
                let post = size / (pre * traced);
                let rank = match (pre, post) {
                    (1, 1) => 0,
                    (1, _) => 1,
                    (_, 1) => 2,
                    _ => 3,
                };
                if post >= 1 && best.is_none_or(|(known, _)| rank < known) {
                    best = Some((rank, Layout::Axis { axis, pre, post }));
                }
            }
        }
        before = before.saturating_mul(size);
    }
    best.map(|(_, layout)| layout)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_separate_sample_axis_is_preferred() {
        assert_eq!(placed(1, 1, &[1, 8]), Some(Layout::plain(0)));
        assert_eq!(placed(4, 1, &[4, 1, 8]), Some(Layout::plain(1)));
        assert_eq!(placed(1, 2, &[2, 8]), Some(Layout::plain(0)));
    }

    #[test]
    fn the_samples_are_folded_into_a_larger_axis() {
        assert_eq!(placed(1, 1, &[6, 4]), Some(Layout::Axis { axis: 0, pre: 1, post: 6 }));
        assert_eq!(placed(6, 1, &[6, 4]), Some(Layout::Axis { axis: 1, pre: 1, post: 4 }));
        assert_eq!(placed(2, 1, &[6, 4]), Some(Layout::Axis { axis: 0, pre: 2, post: 3 }));
    }

    #[test]
    fn an_axis_that_does_not_divide_cannot_hold_the_samples() {
        assert_eq!(placed(4, 1, &[6, 4]), None);
        assert_eq!(placed(1, 2, &[3, 4]), None);
    }
}
