//! Compiles `proto/onnx.proto` with `protox`. Tensors share the bytes of the file that is decoded.
//! Embeds the targets and the rules.

use std::error::Error;
use std::path::{Path, PathBuf};
use std::{env, fs, io};

use prost::Message;

#[path = "src/rules/index.rs"]
mod index;
#[path = "src/rules/needs.rs"]
mod needs;
#[allow(dead_code)] // Only the parser of the rule language uses the other items.
#[path = "src/rules/outline.rs"]
mod outline;

use index::{Index, Indexed};

fn main() -> Result<(), Box<dyn Error>> {
    let out = PathBuf::from(env::var("OUT_DIR")?);
    compile_messages(&out)?;
    embed_rules(&out)?;
    embed_targets(&out)?;
    name_version();
    Ok(())
}

/// Sets the version that the tools print: that of the package, and the commit of a release.
/// Only releases name their commit; other builds would compile the crate again after each commit.
fn name_version() {
    println!("cargo:rerun-if-env-changed=ONNX_LINT_COMMIT");
    let version = env!("CARGO_PKG_VERSION");
    let commit = env::var("ONNX_LINT_COMMIT").unwrap_or_default();
    let version = if commit.is_empty() { version.to_owned() } else { format!("{version} ({commit})") };
    println!("cargo:rustc-env=ONNX_LINT_VERSION={version}");
}

fn compile_messages(out: &Path) -> Result<(), Box<dyn Error>> {
    println!("cargo:rerun-if-changed=proto/onnx.proto");
    let descriptors = protox::compile(["proto/onnx.proto"], ["proto"])?;
    // Descriptors for the text and JSON formats, which are read by reflection.
    fs::write(out.join("descriptors.bin"), descriptors.encode_to_vec())?;
    prost_build::Config::new().bytes(["."]).compile_fds(descriptors)?;
    Ok(())
}

/// Writes `rules.rs`: the rule files and their index as Rust statics.
/// Debug builds, except for WebAssembly, read the folder `rules/` at run time, so that rules can be edited without
/// recompiling. They use the statics only for files that did not change since.
fn embed_rules(out: &Path) -> Result<(), Box<dyn Error>> {
    println!("cargo:rustc-check-cfg=cfg(embedded_rules)");
    // A WebAssembly module cannot read files.
    let has_files = env::var("CARGO_CFG_TARGET_ARCH")? != "wasm32";
    if env::var("PROFILE")? != "debug" || !has_files {
        println!("cargo:rustc-cfg=embedded_rules");
        println!("cargo:rerun-if-changed=rules");
    }
    let mut texts = Vec::new();
    for (path, full) in files("rules", "rule")? {
        let text = fs::read_to_string(&full)?;
        texts.push((path, text));
    }
    let mut index = Index::default();
    for (path, text) in &texts {
        index.add(path, text).map_err(|why| format!("{path}: {why}"))?;
    }
    // Not by `include_str`: Cargo would compile a debug build again after each edit of a rule.
    let files: String = texts.iter().map(|(path, text)| format!("    ({path:?}, {text:?}),\n")).collect();
    let headers: String = index.rules.iter().map(header).collect();
    let shared: String = index.shared.iter().map(|text| format!("    {text:?},\n")).collect();
    let tables = [
        format!("static FILES: &[(&str, &str)] = &[\n{files}];\n"),
        format!("static HEADERS: &[RuleHeader] = &[\n{headers}];\n"),
        format!("static SHARED: &[&str] = &[\n{shared}];\n"),
    ];
    fs::write(out.join("rules.rs"), tables.concat())?;
    Ok(())
}

/// Renders an index entry as Rust code.
fn header(rule: &Indexed) -> String {
    let Indexed { path, code, name, summary, status, fixes, since, shared, text, .. } = rule;
    let needs: Vec<String> = rule.needs.iter().map(|ops| format!("&{ops:?}")).collect();
    let phase = rule.phase.map_or("None".to_owned(), |phase| format!("Some(Phase::{})", capitalized(phase)));
    format!(
        "    RuleHeader {{ path: {path:?}, code: {code:?}, name: {name:?}, summary: {summary:?}, \
         status: {status:?}, severity: Level::{}, fixes: {fixes:?}, since: {since:?}, needs: &[{}], phase: {phase}, shared: &{shared:?}, \
         text: {text:?} }},\n",
        capitalized(rule.severity),
        needs.join(", "),
    )
}

/// Writes `targets.rs`: the names, aliases, paths and texts of the target files.
fn embed_targets(out: &Path) -> Result<(), Box<dyn Error>> {
    println!("cargo:rerun-if-changed=targets");
    let mut entries = String::new();
    for (path, full) in files("targets", "target")? {
        let text = fs::read_to_string(&full)?;
        let said = |word: &'static str| {
            text.lines().filter_map(move |line| line.trim().strip_prefix(word)?.split_whitespace().next())
        };
        let name = said("target ").next().ok_or(format!("{path} does not define a target"))?;
        let aliases: Vec<&str> = said("alias ").collect();
        entries += &format!(
            "    Embedded {{ name: {name:?}, aliases: &{aliases:?}, path: {path:?}, text: include_str!({:?}) }},\n",
            full.to_string_lossy()
        );
    }
    fs::write(out.join("targets.rs"), format!("static EMBEDDED: &[Embedded] = &[\n{entries}];\n"))?;
    Ok(())
}

/// Returns the files with an extension below a folder, sorted, with relative and full paths.
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
