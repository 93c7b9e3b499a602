//! Renderers, one per output format.

mod annotations;
mod checkstyle;
mod concise;
mod excerpt;
mod full;
mod gitlab;
mod group;
mod html;
mod json;
mod junit;
mod look;
mod model_explorer;
mod rdjson;
mod sarif;
mod snippet;
mod spot;
mod style;
mod summary;
#[cfg(test)]
mod tests;
mod xml;

use std::sync::Arc;

use super::finding::{Finding, Level};

pub use full::findings;
pub use look::Look;
#[cfg(feature = "tools")]
pub(crate) use look::wrapped;
pub use summary::summary;

/// Results of one run.
#[derive(Clone, Copy, Debug)]
pub struct Run<'a> {
    /// Linted files, and configurations with findings, as the output names them, in output order.
    pub files: &'a [Arc<str>],
    /// Findings, in the order of `files`.
    pub findings: &'a [Finding],
    /// Documentation of the rules, for formats that include it.
    pub pages: &'a [Page],
    /// Facts about models, for formats that show them.
    pub models: &'a [ModelSummary],
}

/// Facts about a model, such as its opset and its inputs, each with a name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModelSummary {
    /// The file, as in [`Run::files`].
    pub file: Arc<str>,
    /// Name and value of each fact.
    pub facts: Vec<(&'static str, String)>,
}

/// Documentation page of a rule.
#[derive(Clone, Debug)]
pub struct Page {
    /// Code of the rule: `EXP001`.
    pub code: String,
    /// Summary, in one sentence.
    pub summary: String,
    /// Level of the rule; findings may have another level.
    pub level: Level,
    /// Whole page, as Markdown.
    pub text: String,
    /// URL of the page, if published.
    pub url: Option<String>,
}

/// Output format.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Format {
    /// Human-readable: source lines and graph, with carets.
    #[default]
    Full,
    /// One line per finding, for people and `grep`.
    Concise,
    /// JSON array.
    Json,
    /// JSON object per line.
    JsonLines,
    /// SARIF 2.1.0, for code scanning services.
    Sarif,
    /// GitHub workflow commands, shown next to the code.
    Github,
    /// GitLab code quality report.
    Gitlab,
    /// JUnit XML: a test suite per file, a test case per finding.
    Junit,
    /// Checkstyle XML.
    Checkstyle,
    /// reviewdog diagnostic format.
    Rdjson,
    /// Azure Pipelines logging commands.
    Azure,
    /// Self-contained HTML page, with drawings of the graph around findings.
    Html,
    /// Model Explorer node data: an overlay for the graph of one model.
    ModelExplorer,
    /// File in the IPC format of Apache Arrow: a row per finding, and per file without findings.
    Arrow,
    /// Apache Parquet file, with the rows of `Arrow`.
    Parquet,
}

/// [`Format::ALL`] and [`Format::TABLES`] list every variant.
const _: () = assert!(
    Format::ALL.len() + Format::TABLES.len() == Format::Parquet as usize + 1,
    "a format is missing in `Format::ALL` or `Format::TABLES`"
);

impl Format {
    /// All formats except the binary ones, `Arrow` and `Parquet`.
    pub const ALL: [Format; 13] = [
        Format::Full,
        Format::Concise,
        Format::Json,
        Format::JsonLines,
        Format::Sarif,
        Format::Github,
        Format::Gitlab,
        Format::Junit,
        Format::Checkstyle,
        Format::Rdjson,
        Format::Azure,
        Format::Html,
        Format::ModelExplorer,
    ];

    /// The formats of tables, which are binary.
    pub const TABLES: [Format; 2] = [Format::Arrow, Format::Parquet];

    /// Returns true for a format of tables. [`render()`] does not support it.
    pub fn is_table(self) -> bool {
        Format::TABLES.contains(&self)
    }

    /// Returns true if the output is read locally, rather than by a service with access to the repository.
    pub fn is_for_people(self) -> bool {
        matches!(self, Format::Full | Format::Concise | Format::Json | Format::JsonLines | Format::Html)
    }

    /// Returns true if the format includes the documentation of rules.
    pub fn has_pages(self) -> bool {
        matches!(self, Format::Sarif | Format::Html)
    }

    /// Returns true if the format shows [`Finding::picture`].
    pub fn has_pictures(self) -> bool {
        self == Format::Html
    }

    /// Returns true if the format is limited to the findings of one model.
    pub fn is_of_one_model(self) -> bool {
        self == Format::ModelExplorer
    }

    /// Returns the name of the format on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Format::Full => "full",
            Format::Concise => "concise",
            Format::Json => "json",
            Format::JsonLines => "json-lines",
            Format::Sarif => "sarif",
            Format::Github => "github",
            Format::Gitlab => "gitlab",
            Format::Junit => "junit",
            Format::Checkstyle => "checkstyle",
            Format::Rdjson => "rdjson",
            Format::Azure => "azure",
            Format::Html => "html",
            Format::ModelExplorer => "model-explorer",
            Format::Arrow => "arrow",
            Format::Parquet => "parquet",
        }
    }
}

/// Renders the findings of a run in `format`. Only `full` and `concise` respect `look`.
pub fn render(run: Run, format: Format, look: Look) -> String {
    match format {
        Format::Full => full::render(run, look),
        Format::Concise => concise::render(run, look),
        Format::Json => json::array(run),
        Format::JsonLines => json::lines(run),
        Format::Sarif => sarif::render(run),
        Format::Github => annotations::github(run),
        Format::Gitlab => gitlab::render(run),
        Format::Junit => junit::render(run),
        Format::Checkstyle => checkstyle::render(run),
        Format::Rdjson => rdjson::render(run),
        Format::Azure => annotations::azure(run),
        Format::Html => html::render(run),
        Format::ModelExplorer => model_explorer::render(run),
        Format::Arrow | Format::Parquet => String::new(),
    }
}

/// Formats JSON with indentation and a trailing newline.
fn pretty(value: &impl serde::Serialize) -> String {
    let mut text = serde_json::to_string_pretty(value).expect("maps with string keys are valid JSON");
    text.push('\n');
    text
}
