//! Names and constructors for the generated tables.

pub use crate::graph::AttrKind as K;
pub use crate::schema::model::Arity::{self, *};
pub use crate::schema::model::Determinism::*;
pub use crate::schema::model::Ty::{self, *};
pub use crate::schema::model::Values::{self, *};
pub use crate::schema::model::{AttrDefault as D, AttrSpec, Formal, Schema, TypeParam};

/// Base of all schemas in the tables.
pub const BLANK: Schema = Schema {
    domain: "",
    name: "",
    since: 0,
    epoch: 0,
    deprecated: false,
    vendor: false,
    determinism: Deterministic,
    has_body: false,
    inputs: &[],
    outputs: &[],
    min_inputs: 0,
    max_inputs: 0,
    min_outputs: 0,
    max_outputs: 0,
    attrs: &[],
    type_params: &[],
};

/// Returns a formal without a restriction of its values.
pub const fn formal(name: &'static str, option: Arity, ty: Ty) -> Formal {
    Formal { name, option, ty, non_negative: false }
}

/// Returns a formal whose integers must not be negative.
pub const fn non_negative(name: &'static str, option: Arity, ty: Ty) -> Formal {
    Formal { non_negative: true, ..formal(name, option, ty) }
}

/// Returns an optional attribute.
pub const fn attr(name: &'static str, kind: K, default: Option<D>, values: Values) -> AttrSpec {
    AttrSpec { name, kind, required: false, default, values }
}

/// Returns a required attribute.
pub const fn required(name: &'static str, kind: K, default: Option<D>, values: Values) -> AttrSpec {
    AttrSpec { required: true, ..attr(name, kind, default, values) }
}
