//! The frame of each page, and link resolution.

use std::collections::BTreeSet;

use super::documents::{page_of, source_of};
use crate::cli::catalog::Catalog;
use crate::diag::render::{escaped, markdown};

/// The sections in the navigation of each page.
const SECTIONS: [(&str, &str); 11] = [
    ("index.html", "Start"),
    ("rules/index.html", "Rules"),
    ("commands.html", "Commands"),
    ("configuration.html", "Configuration"),
    ("formats.html", "Output formats"),
    ("integrations.html", "Integrations"),
    ("recipes/index.html", "Recipes"),
    ("targets.html", "Targets"),
    ("rules/language.html", "Writing rules"),
    ("python.html", "Python"),
    ("architecture.html", "Architecture"),
];

/// Renderer of page bodies, with the codes of the rules that have pages.
pub struct Site {
    codes: BTreeSet<String>,
}

impl Site {
    /// Creates a renderer for a site with the pages of these rules.
    pub fn new(catalog: &Catalog) -> Self {
        Site { codes: catalog.iter().map(|(code, _)| code.to_owned()).collect() }
    }

    /// Renders Markdown for `page`, with links to pages and from rule codes to rule pages.
    pub fn html(&self, text: &str, page: &str) -> String {
        let link = |target: &str| link(target, page);
        let code = |code: &str| {
            let to = self.codes.contains(code).then(|| format!("rules/{code}.html"))?;
            (to != page).then(|| relative(&to, page))
        };
        markdown::page(text, &link, &code)
    }
}

/// Translates a link, relative to the document in the repository, to a link in the site.
fn link(target: &str, page: &str) -> String {
    let (path, anchor) = target.split_once('#').map_or((target, ""), |(path, anchor)| (path, anchor));
    let folder = source_of(page).and_then(|source| source.rsplit_once('/')).map_or("", |(folder, _)| folder);
    let found = page_of(&joined(folder, path.trim_end_matches('/')));
    match found.filter(|_| !path.is_empty()) {
        Some(found) if anchor.is_empty() => relative(found, page),
        Some(found) => format!("{}#{anchor}", relative(found, page)),
        None => target.to_owned(),
    }
}

/// Joins a folder and a path and resolves `..`.
fn joined(folder: &str, path: &str) -> String {
    let mut parts: Vec<&str> = folder.split('/').filter(|part| !part.is_empty()).collect();
    for part in path.split('/') {
        match part {
            ".." => drop(parts.pop()),
            "." | "" => {}
            part => parts.push(part),
        }
    }
    parts.join("/")
}

/// Returns the path of a page relative to another.
fn relative(to: &str, from: &str) -> String {
    "../".repeat(from.matches('/').count()) + to
}

/// Renders the whole page around its body.
pub fn framed(page: &str, title: &str, body: &str) -> String {
    let section = |(file, name): &(&str, &str)| {
        let here = if *file == page { " aria-current=\"page\"" } else { "" };
        format!("<li><a href=\"{}\"{here}>{name}</a></li>\n", relative(file, page))
    };
    let sections: String = SECTIONS.iter().map(section).collect();
    let (title, style, version) = (escaped(title), relative("style.css", page), env!("CARGO_PKG_VERSION"));
    format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\"/>\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n<title>{title}</title>\n\
         <link rel=\"stylesheet\" href=\"{style}\"/>\n</head>\n<body class=\"site\">\n\
         <a class=\"skip\" href=\"#text\">Skip to the text</a>\n\
         <nav aria-label=\"Documentation\">\n<ul>\n{sections}</ul>\n</nav>\n\
         <main id=\"text\" tabindex=\"-1\">\n{body}</main>\n\
         <footer><p>Documentation of onnx-lint {version}, written by <code>onnx-lint site</code>.</p></footer>\n</body>\n</html>\n"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_among_documents_lead_to_pages() {
        let check = |target, page, expected: &str| assert_eq!(link(target, page), expected);
        check("rules/README.md", "index.html", "rules/language.html");
        check("editors/vscode", "index.html", "vscode.html");
        check("../README.md#use", "rules/language.html", "../index.html#use");
        check("rknn.md", "recipes/index.html", "../recipes/rknn.html");
        check("#here", "index.html", "#here");
        check("https://example.org/a", "index.html", "https://example.org/a");
    }
}
