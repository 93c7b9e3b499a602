//! Self-contained HTML page, without network access. Only the search of the page needs scripts.
//!
//! The page is also well-formed XML, so that tests can parse it.

mod graph;
mod layout;
mod markdown;

use std::fmt::Write;

use quick_xml::escape::escape;

use super::excerpt::{Excerpt, one_line};
use super::group::{Group, by_model};
use super::snippet::{Snippet, snippets};
use super::xml::legal;
use super::{ModelSummary, Page, Run, summary};
use crate::diag::{Applicability, Finding, Level};

/// Style sheet of the page.
const STYLE: &str = include_str!("style.css");

/// Script of the page: the search.
const SCRIPT: &str = include_str!("search.js");

/// Maximum length of code lines; longer ones are cut.
const ROOM: usize = 200;

/// Maximum number of findings with a drawn graph.
const DRAWN: usize = 400;

/// Renders findings as an HTML page.
pub fn render(run: Run) -> String {
    let groups = by_model(run.findings);
    let summary = summary(run.findings);
    let mut page = String::new();
    let _ = write!(
        page,
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\"/>\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n\
         <title>onnx-lint: {summary}</title>\n<style>\n{STYLE}</style>\n</head>\n<body>\n\
         <a class=\"skip\" href=\"#findings\">Skip to the findings</a>\n\
         <header>\n<h1>onnx-lint</h1>\n<p>{summary}</p>\n</header>\n",
        summary = escaped(&summary),
    );
    page += &navigation(run, &groups);
    page += "<main id=\"findings\" tabindex=\"-1\">\n";
    for (index, file) in run.files.iter().enumerate() {
        let of_file: Vec<(usize, &Group)> =
            groups.iter().enumerate().filter(|(_, group)| group.first.file == *file).collect();
        let model = run.models.iter().find(|model| model.file == *file);
        if of_file.is_empty() && (model.is_none() || run.files.len() > 1) {
            continue;
        }
        let _ = write!(
            page,
            "<section class=\"file\" aria-labelledby=\"file-{index}\">\n<h2 id=\"file-{index}\">{}</h2>\n{}",
            escaped(file),
            model.map(facts).unwrap_or_default()
        );
        for (at, group) in of_file {
            page += &article(group, at, run.pages);
        }
        page += "</section>\n";
    }
    let named = |group: &&Group| run.files.contains(&group.first.file);
    for (at, group) in groups.iter().enumerate().filter(|(_, group)| !named(group)) {
        page += &article(group, at, run.pages);
    }
    page += &rules(run.pages);
    let version = env!("CARGO_PKG_VERSION");
    page += &format!("</main>\n<footer><p>Written by onnx-lint {version}.</p></footer>\n");
    if !groups.is_empty() {
        page += &format!("<script id=\"script\">\n{SCRIPT}addSearch(document);\n</script>\n");
    }
    page + "</body>\n</html>\n"
}

/// Escapes text for HTML.
fn escaped(text: &str) -> String {
    escape(legal(text)).into_owned()
}

/// Escapes text for HTML, with the parts between backticks as code.
fn prose(text: &str) -> String {
    let parts: Vec<&str> = text.split('`').collect();
    // If a backtick is unmatched, all backticks are literal.
    if parts.len().is_multiple_of(2) {
        return escaped(text);
    }
    let part = |(at, part): (usize, &&str)| match at % 2 {
        0 => escaped(part),
        _ => format!("<code>{}</code>", escaped(part)),
    };
    parts.iter().enumerate().map(part).collect()
}

/// Renders the facts about a model as a list.
fn facts(model: &ModelSummary) -> String {
    let fact = |(name, value): &(&str, String)| format!("<dt>{name}</dt><dd>{}</dd>\n", escaped(value));
    format!("<dl class=\"facts\">\n{}</dl>\n", model.facts.iter().map(fact).collect::<String>())
}

/// Renders the navigation: findings by file and by level.
fn navigation(run: Run, groups: &[Group]) -> String {
    let count = |file: &str| run.findings.iter().filter(|finding| *finding.file == *file).count();
    let (with, without): (Vec<_>, Vec<_>) =
        run.files.iter().enumerate().partition(|(_, file)| count(file) > 0);
    let mut text = "<nav aria-label=\"Findings\">\n".to_owned();
    if !with.is_empty() {
        let item = |(index, file): &(usize, &std::sync::Arc<str>)| {
            format!("<li><a href=\"#file-{index}\">{}</a>: {}</li>\n", escaped(file), count(file))
        };
        text += &format!("<ul>\n{}</ul>\n", with.iter().map(item).collect::<String>());
    }
    if !without.is_empty() {
        let item =
            |(_, file): &(usize, &std::sync::Arc<str>)| format!("<li>{}: no findings</li>\n", escaped(file));
        let items: String = without.iter().map(item).collect();
        text += &match without.len() {
            1 => format!("<ul>\n{items}</ul>\n"),
            many => format!(
                "<details>\n<summary>{many} files without findings</summary>\n<ul>\n{items}</ul>\n</details>\n"
            ),
        };
    }
    let levels =
        Level::ALL.iter().rev().filter(|level| groups.iter().any(|group| group.first.level == **level));
    let boxes: String = levels
        .map(|level| {
            format!(
                "<label><input type=\"checkbox\" id=\"show-{level}\" checked=\"checked\"/> {level}</label>\n"
            )
        })
        .collect();
    if !boxes.is_empty() {
        text += &format!(
            "<div class=\"filter\">\n<fieldset>\n<legend>Show</legend>\n{boxes}</fieldset>\n\
             <label hidden=\"hidden\">Search <input type=\"search\" id=\"search\" placeholder=\"Reshape, EXP001, …\"/> \
             <output for=\"search\"></output></label>\n</div>\n"
        );
    }
    text + "</nav>\n"
}

