//! Fourier transforms, window functions and mel filters.

mod dft;
mod window;

use super::Kernel::{self, One};

/// Returns the kernel of a signal operator; `None` if this module has no kernel for `op`.
pub(super) fn find(op: &str) -> Option<Kernel> {
    Some(match op {
        "DFT" => One(dft::dft),
        "STFT" => One(dft::stft),
        "HannWindow" | "HammingWindow" | "BlackmanWindow" => One(window::window),
        "MelWeightMatrix" => One(window::mel_weight_matrix),
        _ => return None,
    })
}
