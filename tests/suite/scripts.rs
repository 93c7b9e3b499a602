//! Checks the findings in export scripts and in pasted code.
//! The expected findings are in `expected.tsv` in `tests/scripts` and in its subfolder `snippets`.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::tool::Sandbox;

const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/scripts");

const LEVELS: [&str; 4] = ["hint", "info", "warning", "error"];

/// A row of the table, which `tests/scripts/README.md` describes.
struct Row<'t> {
    script: &'t str,
    lines: &'t str,
    code: &'t str,
    severity: &'t str,
}

fn row(line: &str) -> Row<'_> {
    let fields: Vec<&str> = line.split('\t').collect();
    let [script, lines, code, severity, _] = fields[..] else { panic!("invalid row: {line}") };
    Row { script, lines, code, severity }
}

/// A finding: its rule, its level, and its places as cell (0 in a script) and line.
struct Found {
    code: String,
    level: usize,
    places: Vec<(u64, u64)>,
}

impl Row<'_> {
    /// Returns true if the finding is in one of the line ranges of the row.
    fn contains(&self, found: &Found) -> bool {
        let spans = self.lines.split(',').filter_map(|span| {
            let (cell, lines) = span.split_once(':').unwrap_or(("0", span));
            let (first, last) = lines.split_once('-')?;
            Some((cell.parse().ok()?, first.parse().ok()?, last.parse().ok()?))
        });
        let within = |(cell, first, last): (u64, u64, u64)| {
            found.places.iter().any(|place| place.0 == cell && (first..=last).contains(&place.1))
        };
        spans.into_iter().any(within)
    }

    fn is_met(&self, found: &[Found]) -> bool {
        let least = LEVELS.iter().position(|level| *level == self.severity);
        found.iter().any(|one| one.code == self.code && Some(one.level) >= least && self.contains(one))
    }

    /// Returns true if the row allows a finding of level warning or error.
    fn allows(&self, found: &Found) -> bool {
        let is_rule = self.code.split(',').any(|code| code == found.code);
        self.contains(found) || self.severity == "allowed" && is_rule
    }
}

/// Returns the findings in the scripts of a folder, by the name of the script.
fn lint(folder: &str) -> BTreeMap<String, Vec<Found>> {
    let ran =
        Sandbox::new(&[]).lint(&[folder, "--output-format", "json", "--isolated", "--severity", "hint"]);
    let findings: Vec<Value> =
        serde_json::from_str(&ran.stdout).unwrap_or_else(|error| panic!("{error}: {ran:?}"));
    let mut by_script: BTreeMap<String, Vec<Found>> = BTreeMap::new();
    for finding in findings {
        let text = |key: &str| finding[key].as_str().unwrap_or("").to_owned();
        let script = text("file").trim_start_matches(folder).trim_start_matches('/').to_owned();
        let number = |place: &Value, key: &str| place[key].as_u64().unwrap_or(0);
        let places = [&finding["location"], &finding["source"]];
        let places = places.map(|place| (number(place, "cell"), number(place, "line"))).to_vec();
        let level = LEVELS.iter().position(|level| *level == text("severity")).expect("a severity");
        by_script.entry(script).or_default().push(Found { code: text("code"), level, places });
    }
    by_script
}

/// Compares the findings in the scripts of a folder with its table.
fn hold(folder: &str) {
    let path = format!("{folder}/expected.tsv");
    let table = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}"));
    let mut rows: BTreeMap<&str, Vec<Row>> = BTreeMap::new();
    for row in table.lines().skip(1).map(row) {
        rows.entry(row.script).or_default().push(row);
    }
    let found = lint(folder);
    let mut faults = vec![];
    for (script, rows) in &rows {
        let found = found.get(*script).map(Vec::as_slice).unwrap_or_default();
        for row in rows.iter().filter(|row| LEVELS.contains(&row.severity) && !row.is_met(found)) {
            let Row { code, lines, .. } = row;
            faults.push(format!("{script}: expected {code} in lines {lines}"));
        }
        let is_untrue = |one: &&Found| one.level >= 2 && !rows.iter().any(|row| row.allows(one));
        faults.extend(found.iter().filter(is_untrue).map(|one| {
            let Found { code, places, .. } = one;
            format!("{script}: unexpected {code} at {places:?}")
        }));
    }
    assert!(faults.is_empty(), "{} faults:\n{}", faults.len(), faults.join("\n"));
}

#[test]
fn faults_of_scripts_are_reported_at_their_lines() {
    hold(FOLDER);
}

#[test]
fn faults_of_pasted_code_are_reported_at_their_lines() {
    hold(&format!("{FOLDER}/snippets"));
}

#[test]
fn each_script_has_an_expectation() {
    for folder in [FOLDER.to_owned(), format!("{FOLDER}/snippets")] {
        let table = std::fs::read_to_string(format!("{folder}/expected.tsv")).expect("a table");
        let rows: Vec<Row> = table.lines().skip(1).map(row).collect();
        let entries = std::fs::read_dir(&folder).expect("a folder");
        let names = entries.map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned());
        let is_script = |name: &String| {
            (name.ends_with(".py") || name.ends_with(".ipynb")) && !name.starts_with("local_")
        };
        let missing: Vec<String> =
            names.filter(|name| is_script(name) && !rows.iter().any(|row| row.script == name)).collect();
        assert!(missing.is_empty(), "{folder}: {missing:?}");
    }
}
