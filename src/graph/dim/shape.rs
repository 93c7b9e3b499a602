//! Arithmetic on shapes that many operators share.

use super::{Answer, Bounds, Dim};

/// The number of elements of a tensor of this shape; 1 for a scalar. `None`: it does not fit.
pub fn numel(shape: &[Dim]) -> Option<Dim> {
    shape.iter().try_fold(Dim::known(1), |product, dim| product.mul(dim))
}

/// Two sizes of one axis under multidirectional broadcasting.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Broadcast {
    /// The size of the result, in every run that does not fail.
    Dim(Dim),
    /// No run succeeds: the sizes differ, and neither is 1.
    Conflict,
    /// The result is one of the two, and it is not known which: each may be 1.
    Unknown,
}

/// The size of an axis of the result where operands of sizes `a` and `b` are broadcast (Broadcasting
/// in ONNX: the sizes are equal, or one of them is 1 and gives way).
pub fn broadcast(a: &Dim, b: &Dim, bounds: &Bounds) -> Broadcast {
    let one = Dim::known(1);
    // Most operands are of one shape, or broadcast a 1: that needs no algebra.
    if a == b || *b == one {
        return Broadcast::Dim(a.clone());
    }
    if *a == one {
        return Broadcast::Dim(b.clone());
    }
    let is_one = |dim: &Dim| dim.equals(&one, bounds);
    match (a.equals(b, bounds), is_one(a), is_one(b)) {
        (Answer::Always, ..) => Broadcast::Dim(simpler(a, b)),
        (_, Answer::Always, _) => Broadcast::Dim(b.clone()),
        (_, _, Answer::Always) => Broadcast::Dim(a.clone()),
        (Answer::Never, Answer::Never, Answer::Never) => Broadcast::Conflict,
        (_, Answer::Never, Answer::Never) => Broadcast::Dim(simpler(a, b)),
        (_, Answer::Never, _) => Broadcast::Dim(a.clone()),
        (_, _, Answer::Never) => Broadcast::Dim(b.clone()),
        _ => Broadcast::Unknown,
    }
}

/// Of two sizes that are equal in every run that succeeds, the one with fewer parts; a constant
/// before a symbol.
fn simpler(a: &Dim, b: &Dim) -> Dim {
    std::cmp::min_by_key(a, b, |dim| (dim.weight(), (*dim).clone())).clone()
}

/// How the last window of a pooling operator is counted that does not fit the input as a whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Rounding {
    /// Not at all: convolutions, and pooling with `ceil_mode = 0`.
    Down,
    /// As a window: `ceil_mode = 1`.
    Up,
    /// As a window unless it would start in the end padding: `ceil_mode = 1` in PyTorch, and in
    /// ONNX from opset 22 on.
    UpWithinInput,
}

/// A sliding window along one axis. Sizes are counted in elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Window {
    /// Elements that take part in one window.
    pub kernel: i64,
    /// From the start of one window to that of the next.
    pub stride: i64,
    /// From one element of a window to the next: 1 where they are neighbours.
    pub dilation: i64,
    /// Elements put before the input; a negative number takes some away.
    pub pad_begin: i64,
    /// Elements put behind the input; a negative number takes some away.
    pub pad_end: i64,
    /// What becomes of a last window that does not fit.
    pub rounding: Rounding,
}

impl Window {
    /// The number of windows, which is the size of the output axis:
    /// `floor((input + pads - dilation*(kernel - 1) - 1) / stride) + 1` for [`Rounding::Down`]. Below
    /// 1 where the window is larger than the padded input: such a run fails. `None`: the stride is
    /// 0, or the result does not fit.
    pub fn count(&self, input: &Dim) -> Option<Dim> {
        let extent = self.kernel.checked_sub(1)?.checked_mul(self.dilation)?.checked_add(1)?;
        let pads = self.pad_begin.checked_add(self.pad_end)?;
        let room = input.add(pads.checked_sub(extent)?)?;
        match self.rounding {
            Rounding::Down => room.floor_div(self.stride)?.add(1),
            Rounding::Up => room.ceil_div(self.stride)?.add(1),
            Rounding::UpWithinInput => {
                let starts_before_padding = input.add(self.pad_begin)?.ceil_div(self.stride)?;
                room.ceil_div(self.stride)?.add(1)?.minimum(starts_before_padding)
            }
        }
    }
}
