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

/// Writes the paths and texts of all rule files, sorted, as a Rust table; and once more without their
/// examples, which take most of the time to read and which only tests and `--explain` need.
fn embed_rules(out: &Path) -> Result<(), Box<dyn Error>> {
    println!("cargo:rerun-if-changed=rules");
    let root = PathBuf::from(env::var("CARGO_MANIFEST_DIR")?);
    let mut files = Vec::new();
    collect(&root.join("rules"), &mut files)?;
    files.sort();
    let mut table = String::from("pub static FILES: &[(&str, &str)] = &[\n");
    let mut brief = String::from("pub static WITHOUT_EXAMPLES: &[(&str, &str)] = &[\n");
    for file in files {
        let name = file.strip_prefix(&root)?.to_string_lossy().replace('\\', "/");
        table += &format!("    ({name:?}, include_str!({:?})),\n", file.to_string_lossy());
        brief += &format!("    ({name:?}, {:?}),\n", without_examples(&fs::read_to_string(&file)?));
    }
    table += "];\n";
    table += &brief;
    table += "];\n";
    fs::write(out.join("rules.rs"), table)?;
    Ok(())
}

/// A rule file as we format it: an example starts with a line of its own, and everything up to the brace
/// that ends the rule, in the first column, is examples.
fn without_examples(text: &str) -> String {
    let mut kept = String::new();
    let mut in_examples = false;
    for line in text.lines() {
        in_examples = line.starts_with("  example ") || (in_examples && !line.starts_with('}'));
        if !in_examples {
            kept += line;
            kept.push('\n');
        }
    }
    kept
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
