//! Lookup of schemas.

use std::sync::LazyLock;

use rustc_hash::FxHashMap;

use crate::graph::normal_domain;

use super::aten;
use super::model::{Domain, Schema};
use super::table::DOMAINS;

/// Operator that ONNX Runtime adds to ai.onnx, and that the ONNX specification lacks.
pub const ADDED_BY_ONNX_RUNTIME: &str = "SimplifiedLayerNormalization";

/// Returns a domain; `ai.onnx` is an alias of `""`.
pub fn domain(name: &str) -> Option<&'static Domain> {
    let name = normal_domain(Some(name));
    DOMAINS.iter().find(|domain| domain.name == name)
}

/// Returns the newest opset version of a domain; `None` for an unknown domain.
pub fn latest(name: &str) -> Option<u16> {
    domain(name).map(|domain| domain.latest)
}

/// Returns the names of the domains in the generated table; `""` is ai.onnx.
pub fn domains() -> impl Iterator<Item = &'static str> {
    DOMAINS.iter().map(|domain| domain.name)
}

/// Returns all versions of all operators of a domain, sorted by name, then by version.
pub fn schemas(name: &str) -> &'static [Schema] {
    domain(name).map_or(&[], |domain| domain.schemas)
}

/// Returns the names of the operators of a domain, sorted.
pub fn ops(name: &str) -> impl Iterator<Item = &'static str> {
    schemas(name).chunk_by(|a, b| a.name == b.name).map(|versions| versions[0].name)
}

/// Returns the versions of an operator, oldest first; empty for an unknown operator.
pub fn versions(domain: &str, name: &str) -> &'static [Schema] {
    if domain == aten::DOMAIN {
        return aten::versions(name);
    }
    let of_domain = VERSIONS.get(normal_domain(Some(domain)));
    of_domain.and_then(|ops| ops.get(name)).copied().unwrap_or_default()
}

/// Index of the versions by domain and name, so that the lookup of each node is fast.
static VERSIONS: LazyLock<FxHashMap<&str, FxHashMap<&str, &[Schema]>>> = LazyLock::new(|| {
    let of_domain = |domain: &'static Domain| {
        let ops = domain.schemas.chunk_by(|a, b| a.name == b.name);
        (domain.name, ops.map(|versions| (versions[0].name, versions)).collect())
    };
    DOMAINS.iter().map(of_domain).collect()
});

/// Returns the version of an operator at an opset: the newest one that is not newer than the opset.
///
/// The version may be deprecated; see [`Schema::deprecated`].
pub fn lookup(domain: &str, name: &str, opset: u16) -> Option<&'static Schema> {
    let versions = versions(domain, name);
    let newer = versions.partition_point(|schema| schema.since <= opset);
    newer.checked_sub(1).map(|at| &versions[at])
}

/// Returns the version that an operator name without `@version` refers to at an opset.
///
/// Returns the version in force at the opset. Without an opset, or if the operator was added later, returns
/// the first version.
pub fn meant_plainly(domain: &str, name: &str, opset: Option<i64>) -> Option<&'static Schema> {
    let opset = opset.and_then(|opset| u16::try_from(opset).ok());
    let in_force = opset.and_then(|opset| lookup(domain, name, opset));
    in_force.or_else(|| versions(domain, name).first())
}

/// Returns the first version of an operator, and the versions that changed its semantics, oldest first.
/// Each of these versions begins an epoch (see [`super`]).
pub fn epochs(domain: &str, name: &str) -> impl Iterator<Item = u16> {
    versions(domain, name).chunk_by(|a, b| a.epoch == b.epoch).map(|versions| versions[0].epoch)
}

/// Returns an operator's version at an opset, if it has this [`Schema::epoch`] and is not deprecated.
pub fn schema_of_epoch(domain: &str, name: &str, epoch: u16, opset: u16) -> Option<&'static Schema> {
    lookup(domain, name, opset).filter(|schema| schema.epoch == epoch && !schema.deprecated)
}

/// Returns the last opset with the semantics of `schema`, or `None` if no later version changes them.
pub fn last_opset(schema: &Schema) -> Option<u16> {
    let versions = versions(schema.domain, schema.name);
    let next = versions.iter().find(|later| later.since > schema.since && later.epoch != schema.epoch);
    next.map(|next| next.since - 1)
}

/// Returns the first version since `schema` that has equal semantics and all attributes in `names`.
///
/// Returns `schema` if there is no such version. Versions with the same [`Schema::epoch`] have equal
/// semantics.
pub fn with_attributes<'a>(
    schema: &'static Schema,
    names: impl Iterator<Item = &'a str> + Clone,
) -> &'static Schema {
    let has_all = |schema: &&Schema| names.clone().all(|name| schema.attr(name).is_some());
    if has_all(&schema) {
        return schema;
    }
    let is_later = |later: &&Schema| later.epoch == schema.epoch && later.since > schema.since;
    let mut later = versions(schema.domain, schema.name).iter().filter(is_later);
    later.find(has_all).unwrap_or(schema)
}

