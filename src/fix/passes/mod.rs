//! Passes of the pipeline, one per file; [`super::pipeline`] lists them in order.

pub mod batched_scan;
pub mod branch_folding;
pub mod constant_folding;
pub mod constants_to_initializers;
pub mod dead_code;
pub mod declare_facts;
pub mod declare_initializers;
pub mod dedup_initializers;
pub mod default_attributes;
pub mod drop_imports;
pub mod duplicate_names;
pub mod dynamic;
pub mod import_domains;
pub mod import_opset;
pub mod infer_shapes;
pub mod inline_functions;
pub mod input_shapes;
pub mod interface;
pub mod lift_constants;
pub mod looped_reduction;
pub mod node_names;
pub mod precision;
pub mod relabel_opset;
pub mod renew_types;
pub mod repair;
pub mod rewrite;
pub mod sort_nodes;
#[cfg(test)]
pub mod testing;
pub mod unify_functions;
pub mod unused_functions;
pub mod unused_initializers;
pub mod value_info;
pub mod withdraw_facts;
pub mod withdraw_weights;
