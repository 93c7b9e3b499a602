//! `tests/pitfalls/expected.tsv`: what has to be said of each export of each pitfall, and of which nothing.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::tool::Sandbox;

const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/pitfalls");

/// A line of the table. `rule` is "-" where the export is right.
struct Row<'t> {
    artifact: &'t str,
    rule: &'t str,
    first_line: u64,
    last_line: u64,
}

fn row(line: &str) -> Row<'_> {
    let fields: Vec<&str> = line.split('\t').collect();
    let [artifact, rule, first, last] = fields[..] else { panic!("no row: {line}") };
    let number = |text: &str| text.parse().expect("a line number");
    Row { artifact, rule, first_line: number(first), last_line: number(last) }
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
    let Row { artifact, rule, first_line, last_line } = row;
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

#[test]
fn pitfalls_are_found_and_nothing_else_is() {
    let table = std::fs::read_to_string(format!("{FOLDER}/expected.tsv")).expect("it is there");
    let rows: Vec<Row> = table.lines().skip(1).map(row).collect();
    let path = |artifact: &str| match artifact {
        "pitfalls.py" => format!("{FOLDER}/{artifact}"),
        _ => format!("{FOLDER}/exported/{artifact}"),
    };
    let mut faults = Vec::new();
    for with_source in [false, true] {
        let rows: Vec<&Row> =
            rows.iter().filter(|row| row.artifact.ends_with("+src") == with_source).collect();
        let name = |row: &Row| row.artifact.trim_end_matches("+src").to_owned();
        let mut paths: Vec<String> = rows.iter().map(|row| path(&name(row))).collect();
        paths.dedup();
        let map = format!("/app={FOLDER}");
        let options = ["--path-map", &*map];
        let said = lint(&paths, if with_source { &options } else { &[] });
        let of = |row: &Row| said.get(&name(row)).map_or(&[][..], Vec::as_slice);
        faults.extend(rows.iter().filter_map(|row| fault(row, of(row))));
        if !with_source {
            faults.extend(false_alarms(&rows, &said["pitfalls.py"]));
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

/// What is said aloud of `pitfalls.py` though the table does not have it.
fn false_alarms(rows: &[&Row], said: &[Said]) -> Vec<String> {
    let is_wanted = |said: &&Said| {
        rows.iter()
            .any(|row| row.artifact == "pitfalls.py" && row.rule == said.rule && row.first_line == said.line)
    };
    let loud = said.iter().filter(|said| said.is_loud && !is_wanted(said));
    loud.map(|said| format!("pitfalls.py:{}: {} is a false alarm", said.line, said.rule)).collect()
}
