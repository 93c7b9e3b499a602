//! Compiles `proto/onnx.proto` with `protox`; tensor bytes stay slices of the file they were read from.
//! Collects the rules below `rules/`.

use std::error::Error;
use std::path::{Path, PathBuf};
use std::{env, fs, io};

use prost::Message;

#[path = "src/rules/outline.rs"]
mod outline;

use outline::{EXAMPLES, Outline, Outlined, called, outline};

fn main() -> Result<(), Box<dyn Error>> {
    let out = PathBuf::from(env::var("OUT_DIR")?);
    compile_messages(&out)?;
    embed_rules(&out)?;
    embed_targets(&out)
}

fn compile_messages(out: &Path) -> Result<(), Box<dyn Error>> {
    println!("cargo:rerun-if-changed=proto/onnx.proto");
    let descriptors = protox::compile(["proto/onnx.proto"], ["proto"])?;
    // For the text and JSON forms, which are read by reflection.
    fs::write(out.join("descriptors.bin"), descriptors.encode_to_vec())?;
    prost_build::Config::new().bytes(["."]).compile_fds(descriptors)?;
    Ok(())
}

/// Writes, as Rust, what is to be known of the rule files without reading them: `rules.rs` has the paths and
/// texts of all files, sorted, and rule by rule the texts without examples, which take most of the time to
/// read and which only tests and `--explain` need; `known.rs` has the identity of every rule that code finds.
fn embed_rules(out: &Path) -> Result<(), Box<dyn Error>> {
    println!("cargo:rerun-if-changed=rules");
    println!("cargo:rerun-if-changed=src/rules/outline.rs");
    let mut embedded = Embedded::default();
    for (path, full) in files("rules", "rule")? {
        embedded.files += &format!("    ({path:?}, include_str!({:?})),\n", full.to_string_lossy());
        embedded.add(&path, &fs::read_to_string(&full)?).map_err(|why| format!("{path}: {why}"))?;
    }
    let Embedded { files, briefs, shared, constants, ids } = embedded;
    let shared: String = shared.iter().map(|text| format!("    {text:?},\n")).collect();
    let tables = [
        format!("pub static FILES: &[(&str, &str)] = &[\n{files}];\n"),
        format!("pub static BRIEF: &[Brief] = &[\n{briefs}];\n"),
        format!("/// Defaults of files, and functions.\nstatic SHARED: &[&str] = &[\n{shared}];\n"),
    ];
    fs::write(out.join("rules.rs"), tables.concat())?;
    let all = format!("/// All of them.\npub(crate) const ALL: &[RuleId] = &[\n{ids}];\n");
    fs::write(out.join("known.rs"), constants + &all)?;
    Ok(())
}

/// Writes `targets.rs`: the names of the target files, by which they are asked for, and their texts.
fn embed_targets(out: &Path) -> Result<(), Box<dyn Error>> {
    println!("cargo:rerun-if-changed=targets");
    let mut entries = String::new();
    for (path, full) in files("targets", "target")? {
        let text = fs::read_to_string(&full)?;
        let said = |word: &'static str| {
            text.lines().filter_map(move |line| line.trim().strip_prefix(word)?.split_whitespace().next())
        };
        let name = said("target ").next().ok_or(format!("{path} has no target"))?;
        let aliases: Vec<&str> = said("alias ").collect();
        entries += &format!(
            "    Embedded {{ name: {name:?}, aliases: &{aliases:?}, path: {path:?}, text: include_str!({:?}) }},\n",
            full.to_string_lossy()
        );
    }
    fs::write(out.join("targets.rs"), format!("static EMBEDDED: &[Embedded] = &[\n{entries}];\n"))?;
    Ok(())
}

/// The files of a kind below a folder of the package, sorted: each by its path from the package on, and in full.
fn files(folder: &str, ending: &str) -> Result<Vec<(String, PathBuf)>, Box<dyn Error>> {
    let root = PathBuf::from(env::var("CARGO_MANIFEST_DIR")?);
    let mut paths = Vec::new();
    collect(&root.join(folder), ending, &mut paths)?;
    paths.sort();
    let named = |full: PathBuf| {
        let path = full.strip_prefix(&root)?.to_string_lossy().replace('\\', "/");
        Ok((path, full))
    };
    paths.into_iter().map(named).collect()
}

/// The tables that are written, entry by entry as Rust.
#[derive(Default)]
struct Embedded {
    files: String,
    briefs: String,
    shared: Vec<String>,
    constants: String,
    ids: String,
}

