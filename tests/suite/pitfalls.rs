//! `expected.tsv` in `tests/pitfalls` and in its `families`: what has to be said of each export of each pitfall, and of
//! which nothing.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::tool::Sandbox;

const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/pitfalls");

/// Of what is known to be wrong, the least part that has to be found.
const LEAST_RECALL: f64 = 0.9;

/// A line of the table. `rule` is "-" where the export is right.
struct Row<'t> {
    artifact: &'t str,
    rule: &'t str,
    /// It is known not to be found: `?rule`.
    missed: bool,
    first_line: u64,
    last_line: u64,
}

fn row(line: &str) -> Row<'_> {
    let fields: Vec<&str> = line.split('\t').collect();
    let [artifact, rule, first, last] = fields[..] else { panic!("no row: {line}") };
    let number = |text: &str| text.parse().expect("a line number");
    let (rule, missed) = rule.strip_prefix('?').map_or((rule, false), |rule| (rule, true));
    Row { artifact, rule, missed, first_line: number(first), last_line: number(last) }
}

/// A finding, as far as the table speaks of it.
struct Said {
    rule: String,
    is_loud: bool,
    line: u64,
}

/// The findings in all of the files, by the name of the file.
fn lint(paths: &[String], options: &[&str]) -> BTreeMap<String, Vec<Said>> {
    let sandbox = Sandbox::new(&[]);
    let paths = paths.iter().map(String::as_str);
    let arguments: Vec<&str> =
        paths.chain(["--output-format", "json"]).chain(options.iter().copied()).collect();
    let ran = sandbox.lint(&arguments);
    let findings: Vec<Value> =
        serde_json::from_str(&ran.stdout).unwrap_or_else(|error| panic!("{error}: {ran:?}"));
    let mut by_file: BTreeMap<String, Vec<Said>> = BTreeMap::new();
    for finding in findings {
        let text = |key: &str| finding[key].as_str().unwrap_or("").to_owned();
        let is_loud = ["warning", "error"].contains(&&*text("severity"));
        let line = finding["source"]["line"].as_u64().unwrap_or(0);
        let file = text("file").rsplit('/').next().unwrap_or("").to_owned();
        by_file.entry(file).or_default().push(Said { rule: text("rule"), is_loud, line });
    }
    by_file
}

/// What is wrong with what was said of an artifact.
fn fault(row: &Row, said: &[Said]) -> Option<String> {
    let Row { artifact, rule, first_line, last_line, .. } = row;
    if *rule == "-" {
        let loud: Vec<&str> = said.iter().filter(|said| said.is_loud).map(|said| &*said.rule).collect();
        return (!loud.is_empty()).then(|| format!("{artifact} is right, yet {loud:?} is said of it"));
    }
    let lines: Vec<u64> = said.iter().filter(|said| said.rule == *rule).map(|said| said.line).collect();
    let is_said = lines.iter().any(|line| (first_line..=last_line).contains(&line));
    (!is_said).then(|| {
        format!("{artifact}: {rule} is to be in lines {first_line} to {last_line}, and is in {lines:?}")
    })
}

/// How each artifact of a table is linted: by its name alone, with `+src`, with `+log`.
fn kind(artifact: &str) -> &str {
    artifact.split_once('+').map_or("", |(_, kind)| kind)
}

/// Holds what is said against the table of a folder.
fn hold(folder: &str) {
    let table = std::fs::read_to_string(format!("{folder}/expected.tsv")).expect("it is there");
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
        let said = match wanted {
            "log" => lint_with_logs(&paths),
            "src" if !paths.is_empty() => lint(&paths, &["--path-map", &*map]),
            _ if paths.is_empty() => BTreeMap::new(),
            _ => lint(&paths, &[]),
        };
        let of = |row: &Row| said.get(&name(row)).map_or(&[][..], Vec::as_slice);
        for row in &rows {
            match fault(row, of(row)) {
                Some(_) if row.missed => missed += 1,
                fault => faults.extend(fault),
            }
        }
        for file in paths.iter().filter(|path| path.ends_with(".py")) {
            let file = file.rsplit('/').next().unwrap_or("");
            faults.extend(false_alarms(file, &rows, said.get(file).map_or(&[][..], Vec::as_slice)));
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
    let wrong = rows.iter().filter(|row| row.rule != "-").count();
    let recall = 1.0 - f64::from(missed) / wrong as f64;
    assert!(recall >= LEAST_RECALL, "{missed} of {wrong} are missed");
}

/// Each model with the log of its own export.
fn lint_with_logs(paths: &[String]) -> BTreeMap<String, Vec<Said>> {
    let mut all = BTreeMap::new();
    for path in paths {
        let log = path.replace(".onnx", ".log");
        let said = lint(std::slice::from_ref(path), &["--export-log", &log]);
        let name = path.rsplit('/').next().unwrap_or("").to_owned();
        all.entry(name).or_insert_with(Vec::new).extend(said.into_values().flatten());
    }
    all
}

#[test]
fn pitfalls_are_found_and_nothing_else_is() {
    hold(FOLDER);
}

#[test]
fn what_only_looks_like_a_pitfall_is_left_alone() {
    hold(&format!("{FOLDER}/families"));
}

/// What is said aloud of a source though the table does not have it.
fn false_alarms(file: &str, rows: &[&Row], said: &[Said]) -> Vec<String> {
    let is_wanted = |said: &&Said| {
        rows.iter().any(|row| row.artifact == file && row.rule == said.rule && row.first_line == said.line)
    };
    let loud = said.iter().filter(|said| said.is_loud && !is_wanted(said));
    loud.map(|said| format!("{file}:{}: {} is a false alarm", said.line, said.rule)).collect()
}
