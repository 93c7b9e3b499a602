//! Conversion between `f64` and floating-point formats of up to 16 bits.

use crate::graph::element::ElemType;

/// Bit layout of a format: sign, exponent, mantissa. Only `float8e8m0` has no sign.
#[derive(Clone, Copy, Debug)]
pub(super) struct Format {
    exponent_bits: u32,
    mantissa_bits: u32,
    bias: i32,
    /// Code of the largest finite magnitude.
    max: u32,
    /// Code of an overflow: infinity; without infinity, NaN; with neither, the largest magnitude.
    overflow: u32,
    /// Code of NaN; formats without one convert NaN to negative zero, as `ml_dtypes` does.
    nan: u32,
    /// Whether there is a negative zero; in `fnuz` formats its code is NaN.
    negative_zero: bool,
}

impl Format {
    /// IEEE half precision: 5 exponent bits and 10 mantissa bits.
    pub(super) const F16: Format = Format::new(5, 10, 15, 0x7BFF, 0x7C00, 0x7E00);
    /// `bfloat16`: 8 exponent bits, like `float`, and 7 mantissa bits.
    pub(super) const BF16: Format = Format::new(8, 7, 127, 0x7F7F, 0x7F80, 0x7FC0);

    const fn new(
        exponent_bits: u32,
        mantissa_bits: u32,
        bias: i32,
        max: u32,
        overflow: u32,
        nan: u32,
    ) -> Format {
        Format { exponent_bits, mantissa_bits, bias, max, overflow, nan, negative_zero: true }
    }

    /// Returns the format of a float element type stored as codes; `None` for other types.
    pub(super) fn of(elem: ElemType) -> Option<Format> {
        let fnuz = |format| Format { negative_zero: false, ..format };
        Some(match elem {
            ElemType::Float8e4m3fn => Format::new(4, 3, 7, 0x7E, 0x7F, 0x7F),
            ElemType::Float8e4m3fnuz => fnuz(Format::new(4, 3, 8, 0x7F, 0x80, 0x80)),
            ElemType::Float8e5m2 => Format::new(5, 2, 15, 0x7B, 0x7C, 0x7E),
            ElemType::Float8e5m2fnuz => fnuz(Format::new(5, 2, 16, 0x7F, 0x80, 0x80)),
            ElemType::Float8e8m0 => Format::new(8, 0, 127, 0xFE, 0xFF, 0xFF),
            ElemType::Float4e2m1 => Format::new(2, 1, 1, 0x7, 0x7, 0x8),
            ElemType::Float6e2m3 => Format::new(2, 3, 1, 0x1F, 0x1F, 0x20),
            ElemType::Float6e3m2 => Format::new(3, 2, 3, 0x1F, 0x1F, 0x20),
            _ => return None,
        })
    }

    fn is_scale(self) -> bool {
        self.mantissa_bits == 0
    }

    fn sign_bit(self) -> u32 {
        1 << (self.exponent_bits + self.mantissa_bits)
    }

    /// Returns the exact value of a code.
    pub(super) fn decode(self, code: u32) -> f64 {
        if self.is_scale() {
            return if code == self.nan { f64::NAN } else { power_of_two(code as i32 - self.bias) };
        }
        let magnitude = code & (self.sign_bit() - 1);
        let sign = if code & self.sign_bit() == 0 { 1.0 } else { -1.0 };
        let infinite = magnitude == self.overflow && ![self.max, self.nan].contains(&self.overflow);
        if infinite {
            return sign * f64::INFINITY;
        }
        if magnitude > self.max || !self.negative_zero && code == self.nan {
            return f64::NAN;
        }
        let field = (magnitude >> self.mantissa_bits) as i32;
        let fraction = f64::from(magnitude & ((1 << self.mantissa_bits) - 1));
        let hidden = if field == 0 { 0.0 } else { f64::from(1u32 << self.mantissa_bits) };
        let exponent = field.max(1) - self.bias - self.mantissa_bits as i32;
        sign * (hidden + fraction) * power_of_two(exponent)
    }

    /// Returns the code nearest to `x`, ties to even.
    ///
    /// With `saturate`, overflow, including infinity, becomes the largest finite value. Without `saturate`,
    /// overflow becomes infinity; in formats without infinity, NaN; in formats with neither, the largest
    /// value.
    ///
    /// `float8e8m0` encodes only the magnitude and rounds ties up.
    pub(super) fn encode(self, x: f64, saturate: bool) -> u32 {
        if self.is_scale() {
            return self.encode_scale(x, ScaleRounding::Nearest, saturate);
        }
        let sign = if x.is_sign_negative() { self.sign_bit() } else { 0 };
        if x.is_nan() {
            return if self.nan < self.sign_bit() { sign | self.nan } else { self.nan };
        }
        let least = 1 - self.bias;
        let exponent = floor_log2(x.abs()).clamp(least, 2 * self.bias + 2);
        let quantum = power_of_two(exponent - self.mantissa_bits as i32);
        let steps = (x.abs() / quantum).round_ties_even().min(f64::from(u32::MAX >> 2)) as u32;
        let magnitude = steps + (((exponent - least) as u32) << self.mantissa_bits);
        if magnitude > self.max || x.is_infinite() {
            return self.too_large(sign, saturate);
        }
        if magnitude == 0 && !self.negative_zero { 0 } else { sign | magnitude }
    }

