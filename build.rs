//! Compiles `proto/onnx.proto` with `protox`; tensor bytes stay slices of the file they were read from.
//! Collects the rules below `rules/`.

use std::error::Error;
use std::path::{Path, PathBuf};
use std::{env, fs, io};

use prost::Message;

fn main() -> Result<(), Box<dyn Error>> {
    let out = PathBuf::from(env::var("OUT_DIR")?);
    compile_messages(&out)?;
    embed_rules(&out)
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
    let root = PathBuf::from(env::var("CARGO_MANIFEST_DIR")?);
    let mut files = Vec::new();
    collect(&root.join("rules"), &mut files)?;
    files.sort();
    let mut table = String::from("pub static FILES: &[(&str, &str)] = &[\n");
    let mut briefs = String::from("pub static BRIEF: &[Brief] = &[\n");
    let (mut constants, mut ids) = (String::new(), String::new());
    for file in files {
        let path = file.strip_prefix(&root)?.to_string_lossy().replace('\\', "/");
        table += &format!("    ({path:?}, include_str!({:?})),\n", file.to_string_lossy());
        for text in without_examples(&fs::read_to_string(&file)?) {
            let header = header(&text).ok_or_else(|| format!("{path}: a rule without a header: {text}"))?;
            let Header { code, name, summary, severity, mends, needs, phase } = &header;
            let needs: Vec<String> = needs.iter().map(|ops| format!("&{ops:?}")).collect();
            briefs += &format!(
                "    Brief {{ path: {path:?}, code: {code:?}, name: {name:?}, summary: {summary:?}, \
                 severity: Level::{severity}, mends: {mends:?}, needs: &[{}], phase: {phase}, \
                 text: {text:?} }},\n",
                needs.join(", ")
            );
            if *phase == "None" {
                let id = format!("RuleId {{ code: {code:?}, name: {name:?}, level: Level::{severity} }}");
                let constant = name.to_uppercase().replace('-', "_");
                constants += &format!("/// {code}: {summary}\npub(crate) const {constant}: RuleId = {id};\n");
                ids += &format!("    {id},\n");
            }
        }
    }
    fs::write(out.join("rules.rs"), format!("{table}];\n{briefs}];\n"))?;
    let all = format!("/// All of them.\npub(crate) const ALL: &[RuleId] = &[\n{ids}];\n");
    fs::write(out.join("known.rs"), constants + &all)?;
    Ok(())
}

/// The rules of a file as we format it: a rule ends with a brace in the first column, an example starts with a
/// line of its own, and everything from there to the end of the rule is examples.
fn without_examples(text: &str) -> Vec<String> {
    let mut rules = Vec::new();
    let mut kept = String::new();
    let mut in_examples = false;
    for line in text.lines() {
        let ends = line.starts_with('}');
        in_examples = line.starts_with("  example ") || (in_examples && !ends);
        if !in_examples {
            kept += line;
            kept.push('\n');
        }
        if ends {
            rules.push(std::mem::take(&mut kept));
        }
    }
    rules
}

/// What a rule says of itself, as the identifiers of Rust for it.
struct Header<'t> {
    code: &'t str,
    name: &'t str,
    /// The first line of its docs.
    summary: &'t str,
    /// `Level::…`.
    severity: String,
    mends: Option<&'t str>,
    /// For each node of the pattern, the operators that it may be.
    needs: Vec<Vec<&'t str>>,
    /// `Some(Phase::…)`, or `None` for the page of what code finds.
    phase: &'static str,
}

/// Of a rule as we format it: `rule CVT001 axes-as-input {`, and an entry a line.
fn header(text: &str) -> Option<Header<'_>> {
    let mut words = text.lines().find_map(|line| line.strip_prefix("rule "))?.split_whitespace();
    let word = entry(text, "severity")?;
    let severity = word[..1].to_uppercase() + &word[1..];
    let phase = match (entry(text, "detect"), entry(text, "phase").unwrap_or("fix")) {
        (Some(_), _) => "None",
        (None, "simplify") => "Some(Phase::Simplify)",
        (None, "explore") => "Some(Phase::Explore)",
        (None, "convert") => "Some(Phase::Convert)",
        (None, "fix") => "Some(Phase::Fix)",
        _ => return None,
    };
    let summary = text.lines().find_map(|line| line.strip_prefix("## "))?;
    let (code, name) = (words.next()?, words.next()?);
    Some(Header { code, name, summary, severity, mends: entry(text, "mends"), needs: needs(text), phase })
}

/// What stands for the nodes of the block `match`: after each `=` outside of all brackets an operator,
/// `Squeeze@13` or `com.microsoft.FusedConv`, or several to choose from, `@op in [Add, Sub]`. A test compares
/// them with what the rule language makes of the same text.
fn needs(text: &str) -> Vec<Vec<&str>> {
    let is_match = |line: &str| line.trim_start().starts_with("match ");
    let Some(start) = text.lines().find(|line| is_match(line)) else { return Vec::new() };
    let start = start.as_ptr() as usize - text.as_ptr() as usize;
    let mut needs = Vec::new();
    let mut depth = 0;
    for (at, char) in text[start..].char_indices().map(|(at, char)| (start + at, char)) {
        match char {
            '{' | '(' | '[' | '<' => depth += 1,
            '}' if depth == 1 => break,
            '}' | ')' | ']' | '>' => depth -= 1,
            '=' if depth == 1 => needs.extend(operators(text[at + 1..].trim_start())),
            _ => {}
        }
    }
    needs
}

/// The operators that a node of a pattern may be, at the start of what stands after its `=`; `None` where
/// that is an operator which another node chooses (`@op`).
fn operators(text: &str) -> Option<Vec<&str>> {
    if !text.starts_with('@') {
        return Some(vec![operator(text)]);
    }
    let end = text.find(['(', '<', '['])?;
    let list = text[end..].strip_prefix('[')?;
    let mut operators: Vec<&str> =
        list[..list.find(']')?].split(',').map(|item| operator(item.trim())).collect();
    // Two versions of one, `[Split@13, Split@18]`.
    operators.dedup();
    Some(operators)
}

/// `Squeeze` of `Squeeze@13 (…)`, `FusedConv` of `com.microsoft.FusedConv`.
fn operator(text: &str) -> &str {
    let end = text.find(|char: char| !char.is_alphanumeric() && !"._".contains(char)).unwrap_or(text.len());
    text[..end].rsplit('.').next().unwrap_or_default()
}

/// The first word of the entry `key`.
fn entry<'t>(text: &'t str, key: &str) -> Option<&'t str> {
    let mut lines = text.lines().map(str::split_whitespace);
    lines.find_map(|mut words| if words.next() == Some(key) { words.next() } else { None })
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            collect(&path, files)?;
        } else if path.extension().is_some_and(|extension| extension == "rule") {
            files.push(path);
        }
    }
    Ok(())
}
