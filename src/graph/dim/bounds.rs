//! Intervals, and the value ranges of symbols.

use std::collections::BTreeMap;

use super::{Symbol, SymbolKind};

/// The integers from `lo` to `hi`, inclusive; `None` is unbounded.
///
/// The operations are sound, not exact: the returned interval contains every possible value, and may contain
/// others. An interval with `lo > hi` is empty: its constraints contradict each other.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Interval {
    /// Least member; `None` if unbounded below.
    pub lo: Option<i64>,
    /// Greatest member; `None` if unbounded above.
    pub hi: Option<i64>,
}

impl Interval {
    /// All integers: the default range of a tensor element.
    pub const ALL: Interval = Interval { lo: None, hi: None };
    /// All integers from 0: the default range of a size.
    pub const SIZE: Interval = Interval { lo: Some(0), hi: None };

    /// Returns the interval that contains only `n`.
    pub const fn point(n: i64) -> Self {
        Interval { lo: Some(n), hi: Some(n) }
    }

    /// Returns the interval from `lo` to `hi`, inclusive; empty if `lo > hi`.
    pub const fn new(lo: i64, hi: i64) -> Self {
        Interval { lo: Some(lo), hi: Some(hi) }
    }

    /// Returns the value if the interval has exactly one.
    pub fn as_point(&self) -> Option<i64> {
        self.lo.filter(|_| self.lo == self.hi)
    }

    /// Returns true if `n` is a member.
    pub fn contains(&self, n: i64) -> bool {
        self.lo.is_none_or(|lo| lo <= n) && self.hi.is_none_or(|hi| n <= hi)
    }

    /// Returns true if there are no members.
    pub fn is_empty(&self) -> bool {
        matches!((self.lo, self.hi), (Some(lo), Some(hi)) if lo > hi)
    }

    /// Returns the intersection, which is exact.
    pub fn intersect(&self, other: &Interval) -> Interval {
        Interval { lo: self.lo.max(other.lo), hi: [self.hi, other.hi].into_iter().flatten().min() }
    }

    /// Parses a symbol range recorded by `torch.export`: `VR[2, int_oo]`, `VR[-int_oo, 9]`.
    pub fn parse(text: &str) -> Option<Interval> {
        let (lo, hi) = text.trim().strip_prefix("VR[")?.strip_suffix(']')?.split_once(',')?;
        let lo = match lo.trim() {
            "-int_oo" | "-oo" => None,
            number => Some(number.parse().ok()?),
        };
        let hi = match hi.trim() {
            "int_oo" | "oo" => None,
            number => Some(number.parse().ok()?),
        };
        Some(Interval { lo, hi })
    }

    /// Returns the interval of a sum.
    pub(super) fn add(&self, other: &Interval) -> Interval {
        Interval::from_ends(self.low() + other.low(), self.high() + other.high())
    }

    /// Returns the interval of a product.
    pub(super) fn mul(&self, other: &Interval) -> Interval {
        let product = |a: i128, b: i128| match (a.signum() * b.signum(), a.abs().max(b.abs()) == INFINITY) {
            (sign, true) => i128::from(sign as i8) * INFINITY,
            _ => a * b,
        };
        Interval::hull([
            product(self.low(), other.low()),
            product(self.low(), other.high()),
            product(self.high(), other.low()),
            product(self.high(), other.high()),
        ])
    }

    /// Returns the range of `n^power` for members `n`.
    pub(super) fn pow(&self, power: u32) -> Interval {
        let power_of_any = (1..power).fold(*self, |product, _| product.mul(self));
        if power.is_multiple_of(2) { power_of_any.intersect(&Interval::SIZE) } else { power_of_any }
    }

    /// Returns the range of `floor(n / d)` for members `n` of `self` and nonzero members `d` of `divisor`.
    pub(super) fn floor_div(&self, divisor: &Interval) -> Interval {
        let (lo, hi) = (divisor.low(), divisor.high());
        if hi <= 0 {
            let minus = Interval::point(-1);
            return self.mul(&minus).floor_div_positive(1.max(-hi), 1.max(-lo));
        }
        if lo >= 0 {
            return self.floor_div_positive(lo.max(1), hi);
        }
        let widest = self.low().abs().max(self.high().abs());
        Interval::from_ends(-widest, widest)
    }

