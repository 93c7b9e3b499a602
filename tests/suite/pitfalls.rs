//! Checks the findings of each export of each pitfall.
//! The expected findings are in `expected.tsv` in `tests/pitfalls` and in its subfolder `families`.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::tool::Sandbox;

const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/pitfalls");

/// Minimum fraction of the known faults that the linter must find.
const LEAST_RECALL: f64 = 0.9;

/// A row of the table. `rule` is "-" if the export is correct.
struct Row<'t> {
    artifact: &'t str,
    rule: &'t str,
    /// Whether the linter is known to miss the fault, which the table marks as `?rule`.
    missed: bool,
    first_line: u64,
    last_line: u64,
}

fn row(line: &str) -> Row<'_> {
    let fields: Vec<&str> = line.split('\t').collect();
    let [artifact, rule, first, last] = fields[..] else { panic!("invalid row: {line}") };
    let number = |text: &str| text.parse().expect("a line number");
    let (rule, missed) = rule.strip_prefix('?').map_or((rule, false), |rule| (rule, true));
    Row { artifact, rule, missed, first_line: number(first), last_line: number(last) }
}

/// The parts of a finding that are compared with the table.
struct Reported {
    rule: String,
    is_loud: bool,
    line: u64,
}

/// Returns the findings in all files, by file name.
fn lint(paths: &[String], options: &[&str]) -> BTreeMap<String, Vec<Reported>> {
    let sandbox = Sandbox::new(&[]);
    let paths = paths.iter().map(String::as_str);
    let arguments: Vec<&str> =
        paths.chain(["--output-format", "json"]).chain(options.iter().copied()).collect();
    let ran = sandbox.lint(&arguments);
    let findings: Vec<Value> =
        serde_json::from_str(&ran.stdout).unwrap_or_else(|error| panic!("{error}: {ran:?}"));
    let mut by_file: BTreeMap<String, Vec<Reported>> = BTreeMap::new();
    for finding in findings {
        let text = |key: &str| finding[key].as_str().unwrap_or("").to_owned();
        let is_loud = ["warning", "error"].contains(&&*text("severity"));
        let line = finding["source"]["line"].as_u64().unwrap_or(0);
        let file = text("file").rsplit('/').next().unwrap_or("").to_owned();
        by_file.entry(file).or_default().push(Reported { rule: text("rule"), is_loud, line });
    }
    by_file
}

/// Returns a message if the expected finding is missing, or a correct artifact has warnings or errors.
fn fault(row: &Row, found: &[Reported]) -> Option<String> {
    let Row { artifact, rule, first_line, last_line, .. } = row;
    if *rule == "-" {
        let loud: Vec<&str> = found.iter().filter(|one| one.is_loud).map(|one| &*one.rule).collect();
        return (!loud.is_empty()).then(|| format!("{artifact} is correct, but has the findings {loud:?}"));
    }
    let lines: Vec<u64> = found.iter().filter(|one| one.rule == *rule).map(|one| one.line).collect();
    let is_said = lines.iter().any(|line| (first_line..=last_line).contains(&line));
    (!is_said).then(|| {
        format!("{artifact}: expected {rule} in lines {first_line} to {last_line}, found in {lines:?}")
    })
}

/// Returns the additional input for an artifact: none (""), its sources (`src`) or its log (`log`).
fn kind(artifact: &str) -> &str {
    artifact.split_once('+').map_or("", |(_, kind)| kind)
}

/// Asserts that the findings match the table `expected.tsv` of a folder.
fn hold(folder: &str) {
    let table = std::fs::read_to_string(format!("{folder}/expected.tsv")).expect("the file exists");
    let rows: Vec<Row> = table.lines().skip(1).map(row).collect();
    let name = |row: &Row| row.artifact.split('+').next().unwrap_or("").to_owned();
    let path = |name: &str| match name.ends_with(".py") {
        true => format!("{folder}/{name}"),
        false => format!("{folder}/exported/{name}"),
    };
    let mut faults = Vec::new();
    let mut missed = 0;
    for wanted in ["", "src", "log"] {
        let rows: Vec<&Row> = rows.iter().filter(|row| kind(row.artifact) == wanted).collect();
        let mut paths: Vec<String> = rows.iter().map(|row| path(&name(row))).collect();
        paths.dedup();
        let map = format!("/app={folder}");
        let found = match wanted {
            "log" => lint_with_logs(&paths),
            "src" if !paths.is_empty() => lint(&paths, &["--path-map", &*map]),
            _ if paths.is_empty() => BTreeMap::new(),
            _ => lint(&paths, &[]),
        };
        let of = |row: &Row| found.get(&name(row)).map_or(&[][..], Vec::as_slice);
        for row in &rows {
            match fault(row, of(row)) {
                Some(_) if row.missed => missed += 1,
                fault => faults.extend(fault),
            }
        }
        for file in paths.iter().filter(|path| path.ends_with(".py")) {
            let file = file.rsplit('/').next().unwrap_or("");
            faults.extend(false_alarms(file, &rows, found.get(file).map_or(&[][..], Vec::as_slice)));
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
    let wrong = rows.iter().filter(|row| row.rule != "-").count();
    let recall = 1.0 - f64::from(missed) / wrong as f64;
    assert!(recall >= LEAST_RECALL, "{missed} of {wrong} are missed");
}

/// Lints each model with its export log.
fn lint_with_logs(paths: &[String]) -> BTreeMap<String, Vec<Reported>> {
    let mut all = BTreeMap::new();
    for path in paths {
        let log = path.replace(".onnx", ".log");
        let found = lint(std::slice::from_ref(path), &["--export-log", &log]);
        let name = path.rsplit('/').next().unwrap_or("").to_owned();
        all.entry(name).or_insert_with(Vec::new).extend(found.into_values().flatten());
    }
    all
}

#[test]
fn exactly_the_pitfalls_are_reported() {
    hold(FOLDER);
}

#[test]
fn lookalikes_of_pitfalls_are_not_reported() {
    hold(&format!("{FOLDER}/families"));
}

/// Returns findings in a source, at level warning or above, that are not in the table.
fn false_alarms(file: &str, rows: &[&Row], found: &[Reported]) -> Vec<String> {
    let is_expected = |one: &&Reported| {
        rows.iter().any(|row| row.artifact == file && row.rule == one.rule && row.first_line == one.line)
    };
    let loud = found.iter().filter(|one| one.is_loud && !is_expected(one));
    loud.map(|one| format!("{file}:{}: {} is a false positive", one.line, one.rule)).collect()
}