    fn too_large(self, sign: u32, saturate: bool) -> u32 {
        match saturate {
            true => sign | self.max,
            false if self.overflow == self.sign_bit() => self.overflow,
            false => sign | self.overflow,
        }
    }

    /// Returns the `float8e8m0` code of a magnitude, as specified by `Cast` and `QuantizeLinear`.
    pub(super) fn encode_scale(self, x: f64, rounding: ScaleRounding, saturate: bool) -> u32 {
        if x.is_nan() || x.is_infinite() && !saturate {
            return self.nan;
        }
        if x.is_infinite() {
            return self.max;
        }
        let floor = if x == 0.0 { -10_000 } else { floor_log2(x.abs()) };
        let exact = x.abs() == power_of_two(floor);
        let up = match rounding {
            ScaleRounding::Up => !exact && x != 0.0,
            ScaleRounding::Down => false,
            ScaleRounding::Nearest => x.abs() >= 1.5 * power_of_two(floor) && x != 0.0,
        };
        let code = floor + i32::from(up) + self.bias;
        match u32::try_from(code) {
            Ok(code) if code <= self.max => code,
            _ if !saturate => self.nan,
            Ok(_) => self.max,
            Err(_) => 0,
        }
    }
}

/// Rounding between two powers of two (`round_mode` of `Cast`).
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum ScaleRounding {
    Up,
    Down,
    /// To the nearer power of two; ties round up.
    Nearest,
}

fn power_of_two(exponent: i32) -> f64 {
    f64::from(exponent).exp2()
}

/// Returns ⌊log₂ x⌋ of a positive number, from its bits.
/// For zero and subnormal `f64`s, the result is below the exponents of all small formats.
fn floor_log2(x: f64) -> i32 {
    ((x.to_bits() >> 52) & 0x7FF) as i32 - 1023
}

#[cfg(test)]
mod tests {
    use super::*;

    const SMALL: [ElemType; 8] = [
        ElemType::Float8e4m3fn,
        ElemType::Float8e4m3fnuz,
        ElemType::Float8e5m2,
        ElemType::Float8e5m2fnuz,
        ElemType::Float8e8m0,
        ElemType::Float4e2m1,
        ElemType::Float6e2m3,
        ElemType::Float6e3m2,
    ];

    #[test]
    fn every_code_round_trips() {
        for elem in SMALL {
            let format = Format::of(elem).expect("a small format");
            for code in 0..1u32 << elem.bits().expect("not a string") {
                let value = format.decode(code);
                let back = format.encode(value, false);
                assert!(back == code || value.is_nan() && format.decode(back).is_nan(), "{elem} {code:#x}");
            }
        }
    }

    #[test]
    fn float16_codes_match_the_half_crate() {
        for bits in 0..=u16::MAX {
            let (f16, bf16) = (half::f16::from_bits(bits), half::bf16::from_bits(bits));
            assert!(Format::F16.decode(bits.into()) == f16.to_f64() || f16.is_nan());
            assert!(Format::BF16.decode(bits.into()) == bf16.to_f64() || bf16.is_nan());
            assert!(Format::F16.encode(f16.to_f64(), false) == u32::from(bits) || f16.is_nan());
            assert!(Format::BF16.encode(bf16.to_f64(), false) == u32::from(bits) || bf16.is_nan());
        }
    }

    #[track_caller]
    fn check(elem: ElemType, x: f64, saturate: bool, expected: f64) {
        let format = Format::of(elem).expect("a small format");
        let got = format.decode(format.encode(x, saturate));
        assert!(got == expected || got.is_nan() && expected.is_nan(), "{elem} {x}: {got}, not {expected}");
    }

    #[test]
    fn encode_rounds_ties_to_even_and_saturates() {
        use ElemType::*;
        check(Float8e4m3fn, 464.0, false, 448.0);
        check(Float8e4m3fn, 465.0, false, f64::NAN);
        check(Float8e4m3fn, 465.0, true, 448.0);
        check(Float8e5m2, f64::INFINITY, false, f64::INFINITY);
        check(Float8e5m2, f64::NEG_INFINITY, true, -57344.0);
        check(Float8e5m2fnuz, -1e9, false, f64::NAN);
        check(Float4e2m1, 2.5, false, 2.0);
        check(Float4e2m1, -100.0, false, -6.0);
        check(Float6e2m3, 0.0625, false, 0.0);
        check(Float6e3m2, 28.0, false, 28.0);
        check(Float8e8m0, 3.0, false, 4.0);
        check(Float8e8m0, 0.0, true, 2f64.powi(-127));
    }
}