    fn floor_div_positive(&self, lo: i128, hi: i128) -> Interval {
        let quotient = |n: i128, d: i128| match (n.abs() >= INFINITY, d >= INFINITY) {
            (true, _) => n,
            (false, true) => n.signum().min(0),
            (false, false) => n.div_euclid(d),
        };
        let (low, high) = (self.low(), self.high());
        Interval::from_ends(
            quotient(low, if low < 0 { lo } else { hi }),
            quotient(high, if high < 0 { hi } else { lo }),
        )
    }

    /// Returns the integers `n` with `n * divisor` in the interval, for a positive divisor.
    pub(super) fn shrink(&self, divisor: i64) -> Interval {
        Interval {
            lo: self.lo.map(|lo| lo.div_euclid(divisor) + i64::from(lo.rem_euclid(divisor) != 0)),
            hi: self.hi.map(|hi| hi.div_euclid(divisor)),
        }
    }

    fn low(&self) -> i128 {
        self.lo.map_or(-INFINITY, i128::from)
    }

    fn high(&self) -> i128 {
        self.hi.map_or(INFINITY, i128::from)
    }

    fn hull(values: [i128; 4]) -> Interval {
        let start = (INFINITY, -INFINITY);
        let (lo, hi) = values.iter().fold(start, |(lo, hi), value| (lo.min(*value), hi.max(*value)));
        Interval::from_ends(lo, hi)
    }

    /// Rounds ends beyond `i64` outward, to the nearest `i64` or to unbounded.
    fn from_ends(lo: i128, hi: i128) -> Interval {
        Interval {
            lo: (lo >= i64::MIN.into()).then(|| i64::try_from(lo).unwrap_or(i64::MAX)),
            hi: (hi <= i64::MAX.into()).then(|| i64::try_from(hi).unwrap_or(i64::MIN)),
        }
    }
}

/// Represents an unbounded end: beyond `i64`, and small enough that sums do not overflow.
const INFINITY: i128 = 1 << 100;

/// Value ranges of symbols. A symbol without a recorded range has the default of its kind.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Bounds {
    ranges: BTreeMap<Symbol, Interval>,
}

impl Bounds {
    /// Returns the range of a symbol, which never exceeds the default of its kind.
    pub fn of(&self, symbol: &Symbol) -> Interval {
        let of_kind = match symbol.kind() {
            SymbolKind::Size => Interval::SIZE,
            SymbolKind::Integer => Interval::ALL,
        };
        self.ranges.get(symbol).map_or(of_kind, |range| range.intersect(&of_kind))
    }

    /// Narrows the range of a symbol to its intersection with `range`.
    /// Returns `false`, and changes nothing, if the intersection is empty.
    pub fn restrict(&mut self, symbol: &Symbol, range: Interval) -> bool {
        let range = self.of(symbol).intersect(&range);
        if !range.is_empty() {
            self.ranges.insert(symbol.clone(), range);
        }
        !range.is_empty()
    }

    /// Parses the `range_constraints` of an exported program as ranges of sizes.
    /// The format is `{s77: VR[2, int_oo], u0: VR[0, 9]}`. Malformed entries and empty ranges are ignored.
    pub fn parse(text: &str) -> Bounds {
        let mut bounds = Bounds::default();
        let entries = text.trim().trim_start_matches('{').trim_end_matches('}');
        for entry in entries.split_inclusive(']') {
            let entry = entry.trim_start_matches([',', ' ']);
            let named = entry.split_once(':');
            if let Some((name, range)) = named.and_then(|(n, r)| Some((n, Interval::parse(r)?))) {
                bounds.restrict(&Symbol::size(name.trim()), range);
            }
        }
        bounds
    }
}
