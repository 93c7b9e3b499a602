//! `onnx-lint site`: the documentation as HTML pages that need neither a network nor a server.
//!
//! The sources are the rule pages as `--explain` prints them, the help of the commands, the schema of the configuration,
//! and Markdown files of this repository.

mod documents;
mod frame;
mod generated;

use std::fs;
use std::path::{Path, PathBuf};

use self::documents::{ASSETS, DOCUMENTS};
use self::frame::{Site, framed};
use super::Failure;
use super::catalog::{Catalog, Extent};
use super::output::When;
use crate::diag::{reason, render};

/// Writes the site into `folder`, with the built-in rules and those of further folders.
pub fn write(folder: &Path, rules: &[PathBuf]) -> Result<(), Failure> {
    let catalog = Catalog::load(rules, Extent::Pages, When::Auto)?;
    let site = Site::new(&catalog);
    for document in &DOCUMENTS {
        let body = site.html(document.text, document.page);
        put(folder, document.page, framed(document.page, document.title, &body).as_bytes())?;
    }
    for page in generated::pages(&catalog) {
        let body = format!("{}{}", site.html(&page.markdown, &page.file), page.html);
        put(folder, &page.file, framed(&page.file, &page.title, &body).as_bytes())?;
    }
    put(folder, "style.css", format!("{}{}", render::STYLE, include_str!("style.css")).as_bytes())?;
    ASSETS.iter().try_for_each(|asset| put(folder, asset.page, asset.bytes))
}

/// Returns the address of a rule page in a site at `address`.
pub fn page_of_rule(address: &str, code: &str) -> String {
    format!("{}/rules/{code}.html", address.trim_end_matches('/'))
}

fn put(folder: &Path, name: &str, content: &[u8]) -> Result<(), Failure> {
    let path = folder.join(name);
    let written = path.parent().map_or(Ok(()), fs::create_dir_all).and_then(|()| fs::write(&path, content));
    written.map_err(|error| Failure::at(&path, format!("cannot be written: {}", reason(&error))))
}
