//! Constants that differ by rounding only.

/// Maximum difference of two elements, relative to the larger one.
const OF_ELEMENT: f32 = 8.0 * f32::EPSILON;

/// Returns the largest difference of two elements, relative to the largest element of both constants.
///
/// `None` if two elements differ by more than rounding or by their sign, if a constant has infinite elements,
/// or if the lengths differ.
pub fn rounding_difference(a: &[f32], b: &[f32]) -> Option<f64> {
    let bound = |all: &[f32]| all.iter().fold(0.0_f32, |most, element| most.max(element.abs()));
    let is_near = |(&a, &b): (&f32, &f32)| {
        a.to_bits() == b.to_bits() || a != b && (a - b).abs() <= OF_ELEMENT * a.abs().max(b.abs())
    };
    if a.len() != b.len() || !a.iter().zip(b).all(is_near) {
        return None;
    }
    let largest = bound(a).max(bound(b));
    if !largest.is_finite() {
        return None;
    }
    let most = a.iter().zip(b).fold(0.0_f32, |most, (a, b)| most.max((a - b).abs()));
    Some(if most == 0.0 { 0.0 } else { f64::from(most) / f64::from(largest) })
}

#[cfg(test)]
mod tests {
    use super::rounding_difference;

    #[test]
    fn rounded_elements_are_near_and_others_are_not() {
        let difference = rounding_difference;
        assert_eq!(difference(&[1.0, -2.0], &[1.0, -2.0]), Some(0.0));
        assert!(difference(&[1.0, -2.0], &[1.000_000_1, -2.000_000_2]).is_some_and(|most| most < 2e-7));
        // Near a large element, a small one must be near too: it can be the only factor of a result.
        for (a, b) in [(1e-9, 3e-9), (0.0, 1e-9), (1e-45, 0.0), (1e-9, -1e-9), (0.0, -0.0)] {
            assert_eq!(difference(&[a, 1.0], &[b, 1.0]), None);
        }
        assert_eq!(difference(&[1.0, -2.0], &[1.0, -2.0001]), None);
        assert_eq!(difference(&[1e-3, 1.0], &[1.001e-3, 1.0]), None);
        assert_eq!(difference(&[1.0], &[1.0, 1.0]), None);
        assert_eq!(difference(&[f32::NEG_INFINITY], &[f32::MIN]), None);
        assert_eq!(difference(&[f32::NEG_INFINITY], &[f32::NEG_INFINITY]), None);
    }
}
