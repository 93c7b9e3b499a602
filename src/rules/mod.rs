//! Rules: data files that define findings and equivalences, and their parser, checks and matcher.

#[doc(hidden)]
pub mod arith;
mod attr;
#[doc(hidden)]
pub mod bindings;
mod built_in;
#[doc(hidden)]
pub mod builtin;
#[doc(hidden)]
pub mod check;
mod compare;
#[doc(hidden)]
pub mod datum;
#[doc(hidden)]
pub mod draft;
mod entry;
#[doc(hidden)]
pub mod eval;
#[doc(hidden)]
pub mod explain;
#[doc(hidden)]
pub mod expr;
#[doc(hidden)]
pub mod func;
#[doc(hidden)]
pub mod host;
mod index;
#[doc(hidden)]
pub mod matcher;
#[doc(hidden)]
pub mod message;
mod needs;
#[doc(hidden)]
pub mod outline;
#[doc(hidden)]
pub mod plain;
#[doc(hidden)]
pub mod plan;
mod producers;
pub mod registry;
#[doc(hidden)]
pub mod rule;
#[doc(hidden)]
pub mod syntax;
mod var;
