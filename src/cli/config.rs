//! Configuration files: `onnx-lint.toml`, `.onnx-lint.toml`, or `[tool.onnx-lint]` in `pyproject.toml`.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use rustc_hash::FxHashMap;
use serde::Deserialize;
use toml::Spanned;

use crate::cli::Failure;
use crate::diag::{Level, Place, TextPlace};
use crate::graph::syntax::{Source, Span};

/// File names in the order in which they are searched in every folder.
///
/// The search goes from the folder of the input upward.
const FILE_NAMES: [&str; 3] = ["onnx-lint.toml", ".onnx-lint.toml", "pyproject.toml"];

/// A configuration file.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", default)]
pub struct Config {
    /// The folder of the file; paths in the file are relative to it.
    #[serde(skip)]
    pub folder: PathBuf,
    /// The path of the file; empty for the default configuration.
    #[serde(skip)]
    pub file: PathBuf,
    /// For each entry of `suppress`, the location of its list `rules` in the file.
    #[serde(skip)]
    pub places: Vec<TextPlace>,
    pub select: Option<Vec<String>>,
    pub ignore: Vec<String>,
    pub extend_select: Vec<String>,
    /// Whether preview rules are applied.
    pub preview: bool,
    #[serde(deserialize_with = "optional_level")]
    pub severity: Option<Level>,
    /// Severities by code, prefix or rule name; `None` turns a rule off.
    #[serde(deserialize_with = "levels")]
    pub rule_severity: BTreeMap<String, Option<Level>>,
    /// Suppressions of findings.
    pub suppress: Vec<Suppress>,
    /// For each glob, the rules to ignore in the files that it matches.
    /// Paths are relative to the folder of the configuration.
    pub per_file_ignores: BTreeMap<String, Vec<String>>,
    /// Globs of files and folders that a search skips.
    /// A file named on the command line is linted anyway, unless `--force-exclude` is given.
    pub exclude: Vec<String>,
    pub opset: Option<i64>,
    /// Targets, written as in `--target`.
    pub target: Vec<String>,
    pub targets: Vec<PathBuf>,
    pub rules: Vec<PathBuf>,
    pub source_root: Vec<PathBuf>,
    pub path_map: BTreeMap<String, String>,
    pub max_warnings: Option<usize>,
    pub baseline: Option<PathBuf>,
    /// The address of the documentation site.
    pub docs_url: Option<String>,
}

/// A suppression of findings; its globs limit it to nodes, modules or files.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Suppress {
    /// Codes, prefixes or names of rules.
    pub rules: Spanned<Vec<String>>,
    /// A glob over node names; an unnamed node has the name of its first output, or else its operator.
    pub node: Option<String>,
    /// A glob over module paths, such as `/encoder/**`.
    pub module: Option<String>,
    /// A glob over files, relative to the folder of the configuration.
    pub file: Option<String>,
    /// The reason for the suppression, for readers only.
    #[serde(default)]
    pub reason: String,
}

/// The part of `pyproject.toml` that the tools read.
#[derive(Deserialize)]
struct PyProject {
    #[serde(default)]
    tool: Tool,
}

#[derive(Default, Deserialize)]
struct Tool {
    #[serde(rename = "onnx-lint")]
    onnx_lint: Option<Config>,
}

fn level<E: serde::de::Error>(text: &str) -> Result<Level, E> {
    text.parse().map_err(E::custom)
}

fn optional_level<'de, D: serde::Deserializer<'de>>(from: D) -> Result<Option<Level>, D::Error> {
    level(&String::deserialize(from)?).map(Some)
}

fn levels<'de, D: serde::Deserializer<'de>>(from: D) -> Result<BTreeMap<String, Option<Level>>, D::Error> {
    let levels = BTreeMap::<String, String>::deserialize(from)?;
    let level = |name: &str| if name == "off" { Ok(None) } else { level(name).map(Some) };
    levels.into_iter().map(|(rule, name)| Ok((rule, level(&name)?))).collect()
}

impl Config {
    /// Reads the file at `path`.
    ///
    /// Returns `None` for a `pyproject.toml` without the table `[tool.onnx-lint]`.
    pub fn read(path: &Path) -> Result<Option<Config>, Failure> {
        let text = std::fs::read_to_string(path).map_err(|error| Failure::unreadable(path, &error))?;
        let is_pyproject = path.file_name().is_some_and(|name| name == "pyproject.toml");
        let config = if is_pyproject {
            toml::from_str::<PyProject>(&text).map(|project| project.tool.onnx_lint)
        } else {
            toml::from_str::<Config>(&text).map(Some)
        };
        let config = config.map_err(|error| Failure::at(path, error.to_string().trim_end()))?;
        let folder = path.parent().map(Path::to_owned).unwrap_or_default();
        let source = Source::new("", &text);
        let located = |config: Config| {
            let places = config.suppress.iter().filter_map(|one| {
                let span = one.rules.span();
                match source.place(Span::new(span.start, span.end)) {
                    Place::Text(place) => Some(place),
                    _ => None,
                }
            });
            Config { places: places.collect(), folder, file: path.to_owned(), ..config }
        };
        Ok(config.map(located))
    }

    /// Returns the text that names a key of this file in messages: the key and the folder of the file.
    pub fn origin(&self, key: &str) -> String {
        format!("`{key}` in {}", self.folder.display())
    }

    /// Resolves a path of this file against its folder.
    pub fn resolve(&self, path: &Path) -> PathBuf {
        self.folder.join(path)
    }
}

/// Finds the configuration that applies to a file; searches once for each folder.
#[derive(Debug, Default)]
pub struct Configs {
    /// The configuration of `--config`; the default one with `--isolated`.
    fixed: Option<Arc<Config>>,
    by_folder: Mutex<FxHashMap<PathBuf, Arc<Config>>>,
}

impl Configs {
    /// Creates the finder for `--config FILE` and `--isolated`.
    pub fn new(file: Option<&Path>, isolated: bool) -> Result<Self, Failure> {
        let fixed = match file {
            Some(path) => {
                let missing = || Failure::at(path, "the file has no table [tool.onnx-lint]");
                Some(Arc::new(Config::read(path)?.ok_or_else(missing)?))
            }
            None => isolated.then(Arc::default),
        };
        Ok(Configs { fixed, by_folder: Mutex::default() })
    }

    /// Returns the configuration of the command line, else the nearest one in `folder` or above.
    ///
    /// If neither the command line nor a folder has a configuration file, the default configuration is returned.
    pub fn for_folder(&self, folder: &Path) -> Result<Arc<Config>, Failure> {
        if let Some(fixed) = &self.fixed {
            return Ok(fixed.clone());
        }
        let folder = std::path::absolute(folder).unwrap_or_else(|_| folder.to_owned());
        // A poisoned lock only means that another thread died between two complete insertions.
        let mut known = self.by_folder.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(config) = known.get(&folder) {
            return Ok(config.clone());
        }
        let config = Arc::new(nearest(&folder)?.unwrap_or_default());
        known.insert(folder, config.clone());
        Ok(config)
    }
}

fn nearest(folder: &Path) -> Result<Option<Config>, Failure> {
    let candidates =
        folder.ancestors().flat_map(|folder| FILE_NAMES.iter().map(move |name| folder.join(name)));
    for path in candidates.filter(|path| path.is_file()) {
        if let Some(config) = Config::read(&path)? {
            return Ok(Some(config));
        }
    }
    Ok(None)
}
