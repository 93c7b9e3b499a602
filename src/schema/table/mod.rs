//! The generated table. `../generate` writes all files here except for this one and `prelude.rs`.

mod prelude;

// Generated data is exempt from rustfmt and clippy.
#[rustfmt::skip]
mod microsoft;
#[rustfmt::skip]
mod ml;
#[rustfmt::skip]
#[allow(clippy::approx_constant, reason = "constants of the operators' own formulas")]
mod onnx;
#[rustfmt::skip]
mod preview;
#[rustfmt::skip]
mod releases;
#[rustfmt::skip]
mod training;
#[rustfmt::skip]
mod types;

use super::model::Domain;

pub use releases::RELEASES;

/// All domains, with the newest version of their opset.
pub static DOMAINS: &[Domain] = &[
    Domain { name: "", latest: onnx::LATEST, schemas: &onnx::SCHEMAS },
    Domain { name: "ai.onnx.ml", latest: ml::LATEST, schemas: &ml::SCHEMAS },
    Domain { name: "ai.onnx.preview", latest: preview::LATEST, schemas: &preview::SCHEMAS },
    Domain { name: "ai.onnx.preview.training", latest: training::LATEST, schemas: &training::SCHEMAS },
    Domain { name: "com.microsoft", latest: microsoft::LATEST, schemas: &microsoft::SCHEMAS },
];
