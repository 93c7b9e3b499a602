//! Finding schemas.

use std::sync::LazyLock;

use rustc_hash::FxHashMap;

use crate::graph::normal_domain;

use super::aten;
use super::model::Schema;
use super::table::DOMAINS;

/// All that is known of one domain.
#[derive(Debug)]
pub struct Domain {
    /// `""` for ai.onnx.
    pub name: &'static str,
    /// The newest opset version that the table knows.
    pub latest: u16,
    /// Sorted by name, then by version.
    pub(super) schemas: &'static [Schema],
}

/// What is known of a domain; `ai.onnx` is another name of `""`.
pub fn domain(name: &str) -> Option<&'static Domain> {
    let name = normal_domain(Some(name));
    DOMAINS.iter().find(|domain| domain.name == name)
}

/// The newest opset version of a domain; `None` for a domain that the table does not know.
pub fn latest(name: &str) -> Option<u16> {
    domain(name).map(|domain| domain.latest)
}

/// Every version of every operator of a domain, by name, then by version.
pub fn schemas(name: &str) -> &'static [Schema] {
    domain(name).map_or(&[], |domain| domain.schemas)
}

/// The names of the operators of a domain, sorted.
pub fn ops(name: &str) -> impl Iterator<Item = &'static str> {
    schemas(name).chunk_by(|a, b| a.name == b.name).map(|versions| versions[0].name)
}

/// The versions of an operator, oldest first; empty for one that the table does not know.
pub fn versions(domain: &str, name: &str) -> &'static [Schema] {
    if domain == aten::DOMAIN {
        return aten::versions(name);
    }
    let of_domain = VERSIONS.get(normal_domain(Some(domain)));
    of_domain.and_then(|ops| ops.get(name)).copied().unwrap_or_default()
}

/// By domain, then by name: asked for every node over and over.
static VERSIONS: LazyLock<FxHashMap<&str, FxHashMap<&str, &[Schema]>>> = LazyLock::new(|| {
    let of_domain = |domain: &'static Domain| {
        let ops = domain.schemas.chunk_by(|a, b| a.name == b.name);
        (domain.name, ops.map(|versions| (versions[0].name, versions)).collect())
    };
    DOMAINS.iter().map(of_domain).collect()
});

/// The version of an operator that is in force at an opset: the newest that is not newer.
///
/// It may be deprecated there; see [`Schema::deprecated`].
pub fn lookup(domain: &str, name: &str, opset: u16) -> Option<&'static Schema> {
    let versions = versions(domain, name);
    let newer = versions.partition_point(|schema| schema.since <= opset);
    newer.checked_sub(1).map(|at| &versions[at])
}

/// The version that a name without one means in a graph of this opset: the one in force there, or, where the operator
/// does not exist at it, its first.
pub fn meant_plainly(domain: &str, name: &str, opset: Option<i64>) -> Option<&'static Schema> {
    let opset = opset.and_then(|opset| u16::try_from(opset).ok());
    let in_force = opset.and_then(|opset| lookup(domain, name, opset));
    in_force.or_else(|| versions(domain, name).first())
}

/// The epochs of an operator, oldest first, each by its first version.
pub fn epochs(domain: &str, name: &str) -> impl Iterator<Item = u16> {
    versions(domain, name).chunk_by(|a, b| a.epoch == b.epoch).map(|versions| versions[0].epoch)
}

/// The version of an epoch that is in force at an opset.
///
/// `None` where another epoch is in force, or the operator is deprecated or does not exist.
pub fn schema_of_epoch(domain: &str, name: &str, epoch: u16, opset: u16) -> Option<&'static Schema> {
    lookup(domain, name, opset).filter(|schema| schema.epoch == epoch && !schema.deprecated)
}

/// The version of an epoch in which a call with these attributes is understood: `schema`, or, where an attribute is newer,
/// the first that has them all. What the versions of an epoch share means the same in each.
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

/// The domains that have an operator of this name.
pub fn domains_of(name: &str) -> impl Iterator<Item = &'static str> {
    let has = move |domain: &&Domain| !versions(domain.name, name).is_empty();
    DOMAINS.iter().filter(has).map(|domain| domain.name)
}

/// The operator of a domain whose name is closest to this one, for "did you mean …?".
///
/// Case does not count; a name with more than a third of its letters wrong is not offered.
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
    fn the_version_in_force() {
        let since = |domain, name, opset| lookup(domain, name, opset).map(|schema| schema.since);
        assert_eq!(since("", "Softmax", 12), Some(11));
        assert_eq!(since("ai.onnx", "Softmax", 13), Some(13));
        assert_eq!(since("", "Gelu", 19), None);
        assert_eq!(since("", "NoSuchOp", 19), None);
        assert_eq!(since("com.example", "Softmax", 13), None);
        assert_eq!(since("ai.onnx.ml", "LabelEncoder", 3), Some(2));
    }

    #[test]
    fn the_epoch_in_force() {
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
    fn epochs_end_where_the_form_or_the_meaning_changes() {
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
    fn the_table_is_sorted_and_epochs_are_runs() {
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
    fn misspelt_names_find_their_operator() {
        assert_eq!(nearest("", "softmax"), Some("Softmax"));
        assert_eq!(nearest("", "LayerNormalisation"), Some("LayerNormalization"));
        assert_eq!(nearest("", "MyCustomKernel"), None);
        assert_eq!(domains_of("Attention").collect::<Vec<_>>(), ["", "com.microsoft"]);
    }
}
