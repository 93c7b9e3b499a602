//! Configuration files: `onnx-lint.toml`, `.onnx-lint.toml`, or `[tool.onnx-lint]` in `pyproject.toml`.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use rustc_hash::FxHashMap;
use serde::Deserialize;

use crate::cli::Failure;
use crate::diag::Level;

/// Looked for in this order in every folder, from that of the linted file upwards.
const FILE_NAMES: [&str; 3] = ["onnx-lint.toml", ".onnx-lint.toml", "pyproject.toml"];

/// A configuration file. What the command line says goes before it.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", default)]
pub struct Config {
    /// The folder of the file: its paths are relative to it.
    #[serde(skip)]
    pub folder: PathBuf,
    pub select: Option<Vec<String>>,
    pub ignore: Vec<String>,
    pub extend_select: Vec<String>,
    #[serde(deserialize_with = "optional_level")]
    pub severity: Option<Level>,
    /// The level of rules by code, prefix or name; `None` for those that are off.
    #[serde(deserialize_with = "levels")]
    pub rule_severity: BTreeMap<String, Option<Level>>,
    /// What is known and accepted.
    pub suppress: Vec<Suppress>,
    /// Rules to leave out, by a glob over the path from the folder of the configuration.
    pub per_file_ignores: BTreeMap<String, Vec<String>>,
    /// Globs of what is not searched; a file that is named on the command line is linted all the same.
    pub exclude: Vec<String>,
    pub opset: Option<i64>,
    /// As after `--target`.
    pub target: Vec<String>,
    pub targets: Vec<PathBuf>,
    pub rules: Vec<PathBuf>,
    pub source_root: Vec<PathBuf>,
    pub path_map: BTreeMap<String, String>,
    pub max_warnings: Option<usize>,
    pub baseline: Option<PathBuf>,
    /// Where the pages that `onnx-lint site` wrote can be read.
    pub docs_url: Option<String>,
}

/// Findings that are accepted, at some nodes or in some modules of a model.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Suppress {
    /// Codes, prefixes or names of rules.
    pub rules: Vec<String>,
    /// A glob over names of nodes.
    pub node: Option<String>,
    /// A glob over paths of modules, as in `/encoder/**`.
    pub module: Option<String>,
    /// A glob over files, from the folder of the configuration.
    pub file: Option<String>,
    /// Why; for people.
    #[serde(default)]
    pub reason: String,
}

/// `pyproject.toml`, as far as it concerns us.
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
    /// Reads the file at `path`; `None` for a `pyproject.toml` that has no table of ours.
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
        Ok(config.map(|config| Config { folder, ..config }))
    }

    /// Where a key of this file stands, for messages.
    pub fn origin(&self, key: &str) -> String {
        format!("`{key}` in {}", self.folder.display())
    }

    /// A path of this file, as seen from the current folder.
    pub fn resolve(&self, path: &Path) -> PathBuf {
        self.folder.join(path)
    }
}

/// Finds the configuration that governs a file, reading each once.
#[derive(Debug, Default)]
pub struct Configs {
    /// `--config`; the default one with `--isolated`.
    fixed: Option<Arc<Config>>,
    by_folder: Mutex<FxHashMap<PathBuf, Arc<Config>>>,
}

impl Configs {
    /// For `--config FILE` and `--isolated`.
    pub fn new(file: Option<&Path>, isolated: bool) -> Result<Self, Failure> {
        let fixed = match file {
            Some(path) => {
                let missing = || Failure::at(path, "there is no [tool.onnx-lint] in it");
                Some(Arc::new(Config::read(path)?.ok_or_else(missing)?))
            }
            None => isolated.then(Arc::default),
        };
        Ok(Configs { fixed, by_folder: Mutex::default() })
    }

    /// The configuration nearest above what lies in `folder`; the default one where there is none.
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
