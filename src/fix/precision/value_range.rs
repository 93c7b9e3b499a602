//! Magnitudes and origins of float32 values.

use super::numbers::{Extent, Narrow};

/// Magnitude of the elements of a value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Size {
    /// Assumed to fit the narrow type, as most values of neural networks do.
    Ordinary,
    /// Upper bound of the finite elements: proved, measured, or estimated.
    AtMost(f64),
    /// Possibly too large for the narrow type, even if the inputs have ordinary magnitudes.
    Wide,
}

/// Kind of values that a value is computed from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Origin {
    /// Only constants.
    Constants,
    /// Integers and constants: sizes, positions, counts.
    Integers,
    /// All other values, such as float32 inputs.
    Data,
}

/// Range facts of a float32 value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ValueRange {
    /// Magnitude of the elements of the value.
    pub size: Size,
    /// Origin of the elements of the value.
    pub origin: Origin,
    /// Smallest constant that keeps the value from zero, such as an epsilon; infinite if there is none.
    pub guard: f64,
    /// Smallest finite nonzero magnitude of a constant, or of constants that a node moves or selects.
    /// Infinite if the constants have no finite nonzero element; 0 for a value obtained in any other way.
    pub least: f64,
    /// Whether the value derives from an explicit cast from a 16-bit type to float32 in the source model.
    pub is_meant: bool,
}

impl ValueRange {
    /// Facts of ordinary data.
    pub const DATA: ValueRange = ValueRange {
        size: Size::Ordinary,
        origin: Origin::Data,
        guard: f64::INFINITY,
        least: 0.0,
        is_meant: false,
    };

    /// Returns the facts of a value without a guard.
    pub fn of(size: Size, origin: Origin) -> ValueRange {
        ValueRange { size, origin, ..ValueRange::DATA }
    }

    /// Returns the facts of a constant.
    pub fn constant(extent: Option<Extent>, narrow: Narrow) -> ValueRange {
        let Some(extent) = extent else { return ValueRange::of(Size::Ordinary, Origin::Constants) };
        let is_guard = extent.is_nonzero && extent.largest < narrow.tiny;
        let guard = if is_guard { extent.least } else { f64::INFINITY };
        let size = Size::AtMost(extent.largest);
        ValueRange { size, origin: Origin::Constants, guard, least: extent.least, is_meant: false }
    }

    /// Returns facts that hold for both values.
    pub fn join(self, other: ValueRange, narrow: Narrow) -> ValueRange {
        ValueRange {
            size: self.size.join(other.size, narrow),
            origin: self.origin.max(other.origin),
            guard: self.guard.min(other.guard),
            least: self.least.min(other.least),
            is_meant: self.is_meant || other.is_meant,
        }
    }
}

impl Size {
    /// Returns true if the magnitude is assumed or known to fit the narrow type.
    pub fn fits(self, narrow: Narrow) -> bool {
        match self {
            Size::Ordinary => true,
            Size::AtMost(most) => most <= narrow.largest,
            Size::Wide => false,
        }
    }

    /// Returns a magnitude that holds for both values.
    pub fn join(self, other: Size, narrow: Narrow) -> Size {
        match (self, other) {
            (Size::Wide, _) | (_, Size::Wide) => Size::Wide,
            (Size::AtMost(a), Size::AtMost(b)) => Size::AtMost(a.max(b)),
            (Size::Ordinary, other) | (other, Size::Ordinary) => {
                if other.fits(narrow) {
                    Size::Ordinary
                } else {
                    other
                }
            }
        }
    }
}
