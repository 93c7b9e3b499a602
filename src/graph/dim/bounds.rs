//! What is known of the values of symbols.

use std::collections::BTreeMap;

use super::{Symbol, SymbolKind};

/// The integers from `lo` to `hi`, both included; `None` is unbounded.
///
/// The operations are sound, not exact: the result contains every result of the members, and may
/// contain more. An interval with `lo > hi` is empty: no value meets all that is said of it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Interval {
    /// The least member; `None` where there is no least.
    pub lo: Option<i64>,
    /// The greatest member; `None` where there is no greatest.
    pub hi: Option<i64>,
}

impl Interval {
    /// Every integer: what is known of an element of a tensor.
    pub const ALL: Interval = Interval { lo: None, hi: None };
    /// Every integer from 0: what is known of a size.
    pub const SIZE: Interval = Interval { lo: Some(0), hi: None };

    /// `n` alone.
    pub const fn point(n: i64) -> Self {
        Interval { lo: Some(n), hi: Some(n) }
    }

    /// From `lo` to `hi`, both included; empty where `lo` is the greater.
    pub const fn new(lo: i64, hi: i64) -> Self {
        Interval { lo: Some(lo), hi: Some(hi) }
    }

    /// The value, if there is only one.
    pub fn as_point(&self) -> Option<i64> {
        self.lo.filter(|_| self.lo == self.hi)
    }

    /// Whether `n` is a member.
    pub fn contains(&self, n: i64) -> bool {
        self.lo.is_none_or(|lo| lo <= n) && self.hi.is_none_or(|hi| n <= hi)
    }

    /// Whether it has no member.
    pub fn is_empty(&self) -> bool {
        matches!((self.lo, self.hi), (Some(lo), Some(hi)) if lo > hi)
    }

    /// What is a member of both: exact, unlike the other operations.
    pub fn intersect(&self, other: &Interval) -> Interval {
        Interval { lo: self.lo.max(other.lo), hi: [self.hi, other.hi].into_iter().flatten().min() }
    }

    /// Reads what `torch.export` records of a symbol: `VR[2, int_oo]`, `VR[-int_oo, 9]`.
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

    pub(super) fn add(&self, other: &Interval) -> Interval {
        Interval::from_ends(self.low() + other.low(), self.high() + other.high())
    }

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

    /// The values of `n^power` for the members `n`.
    pub(super) fn pow(&self, power: u32) -> Interval {
        let power_of_any = (1..power).fold(*self, |product, _| product.mul(self));
        if power.is_multiple_of(2) { power_of_any.intersect(&Interval::SIZE) } else { power_of_any }
    }

    /// The values of `floor(n / d)` for members `n` of `self` and members `d` of `divisor` but 0.
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

    /// The integers `n` with `n * divisor` in the interval, for a positive divisor.
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

    /// Ends beyond `i64` are moved outwards, to the last `i64` or to unbounded.
    fn from_ends(lo: i128, hi: i128) -> Interval {
        Interval {
            lo: (lo >= i64::MIN.into()).then(|| i64::try_from(lo).unwrap_or(i64::MAX)),
            hi: (hi <= i64::MAX.into()).then(|| i64::try_from(hi).unwrap_or(i64::MIN)),
        }
    }
}

/// Stands for an unbounded end in computations: beyond `i64`, and small enough to be added.
const INFINITY: i128 = 1 << 100;

/// Ranges of symbols. A symbol without a range has that of its kind: a size is at least 0.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Bounds {
    ranges: BTreeMap<Symbol, Interval>,
}

impl Bounds {
    /// The range of a symbol. It never exceeds that of the symbol's kind, whatever was recorded.
    pub fn of(&self, symbol: &Symbol) -> Interval {
        let of_kind = match symbol.kind() {
            SymbolKind::Size => Interval::SIZE,
            SymbolKind::Integer => Interval::ALL,
        };
        self.ranges.get(symbol).map_or(of_kind, |range| range.intersect(&of_kind))
    }

    /// Adds to what is known of a symbol: its value is in `range`, too. Gives `false`, and changes
    /// nothing, where that contradicts what was known.
    pub fn restrict(&mut self, symbol: &Symbol, range: Interval) -> bool {
        let range = self.of(symbol).intersect(&range);
        if !range.is_empty() {
            self.ranges.insert(symbol.clone(), range);
        }
        !range.is_empty()
    }

    /// Reads the `range_constraints` of an exported program,
    /// `{s77: VR[2, int_oo], u0: VR[0, 9]}`, as ranges of sizes. Entries that do not read so, and
    /// empty ranges, say nothing.
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
