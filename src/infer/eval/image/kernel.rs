//! Interpolation kernels along one axis.

/// An element offset relative to the floor of the coordinate, and its weight.
pub(super) type Weighted = (i64, f64);

/// Interpolation kernels: functions of the distance to an element.
#[derive(Clone, Copy)]
pub(super) enum Interpolation {
    Linear,
    /// Keys' cubic kernel with this coefficient, such as −0.75.
    Cubic(f64),
}

impl Interpolation {
    /// Returns the radius beyond which weights are zero.
    fn reach(self) -> f64 {
        match self {
            Interpolation::Linear => 1.0,
            Interpolation::Cubic(_) => 2.0,
        }
    }

    fn at(self, distance: f64) -> f64 {
        let d = distance.abs();
        match self {
            Interpolation::Linear => (1.0 - d).max(0.0),
            Interpolation::Cubic(a) if d <= 1.0 => ((a + 2.0) * d - (a + 3.0)) * d * d + 1.0,
            Interpolation::Cubic(a) if d < 2.0 => ((a * d - 5.0 * a) * d + 8.0 * a) * d - 4.0 * a,
            Interpolation::Cubic(_) => 0.0,
        }
    }

    /// Returns the weights around a coordinate with fractional part `part`, scaled to sum to 1.
    /// A `stretch` below 1 widens the kernel, so that downsampling reads every element (antialiasing).
    pub(super) fn weights(self, part: f64, stretch: f64) -> Vec<Weighted> {
        let first = (-self.reach() / stretch).floor() as i64 + 1;
        let weights = (first..=1 - first).map(|i| (i, self.at((i as f64 - part) * stretch)));
        normalized(weights.collect())
    }
}

/// Scales weights to sum to 1.
pub(super) fn normalized(weights: Vec<Weighted>) -> Vec<Weighted> {
    let total: f64 = weights.iter().map(|(_, weight)| weight).sum();
    weights.into_iter().map(|(i, weight)| (i, weight / total)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn interpolation_weights_at_one_quarter() {
        assert_eq!(Interpolation::Linear.weights(0.25, 1.0), [(0, 0.75), (1, 0.25)]);
        let cubic = Interpolation::Cubic(-0.75).weights(0.25, 1.0);
        let expected = [(-1, -0.10546875), (0, 0.87890625), (1, 0.26171875), (2, -0.03515625)];
        assert_eq!(cubic, expected);
    }
}
