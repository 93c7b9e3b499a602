//! Constants that differ by rounding only.

/// Maximum difference of two elements, relative to the larger one: 8 units in the last place.
const OF_ELEMENT: f32 = 8.0 * f32::EPSILON;
/// Maximum difference of two elements, relative to the largest element: a sum can cancel.
const OF_LARGEST: f32 = 2.0 * f32::EPSILON;
/// Number of elements to compare before the largest element is determined.
const PROBED: usize = 64;

/// Returns the largest difference of two elements, relative to the largest element of both constants.
///
/// `None` if two elements differ by more than rounding, or if a constant has infinite elements.
pub fn rounding_difference(a: &[f32], b: &[f32]) -> Option<f64> {
    let bound = |all: &[f32]| all.iter().fold(0.0_f32, |most, element| most.max(element.abs()));
    let is_near =
        |a: f32, b: f32, room: f32| a == b || (a - b).abs() <= room.max(OF_ELEMENT * a.abs().max(b.abs()));
    // Most constants differ already in the first elements, which saves reading the others.
    let is_alike = |(&a, &b): (&f32, &f32)| is_near(a, b, 1e-3 * a.abs().max(1.0));
    if a.len() != b.len() || !a.iter().zip(b).take(PROBED).all(is_alike) {
        return None;
    }
    let largest = bound(a).max(bound(b));
    if !largest.is_finite() {
        return None;
    }
    let room = OF_LARGEST * largest;
    let mut most = 0.0_f32;
    for (&a, &b) in a.iter().zip(b) {
        if !is_near(a, b, room) {
            return None;
        }
        most = most.max((a - b).abs());
    }
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
        // Cancellation leaves a small element with the rounding of a large one.
        assert!(difference(&[1e-9, 1.0], &[3e-9, 1.0]).is_some());
        assert_eq!(difference(&[1.0, -2.0], &[1.0, -2.0001]), None);
        assert_eq!(difference(&[1e-3, 1.0], &[1.001e-3, 1.0]), None);
        assert_eq!(difference(&[1.0], &[1.0, 1.0]), None);
        assert_eq!(difference(&[f32::NEG_INFINITY], &[f32::MIN]), None);
        assert_eq!(difference(&[f32::NAN], &[f32::NAN]), None);
    }
}
