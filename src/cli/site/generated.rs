//! Generated pages: rules, their index, commands, and the configuration.

use clap::{CommandFactory, Parser};
use indexmap::IndexMap;
use serde_json::Value;

use crate::cli::catalog::{Catalog, RuleInfo};
use crate::cli::{diff, fix, lint};
use crate::diag::render::prose;
use crate::graph::syntax::suggest::counted;

/// A page without a file in the repository.
pub struct Generated {
    pub file: String,
    pub title: String,
    pub markdown: String,
    /// Content after that of `markdown`.
    pub html: String,
}

/// Returns a page for every rule, their index, the commands and the configuration.
pub fn pages(catalog: &Catalog) -> Vec<Generated> {
    let rule = |(code, known): (&str, &RuleInfo)| {
        // Render each remark as a paragraph.
        let markdown = lint::rules::explained(code, catalog).unwrap_or_default().replace("\n**", "\n\n**");
        let title = format!("{code} {}", known.name);
        Generated { file: format!("rules/{code}.html"), title, markdown, html: String::new() }
    };
    let mut pages: Vec<Generated> = catalog.iter().map(rule).collect();
    pages.extend([index(catalog), commands(), configuration()]);
    pages
}

/// The families of rules with their subjects.
const FAMILIES: [(&str, &str); 21] = [
    ("CAL", "Calls of exporters"),
    ("EXP", "Baked-in values and other export faults"),
    ("IDX", "Indices and indexed writes"),
    ("DTY", "Element types"),
    ("SHP", "Shapes"),
    ("NUM", "Numbers"),
    ("QDQ", "Quantization"),
    ("OPS", "Operator support"),
    ("OPV", "Operator versions"),
    ("VER", "Comparison of results by --verify"),
    ("SPC", "The ONNX specification"),
    ("OPT", "Optimizations"),
    ("FIX", "Other fixes"),
    ("CVT", "Conversion between opsets"),
    ("DEC", "Decompositions into older operators"),
    ("CTB", "ONNX Runtime operators to and from standard ones"),
    ("ATN", "PyTorch operators to ONNX"),
    ("REA", "Unreadable input"),
    ("RUL", "Rule files"),
    ("SUP", "Suppressions"),
    ("INT", "Internal errors"),
];

/// Creates the index of all rules by family.
fn index(catalog: &Catalog) -> Generated {
    let mut families: IndexMap<&str, Vec<(&str, &RuleInfo)>> =
        FAMILIES.iter().map(|(family, _)| (*family, Vec::new())).collect();
    for (code, known) in catalog.iter() {
        families
            .entry(code.trim_end_matches(|char: char| char.is_ascii_digit()))
            .or_default()
            .push((code, known));
    }
    families.retain(|_, rules| !rules.is_empty());
    let mut html = "<ul>\n".to_owned();
    for (family, rules) in &families {
        let (about, count) = (about(family), counted(rules.len(), "rule"));
        html += &format!("<li><a href=\"#{family}\">{family}</a>: {about} ({count})</li>\n");
    }
    html += "</ul>\n";
    for (family, rules) in &families {
        html +=
            &format!("<h2 id=\"{family}\">{family}: {}</h2>\n<div class=\"table\"><table>\n", about(family));
        html += "<thead><tr><th>Code</th><th>Name</th><th>Level</th><th>Fix</th><th>What</th></tr></thead>\n<tbody>\n";
        for (code, known) in rules {
            let (name, level, fix) = (&known.name, known.level, known.fix.unwrap_or("–"));
            html += &format!(
                "<tr><td><a href=\"{code}.html\">{code}</a></td><td>{name}</td><td>{level}</td><td>{fix}</td><td>{}</td></tr>\n",
                prose(&known.summary)
            );
        }
        html += "</tbody></table></div>\n";
    }
    let markdown = "# Rules\n\nEvery rule has a code, a name, and a page, which `onnx-lint --explain` prints, too. A fix is \
        *safe* if correct results stay equal, up to rounding. *Unsafe* fixes need `--unsafe-fixes`.\n";
    Generated { file: "rules/index.html".into(), title: "Rules".into(), markdown: markdown.into(), html }
}

fn about(family: &str) -> &str {
    FAMILIES.iter().find(|(known, _)| *known == family).map_or("Custom rules", |(_, about)| about)
}

/// Creates the page with the help of each command.
fn commands() -> Generated {
    let mut markdown = "# Commands\n\n`COMMAND --generate bash` (`zsh`, `fish`, `elvish`, `powershell`) prints completions for \
        a shell, and `--generate man` prints a man page.\n"
        .to_owned();
    for (name, help) in [
        ("onnx-lint", help::<lint::args::Args>()),
        ("onnx-fix", help::<fix::args::Args>()),
        ("onnx-diff", help::<diff::args::Args>()),
    ] {
        markdown += &format!("\n## {name}\n\n```text\n{help}```\n");
    }
    Generated { file: "commands.html".into(), title: "Commands".into(), markdown, html: String::new() }
}

fn help<A: Parser + CommandFactory>() -> String {
    // Environment values of the machine that writes the site must not appear in it.
    A::command().term_width(100).mut_args(|arg| arg.hide_env_values(true)).render_long_help().to_string()
}

/// Creates the page of the configuration from its schema.
fn configuration() -> Generated {
    let schema: Value =
        serde_json::from_str(include_str!("../../../editors/onnx-lint.schema.json")).unwrap_or(Value::Null);
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let mut markdown = format!("# Configuration\n\n{}\n", text(&schema["description"]));
    markdown += "Editors can use the JSON schema \
        [editors/onnx-lint.schema.json](onnx-lint.schema.json). \
        The command line overrides or extends the configuration.\n";
    for (key, property) in schema["properties"].as_object().into_iter().flatten() {
        markdown += &format!("\n## {key}\n\n{}\n", text(&property["description"]));
        for example in property["examples"].as_array().into_iter().flatten() {
            let one = serde_json::json!({ key: example });
            markdown += &format!("\n```toml\n{}```\n", toml::to_string(&one).unwrap_or_default());
        }
        for (key, item) in property["items"]["properties"].as_object().into_iter().flatten() {
            markdown += &format!("\n- `{key}`: {}", text(&item["description"]));
        }
        markdown.push('\n');
    }
    Generated {
        file: "configuration.html".into(),
        title: "Configuration".into(),
        markdown,
        html: String::new(),
    }
}
