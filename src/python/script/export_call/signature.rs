//! Signatures of the exporters, by release of PyTorch. `generate.py` writes `signatures.tsv`.

use super::super::release::Release;
/// Exporter of `torch.onnx.export` that reads a parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reader {
    Both,
    Tracing,
    Dynamo,
}

/// A parameter of an exporter.
#[derive(Clone, Copy, Debug)]
pub struct Parameter {
    function: &'static str,
    pub name: &'static str,
    /// 0-based position; `None` for a keyword-only parameter.
    pub position: Option<usize>,
    /// First release that has the parameter.
    pub first: Release,
    /// Last release that has the parameter.
    pub last: Release,
    pub reader: Reader,
}

const TABLE: &str = include_str!("signatures.tsv");

fn rows() -> impl Iterator<Item = Parameter> {
    TABLE.lines().skip(1).filter_map(|line| {
        let mut fields = line.split('\t');
        let mut next = || fields.next();
        Some(Parameter {
            function: next()?,
            name: next()?,
            position: next()?.parse().ok(),
            first: Release::parse(next()?)?,
            last: match next()? {
                "newest" => Release::NEWEST,
                release => Release::parse(release)?,
            },
            reader: match (next()?, next()?).1 {
                "dynamo" => Reader::Dynamo,
                "tracing" => Reader::Tracing,
                _ => Reader::Both,
            },
        })
    })
}

/// Returns the parameters of a function in a release, by position; empty if the function is absent.
pub fn parameters(function: &str, release: Release) -> Vec<Parameter> {
    let has = |row: &Parameter| row.function == function && row.first <= release && release <= row.last;
    let mut found: Vec<Parameter> = rows().filter(has).collect();
    found.sort_by_key(|row| row.position.unwrap_or(usize::MAX));
    found
}

/// Returns the highest opset that the tracing exporter of a release supports.
pub fn tracing_limit(release: Release) -> Option<i64> {
    let limits = rows().filter(|row| row.function == "opset" && row.name == "tracing");
    let limit = limits.into_iter().find(|row| row.first <= release && release <= row.last)?;
    i64::try_from(limit.position?).ok()
}

/// Returns the last release that has a function, or that has a parameter of the function.
///
/// Returns `None` if no release has the function or parameter.
pub fn last_release(function: &str, parameter: Option<&str>) -> Option<Release> {
    let is_meant =
        |row: &Parameter| row.function == function && parameter.is_none_or(|name| row.name == name);
    rows().filter(is_meant).map(|row| row.last).max()
}

/// Returns the first release that has a parameter of a function; `None` if there is no such release.
pub fn first_release(function: &str, parameter: &str) -> Option<Release> {
    rows().filter(|row| row.function == function && row.name == parameter).map(|row| row.first).min()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(release: Release) -> Vec<&'static str> {
        parameters("torch.onnx.export", release).iter().map(|parameter| parameter.name).collect()
    }

    #[test]
    fn parameters_depend_on_the_release() {
        assert_eq!(names(Release(2, 15))[..3], ["model", "args", "f"]);
        assert!(names(Release(2, 15)).contains(&"dynamic_shapes"));
        assert!(!names(Release(2, 15)).contains(&"example_outputs"));
        assert_eq!(names(Release(1, 8)).get(14), Some(&"example_outputs"));
        assert_eq!(last_release("torch.onnx.export", Some("fallback")), Some(Release(2, 10)));
        assert_eq!(last_release("torch.onnx.dynamo_export", None), Some(Release(2, 7)));
        assert_eq!(tracing_limit(Release(1, 13)), Some(17));
        assert_eq!(first_release("torch.onnx.export", "dynamo"), Some(Release(2, 4)));
    }
}