impl Embedded {
    fn add(&mut self, path: &str, text: &str) -> Result<(), String> {
        let file = outline(text);
        let names: Vec<&str> = file.functions.iter().map(|(name, _)| *name).collect();
        let first = self.shared.len();
        let defaults = file.defaults.iter().map(|text| format!("{text}\n"));
        self.shared.extend(defaults.chain(file.functions.iter().map(|(_, text)| format!("{text}\n"))));
        for rule in &file.rules {
            let functions = needed(rule, &file.functions, &names);
            let shared: Vec<usize> = (0..file.defaults.len())
                .chain(functions.into_iter().map(|at| file.defaults.len() + at))
                .map(|at| first + at)
                .collect();
            self.rule(path, rule, &file, &shared)?;
        }
        Ok(())
    }

    fn rule(&mut self, path: &str, rule: &Outlined, file: &Outline, shared: &[usize]) -> Result<(), String> {
        let Outlined { code, name, .. } = rule;
        let own = |keyword: &str| rule.entry(keyword).and_then(|text| text.split_whitespace().next());
        let default = |keyword: &str| {
            let words: Vec<&str> = file.defaults.iter().flat_map(|text| text.split_whitespace()).collect();
            words.iter().position(|word| *word == keyword).and_then(|at| words.get(at + 1).copied())
        };
        let says = |keyword: &str| own(keyword).or_else(|| default(keyword));
        let phase = match (rule.entry("detect"), rule.entry("rewrite")) {
            (Some(_), _) => None,
            (None, Some(_)) => Some(says("phase").ok_or(format!("{code} has no phase"))?),
            (None, None) => Some("fix"),
        };
        let severity =
            says("severity").or(phase.filter(|phase| ["convert", "lower"].contains(phase)).map(|_| "hint"));
        let severity = capitalized(severity.ok_or(format!("{code} has no severity"))?);
        let phase = phase.map(|phase| format!("Phase::{}", capitalized(phase)));
        let summary = rule.docs.first().ok_or(format!("{code} has no docs"))?;
        let needs: Vec<String> = rule.operators().iter().map(|ops| format!("&{ops:?}")).collect();
        let kept = rule.entries.iter().filter(|(keyword, _)| !EXAMPLES.contains(keyword));
        let entries: String = kept.map(|(_, text)| format!("  {text}\n")).collect();
        let docs: String = rule.docs.iter().map(|line| format!("## {line}\n")).collect();
        let text = format!("{docs}{}\n{entries}}}\n", rule.header);
        self.briefs += &format!(
            "    Brief {{ path: {path:?}, code: {code:?}, name: {name:?}, summary: {summary:?}, \
             severity: Level::{severity}, mends: {:?}, needs: &[{}], phase: {}, shared: &{shared:?}, \
             text: {text:?} }},\n",
            own("mends"),
            needs.join(", "),
            phase.as_ref().map_or("None".to_owned(), |phase| format!("Some({phase})")),
        );
        if phase.is_none() {
            let id = format!("RuleId {{ code: {code:?}, name: {name:?}, level: Level::{severity} }}");
            let constant = name.to_uppercase().replace('-', "_");
            self.constants +=
                &format!("/// {code}: {summary}\npub(crate) const {constant}: RuleId = {id};\n");
            self.ids += &format!("    {id},\n");
        }
        Ok(())
    }
}

/// The functions that a rule calls, and those that they call, by their places in the file.
fn needed(rule: &Outlined, functions: &[(&str, &str)], names: &[&str]) -> Vec<usize> {
    let texts = rule.entries.iter().filter(|(keyword, _)| !EXAMPLES.contains(keyword)).map(|(_, text)| *text);
    let mut open: Vec<&str> = texts.collect();
    let mut found = Vec::new();
    while let Some(text) = open.pop() {
        for name in called(text, names) {
            let at = names.iter().position(|other| *other == name).unwrap_or_default();
            if !found.contains(&at) {
                found.push(at);
                open.push(functions[at].1);
            }
        }
    }
    found.sort_unstable();
    found
}

fn capitalized(word: &str) -> String {
    word[..1].to_uppercase() + &word[1..]
}

fn collect(folder: &Path, ending: &str, files: &mut Vec<PathBuf>) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            collect(&path, ending, files)?;
        } else if path.extension().is_some_and(|extension| extension == ending) {
            files.push(path);
        }
    }
    Ok(())
}
