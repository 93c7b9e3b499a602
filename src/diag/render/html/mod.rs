//! Self-contained HTML page, without network access or scripts.
//!
//! It is also well-formed XML, so that tests can parse it.

mod graph;
mod markdown;

use std::fmt::Write;

use quick_xml::escape::escape;

use super::excerpt::{Excerpt, one_line};
use super::group::{Group, by_model};
use super::snippet::{Snippet, snippets};
use super::xml::legal;
use super::{Page, Run, summary};
use crate::diag::{Applicability, Finding, Level};

/// Style sheet of the page.
const STYLE: &str = include_str!("style.css");

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
        if of_file.is_empty() {
            continue;
        }
        let _ = write!(
            page,
            "<section aria-labelledby=\"file-{index}\">\n<h2 id=\"file-{index}\">{}</h2>\n",
            escaped(file)
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
    page + "</main>\n<footer><p>Written by onnx-lint " + version + ".</p></footer>\n</body>\n</html>\n"
}

/// Escapes text for HTML.
fn escaped(text: &str) -> String {
    escape(legal(text)).into_owned()
}

/// Escapes text for HTML, with the parts between backticks as code.
fn prose(text: &str) -> String {
    let parts: Vec<&str> = text.split('`').collect();
    // An unmatched backtick is literal.
    if parts.len().is_multiple_of(2) {
        return escaped(text);
    }
    let part = |(at, part): (usize, &&str)| match at % 2 {
        0 => escaped(part),
        _ => format!("<code>{}</code>", escaped(part)),
    };
    parts.iter().enumerate().map(part).collect()
}

/// Renders the navigation: findings by file and by level.
fn navigation(run: Run, groups: &[Group]) -> String {
    let mut text = "<nav aria-label=\"Findings\">\n<ul>\n".to_owned();
    for (index, file) in run.files.iter().enumerate() {
        let count = run.findings.iter().filter(|finding| finding.file == *file).count();
        let name = escaped(file);
        let _ = match count {
            0 => writeln!(text, "<li>{name}: no findings</li>"),
            count => writeln!(text, "<li><a href=\"#file-{index}\">{name}</a>: {count}</li>"),
        };
    }
    text += "</ul>\n";
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
        text += &format!("<fieldset>\n<legend>Show</legend>\n{boxes}</fieldset>\n");
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
    let label = match &*snippet.label {
        "" => String::new(),
        label => format!("<p>{}</p>\n", prose(&one_line(label))),
    };
    format!(
        "<figure>\n{caption}<pre tabindex=\"0\"><code>{}<mark>{}</mark>{}</code></pre>\n{label}</figure>\n",
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