/// Returns the domains in the generated table that have an operator of this name.
pub fn domains_of(name: &str) -> impl Iterator<Item = &'static str> {
    let has = move |domain: &&Domain| !versions(domain.name, name).is_empty();
    DOMAINS.iter().filter(has).map(|domain| domain.name)
}

/// Returns the operator of a domain with the most similar name, for "did you mean …?".
///
/// Case is ignored. At most a third of the letters may differ.
pub fn nearest(domain: &str, name: &str) -> Option<&'static str> {
    let wanted = name.to_lowercase();
    let distance = |op: &&str| strsim::damerau_levenshtein(&op.to_lowercase(), &wanted);
    let closest = ops(domain).min_by_key(distance)?;
    (distance(&closest) * 3 <= wanted.chars().count()).then_some(closest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lookup_returns_the_newest_version_at_the_opset() {
        let since = |domain, name, opset| lookup(domain, name, opset).map(|schema| schema.since);
        assert_eq!(since("", "Softmax", 12), Some(11));
        assert_eq!(since("ai.onnx", "Softmax", 13), Some(13));
        assert_eq!(since("", "Gelu", 19), None);
        assert_eq!(since("", "NoSuchOp", 19), None);
        assert_eq!(since("com.example", "Softmax", 13), None);
        assert_eq!(since("ai.onnx.ml", "LabelEncoder", 3), Some(2));
    }

    #[test]
    fn epoch_is_found_only_while_in_force() {
        let check = |name, epoch, opset, since| {
            let found = schema_of_epoch("", name, epoch, opset).map(|schema| schema.since);
            assert_eq!(found, since, "{name}@{epoch} at {opset}");
        };
        check("Softmax", 1, 12, Some(11));
        check("Softmax", 1, 13, None);
        check("Softmax", 13, 28, Some(13));
        check("Upsample", 9, 10, None);
        check("GroupNormalization", 18, 18, None);
    }

    #[test]
    fn epochs_end_where_signature_or_semantics_change() {
        let check = |name, expected: &[u16]| {
            assert_eq!(epochs("", name).collect::<Vec<_>>(), expected, "{name}");
        };
        check("Softmax", &[1, 13]);
        check("Squeeze", &[1, 13]);
        check("ReduceMean", &[1, 18]);
        check("Clip", &[1, 6, 11]);
        check("Resize", &[10, 11, 13]);
        check("Cast", &[1, 6]);
        check("Conv", &[1]);
        check("Erf", &[9]);
        check("NoSuchOp", &[]);
    }

    #[test]
    fn table_is_sorted_and_epochs_are_contiguous() {
        for domain in DOMAINS {
            let key = |schema: &Schema| (schema.name, schema.since);
            assert!(domain.schemas.is_sorted_by(|a, b| key(a) < key(b)), "{}", domain.name);
            for op in ops(domain.name) {
                let versions = versions(domain.name, op);
                assert!(versions.iter().all(|schema| schema.domain == domain.name), "{op}");
                assert!(versions.iter().all(|schema| schema.since <= domain.latest), "{op}");
                assert_eq!(versions[0].epoch, versions[0].since, "{op}");
                for pair in versions.windows(2) {
                    let begins = pair[1].epoch == pair[1].since;
                    assert!(begins || pair[1].epoch == pair[0].epoch, "{op}@{}", pair[1].since);
                }
            }
        }
    }

    #[test]
    fn formals_and_attributes_are_well_formed() {
        for schema in DOMAINS.iter().flat_map(|domain| domain.schemas) {
            let at = format!("{}@{}", schema.name, schema.since);
            assert!(schema.attrs.is_sorted_by(|a, b| a.name < b.name), "{at}");
            assert!(schema.min_inputs <= schema.max_inputs, "{at}");
            assert!(schema.min_outputs <= schema.max_outputs, "{at}");
            for formal in schema.inputs.iter().chain(schema.outputs) {
                assert_ne!(schema.allowed(formal).to_string(), "", "{at} {}", formal.name);
            }
        }
    }

    #[test]
    fn misspelled_names_find_their_operator() {
        assert_eq!(nearest("", "softmax"), Some("Softmax"));
        assert_eq!(nearest("", "LayerNormalisation"), Some("LayerNormalization"));
        assert_eq!(nearest("", "MyCustomKernel"), None);
        assert_eq!(domains_of("Attention").collect::<Vec<_>>(), ["", "com.microsoft"]);
    }
}
