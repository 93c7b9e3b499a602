//! One renderer per output format. Each is a function of the findings alone: equal findings give equal
//! bytes.

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
#[cfg(feature = "tools")]
#[doc(hidden)]
pub use html::{STYLE, escaped, markdown, prose};
pub use look::Look;
pub use summary::summary;

/// What there is to say of one run.
#[derive(Clone, Copy, Debug)]
pub struct Run<'a> {
    /// Everything that was looked at, as named on the command line, in the order of the output.
    pub files: &'a [Arc<str>],
    /// In the order of `files`.
    pub findings: &'a [Finding],
    /// What there is to read of the rules; for formats that carry it.
    pub pages: &'a [Page],
}

/// What there is to read of a rule.
#[derive(Clone, Debug)]
pub struct Page {
    /// The code of the rule: `EXP001`.
    pub code: String,
    /// In one sentence.
    pub summary: String,
    /// The level of its page; findings may have another.
    pub level: Level,
    /// All of it, as Markdown.
    pub text: String,
    /// Where it can be read, if anywhere.
    pub url: Option<String>,
}

/// How findings are written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Format {
    /// For people: source lines and graph, with carets.
    #[default]
    Full,
    /// For people and `grep`: a line each.
    Concise,
    /// One JSON array.
    Json,
    /// One JSON object a line.
    JsonLines,
    /// SARIF 2.1.0, as code scanning services take it.
    Sarif,
    /// Workflow commands, which GitHub shows beside the code.
    Github,
    /// GitLab's code quality report.
    Gitlab,
    /// A test suite per file, a failed test per finding.
    Junit,
    /// Checkstyle's XML.
    Checkstyle,
    /// reviewdog's diagnostic format.
    Rdjson,
    /// Azure Pipelines' logging commands.
    Azure,
    /// One page with the graph around each finding drawn, which needs nothing else.
    Html,
    /// Model Explorer's node data: an overlay over the graph of one model.
    ModelExplorer,
}

impl Format {
    /// Every format.
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

    /// Whether it is read where the tool was called, rather than by a service that knows the repository.
    pub fn is_for_people(self) -> bool {
        matches!(self, Format::Full | Format::Concise | Format::Json | Format::JsonLines | Format::Html)
    }

    /// Whether it carries the pages of rules.
    pub fn has_pages(self) -> bool {
        matches!(self, Format::Sarif | Format::Html)
    }

    /// Whether it shows [`Finding::picture`].
    pub fn has_pictures(self) -> bool {
        self == Format::Html
    }

    /// Whether it can hold what is found in one model only.
    pub fn is_of_one_model(self) -> bool {
        self == Format::ModelExplorer
    }

    /// Its name on the command line.
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
        }
    }
}

/// The findings of a run in `format`. Only `full` and `concise` heed `look`.
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
    }
}

/// Pretty-printed JSON with a newline at its end.
fn pretty(value: &impl serde::Serialize) -> String {
    let mut text = serde_json::to_string_pretty(value).expect("maps with string keys are valid JSON");
    text.push('\n');
    text
}
