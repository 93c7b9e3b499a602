//! Shape arithmetic shared by many operators.

use super::{Answer, Bounds, Dim};

/// Returns the number of elements of a tensor; 1 for a scalar, `None` if no [`Dim`] can represent it.
pub fn numel(shape: &[Dim]) -> Option<Dim> {
    shape.iter().try_fold(Dim::known(1), |product, dim| product.mul(dim))
}

/// Result of broadcasting two sizes of one axis.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Broadcast {
    /// Size of the result in every successful run.
    Dim(Dim),
    /// Every run fails: the sizes differ, and neither is 1.
    Conflict,
    /// Either size may be 1, so the broadcast size is unknown.
    Unknown,
}

/// Broadcasts two sizes of an axis by ONNX rules: they are equal, or one of them is 1.
pub fn broadcast(a: &Dim, b: &Dim, bounds: &Bounds) -> Broadcast {
    let one = Dim::known(1);
    // Fast path: most operands have equal shapes, or broadcast a 1.
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

/// Returns the simpler of two sizes that are equal in every successful run.
/// Prefers fewer parts, and constants over symbols.
fn simpler(a: &Dim, b: &Dim) -> Dim {
    std::cmp::min_by_key(a, b, |dim| (dim.weight(), (*dim).clone())).clone()
}

/// Handling of a last pooling window that only partly fits the input.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Rounding {
    /// The window is dropped, as in convolutions and in pooling with `ceil_mode = 0`.
    Down,
    /// The window counts, as in the specification of `ceil_mode = 1` before opset 22.
    Up,
    /// The window counts unless it starts in the end padding, as with
    /// `ceil_mode = 1` in PyTorch, and in ONNX since opset 22.
    UpWithinInput,
}

/// A sliding window along one axis, in elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Window {
    /// Number of elements in a window.
    pub kernel: i64,
    /// Distance between the starts of consecutive windows.
    pub stride: i64,
    /// Distance between consecutive elements of a window; 1 if adjacent.
    pub dilation: i64,
    /// Padding before the input; negative values crop.
    pub pad_begin: i64,
    /// Padding after the input; negative values crop.
    pub pad_end: i64,
    /// Handling of a last window that only partly fits.
    pub rounding: Rounding,
}

impl Window {
    /// Returns the number of windows, which is the size of the output axis.
    /// With [`Rounding::Down`], this is `floor((input + pads - dilation*(kernel - 1) - 1) / stride) + 1`.
    /// A count below 1 means that the window is larger than the padded input, so the run fails.
    /// Returns `None` if the stride is 0 or a [`Dim`] cannot represent the count.
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
