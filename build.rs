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

/// Writes the paths and texts of all rule files, sorted, as a Rust table; and another one, rule by rule, of
/// their texts without examples, which take most of the time to read and which only tests and `--explain` need.
fn embed_rules(out: &Path) -> Result<(), Box<dyn Error>> {
    println!("cargo:rerun-if-changed=rules");
    let root = PathBuf::from(env::var("CARGO_MANIFEST_DIR")?);
    let mut files = Vec::new();
    collect(&root.join("rules"), &mut files)?;
    files.sort();
    let mut table = String::from("pub static FILES: &[(&str, &str)] = &[\n");
    let mut brief = String::from("pub static BRIEF: &[Brief] = &[\n");
    for file in files {
        let path = file.strip_prefix(&root)?.to_string_lossy().replace('\\', "/");
        table += &format!("    ({path:?}, include_str!({:?})),\n", file.to_string_lossy());
        for text in without_examples(&fs::read_to_string(&file)?) {
            let (code, name) = header(&text).ok_or_else(|| format!("{path}: a rule without a header"))?;
            let converts = text.lines().any(|line| is_entry(line, "phase", &["convert", "explore"]));
            brief += &format!(
                "    Brief {{ path: {path:?}, code: {code:?}, name: {name:?}, converts: {converts}, text: {text:?} }},\n"
            );
        }
    }
    table += "];\n";
    table += &brief;
    table += "];\n";
    fs::write(out.join("rules.rs"), table)?;
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

/// The code and the name of a rule: `rule CVT001 axes-as-input {`.
fn header(text: &str) -> Option<(&str, &str)> {
    let mut words = text.lines().find_map(|line| line.strip_prefix("rule "))?.split_whitespace();
    Some((words.next()?, words.next()?))
}

/// Whether a line is the entry `key`, with one of these values.
fn is_entry(line: &str, key: &str, values: &[&str]) -> bool {
    let mut words = line.split_whitespace();
    words.next() == Some(key) && words.next().is_some_and(|value| values.contains(&value))
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