fn article(group: &Group, at: usize, pages: &[Page]) -> String {
    let finding = group.first;
    let (level, code) = (finding.level, escaped(&finding.code));
    let named = match pages.iter().any(|page| *page.code == *finding.code) {
        true => format!("<a href=\"#rule-{code}\"><code>{code}</code></a>"),
        false => format!("<code>{code}</code>"),
    };
    let mut text = format!(
        "<article class=\"{level}\" aria-labelledby=\"finding-{at}\">\n<h3 id=\"finding-{at}\">\
         <span class=\"level\">{level}</span> {named} {}</h3>\n",
        prose(&one_line(&finding.message))
    );
    snippets(finding, ROOM).iter().for_each(|snippet| text += &shown(snippet));
    if let Some(picture) = finding.picture.as_deref().filter(|_| at < DRAWN) {
        let svg = graph::svg(picture, &format!("graph-{at}"));
        // Scrollable elements must be focusable by keyboard.
        text += &format!(
            "<div class=\"graph\" tabindex=\"0\" role=\"group\" aria-label=\"Graph\">\n{svg}</div>\n"
        );
    }
    text += &remarks(group);
    if let Some(picture) = finding.picture.as_deref().filter(|picture| !picture.change.is_empty()) {
        text += &format!(
            "<details>\n<summary>Before and after <code>{}</code></summary>\n<pre tabindex=\"0\">{}</pre>\n</details>\n",
            escaped(&picture.command),
            changed(&picture.change)
        );
    }
    text + "</article>\n"
}

fn shown(snippet: &Snippet) -> String {
    let caption = format!("<figcaption>{}</figcaption>\n", escaped(&one_line(&snippet.locus)));
    let Some(Excerpt { text, span }) = &snippet.excerpt else {
        return format!("<p>{}</p>\n", escaped(&one_line(&snippet.locus)));
    };
    let (before, rest) = text.split_at(span.start.min(text.len()));
    let (meant, after) = rest.split_at((span.end - span.start).min(rest.len()));
    let number = match snippet.number {
        0 => String::new(),
        number => format!("<span class=\"number\">{number}</span>"),
    };
    let label = match &*snippet.label {
        "" => String::new(),
        label => format!("<p>{}</p>\n", prose(&one_line(label))),
    };
    format!(
        "<figure>\n{caption}<pre tabindex=\"0\">{number}<code>{}<mark>{}</mark>{}</code></pre>\n{label}</figure>\n",
        escaped(before.trim_start()),
        escaped(meant),
        escaped(after)
    )
}

fn remarks(group: &Group) -> String {
    let finding = group.first;
    let mut remarks: Vec<(&str, String)> =
        group.others().into_iter().map(|others| ("note", others)).collect();
    remarks.extend(finding.notes.iter().map(|note| ("note", note.clone())));
    remarks.extend(finding.help.iter().map(|help| ("help", help.clone())));
    remarks.extend(fix(finding).map(|fix| ("fix", fix)));
    if remarks.is_empty() {
        return String::new();
    }
    let remark = |(kind, text): &(&str, String)| format!("<dt>{kind}</dt><dd>{}</dd>\n", prose(text));
    format!("<dl>\n{}</dl>\n", remarks.iter().map(remark).collect::<String>())
}

fn fix(finding: &Finding) -> Option<String> {
    let fix = finding.fix.as_ref()?;
    let how = match fix.applicability {
        Applicability::Safe => "safe",
        Applicability::Unsafe => "with --unsafe-fixes",
    };
    Some(format!("onnx-fix {} ({how})", fix.summary))
}

/// Renders the lines of a diff; signs distinguish them without color.
fn changed(lines: &[String]) -> String {
    let line = |line: &String| {
        let text = escaped(line);
        match line.as_bytes().first() {
            Some(b'+') => format!("<ins>{text}</ins>\n"),
            Some(b'-') => format!("<del>{text}</del>\n"),
            _ => text + "\n",
        }
    };
    lines.iter().map(line).collect()
}

/// Renders the pages of the rules with findings.
fn rules(pages: &[Page]) -> String {
    if pages.is_empty() {
        return String::new();
    }
    let mut text = "<section aria-labelledby=\"rules\">\n<h2 id=\"rules\">Rules</h2>\n".to_owned();
    for page in pages {
        let code = escaped(&page.code);
        let _ = write!(
            text,
            "<section aria-labelledby=\"rule-{code}\">\n<h3 id=\"rule-{code}\">{code}: {}</h3>\n\
             <details>\n<summary>Documentation of {code}</summary>\n{}</details>\n</section>\n",
            escaped(&page.summary),
            markdown::html(&page.text)
        );
    }
    text + "</section>\n"
}
