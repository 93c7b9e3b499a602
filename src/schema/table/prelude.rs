//! The vocabulary of the generated tables.

pub use crate::graph::AttrKind as K;
pub use crate::schema::model::Arity::{self, *};
pub use crate::schema::model::Determinism::*;
pub use crate::schema::model::Ty::{self, *};
pub use crate::schema::model::Values::{self, *};
pub use crate::schema::model::{AttrDefault as D, AttrSpec, Formal, Schema, TypeParam};

/// What most schemas have in common.
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

pub const fn formal(name: &'static str, option: Arity, ty: Ty) -> Formal {
    Formal { name, option, ty, non_negative: false }
}

pub const fn non_negative(name: &'static str, option: Arity, ty: Ty) -> Formal {
    Formal { non_negative: true, ..formal(name, option, ty) }
}

pub const fn attr(name: &'static str, kind: K, default: Option<D>, values: Values) -> AttrSpec {
    AttrSpec { name, kind, required: false, default, values }
}

pub const fn required(name: &'static str, kind: K, default: Option<D>, values: Values) -> AttrSpec {
    AttrSpec { required: true, ..attr(name, kind, default, values) }
}
