//! Output of a run of `onnx-lint`, and its exit status.

use std::collections::BTreeSet;

use super::args::Args;
use super::baseline::Baseline;
#[cfg(feature = "tables")]
use super::columns;
use super::{Found, baseline, rule_folders, rules, statistics, table};
use crate::cli::catalog::{Catalog, Extent, RuleInfo};
use crate::cli::config::Config;
use crate::cli::{Failure, Status, output};
use crate::diag::render::{Format, Look, Page, Run, render};
use crate::diag::{Finding, Level};

/// Prints the findings, or writes them as a baseline; returns the exit status.
pub fn report(args: &Args, config: &Config, mut found: Found) -> Result<Status, Failure> {
    let baseline = baseline(args, config);
    if args.write_baseline {
        let path = baseline.ok_or_else(|| Failure::new("--write-baseline: name the file with --baseline"))?;
        found.findings.append(&mut found.merged);
        Baseline::write(&path, &found.findings)?;
        return Ok(if found.readable { Status::Clean } else { Status::Failed });
    }
    if let Some(path) = baseline {
        found.remove_known(&path)?;
    }
    if args.output_format.is_table() && args.statistics {
        return Err(Failure::new("--statistics: not supported for --output-format arrow and parquet"));
    }
    if args.output_format.is_table() {
        let table = encoded(&table::rows(&found.scanned, &found.findings), args.output_format)?;
        output::write_bytes(&table, args.output_file.as_deref())?;
        return Ok(status(&found, args.max_warnings.or(config.max_warnings), args.exit_zero));
    }
    one_model(args.output_format, &found.findings)?;
    let text = if args.statistics {
        statistics::statistics(&found.findings, args.output_format)
    } else {
        let look = output::look_of(args.output_file.as_deref(), args.color.when);
        let look = Look { quiet: args.quiet, ..look };
        let pages = if args.output_format.has_pages() { pages(args, config, &found)? } else { Vec::new() };
        let run =
            Run { files: &found.files, findings: &found.findings, pages: &pages, models: &found.models };
        render(run, args.output_format, look)
    };
    output::write(&text, args.output_file.as_deref())?;
    Ok(status(&found, args.max_warnings.or(config.max_warnings), args.exit_zero))
}

/// Fails if the format identifies nodes but no files, and several models have findings at nodes.
fn one_model(format: Format, findings: &[Finding]) -> Result<(), Failure> {
    let mut models =
        findings.iter().filter(|finding| finding.place.graph().is_some()).map(|found| &found.file);
    let first = models.next();
    match models.find(|model| Some(*model) != first) {
        Some(second) if format.is_of_one_model() => {
            let first = first.unwrap_or(second);
            let format = format.name();
            Err(Failure::new(format!(
                "--output-format {format} takes the findings of one model: pass `{first}` or `{second}`"
            )))
        }
        _ => Ok(()),
    }
}

fn status(found: &Found, max_warnings: Option<usize>, exit_zero: bool) -> Status {
    let count = |level| found.findings.iter().filter(|finding| finding.level == level).count();
    let too_much = count(Level::Error) > 0 || count(Level::Warning) > max_warnings.unwrap_or(0);
    match (found.readable, too_much && !exit_zero) {
        (false, _) => Status::Failed,
        (true, true) => Status::Found,
        (true, false) => Status::Clean,
    }
}

/// Loads the pages of the rules with findings, since linting parses rules without pages.
fn pages(args: &Args, config: &Config, found: &Found) -> Result<Vec<Page>, Failure> {
    let codes: BTreeSet<&str> = found.findings.iter().map(|finding| &*finding.code).collect();
    let extent: Vec<&str> = codes.iter().copied().collect();
    let catalog = Catalog::load(&rule_folders(args, config), Extent::PagesOf(&extent), args.color.when)?;
    let known = catalog.iter().filter(|(code, _)| codes.contains(code));
    let page = |(code, known): (&str, &RuleInfo)| {
        let text = rules::page(code, &catalog).unwrap_or_default();
        let url =
            config.docs_url.as_ref().map(|site| format!("{}/rules/{code}.html", site.trim_end_matches('/')));
        Page { code: code.to_owned(), summary: known.summary.clone(), level: known.level, text, url }
    };
    Ok(known.map(page).collect())
}

/// Returns the rows in the format of a table.
///
/// # Errors
/// The table cannot be encoded.
#[cfg(feature = "tables")]
fn encoded(rows: &[table::Row], format: Format) -> Result<Vec<u8>, Failure> {
    let table = if format == Format::Arrow { columns::arrow(rows) } else { columns::parquet(rows) };
    table.map_err(|error| Failure::new(format!("--output-format {}: {error}", format.name())))
}

/// Rejects the format, because this build writes no tables.
///
/// # Errors
/// Always.
#[cfg(not(feature = "tables"))]
fn encoded(_: &[table::Row], format: Format) -> Result<Vec<u8>, Failure> {
    let name = format.name();
    Err(Failure::new(format!(
        "--output-format {name}: this build writes no tables: build it with `--features tables`"
    )))
}
