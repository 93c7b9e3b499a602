//! Conventions of the repository, as stated in ARCHITECTURE.md and CONTRIBUTING.md.

use std::fs;
use std::path::Path;

use onnx_lint::rules::registry::RuleSet;
use onnx_lint::rules::rule::Rule;
use walkdir::WalkDir;

/// A file of the repository.
pub struct File {
    /// Path from the root of the repository, with `/`.
    pub path: String,
    pub text: String,
}

/// Returns the files with an extension below some folders, sorted, without the long generated ones.
pub fn files(folders: &[&str], extension: &str) -> Vec<File> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut found = Vec::new();
    for folder in folders {
        for entry in WalkDir::new(root.join(folder)).sort_by_file_name() {
            let path = entry.expect("the folder is readable").into_path();
            let name = path
                .strip_prefix(root)
                .expect("the path is below the root")
                .to_string_lossy()
                .replace('\\', "/");
            let is_wanted = path.extension().is_some_and(|found| found == extension);
            if is_wanted && !GENERATED.contains(&&*name) {
                let text = fs::read_to_string(&path).expect("the file is readable");
                found.push(File { path: name, text });
            }
        }
    }
    assert!(!found.is_empty(), "there are no .{extension} files in {folders:?}");
    found
}

const GENERATED: [&str; 2] = ["src/schema/table/microsoft.rs", "src/schema/table/onnx.rs"];

const MAX_LINES: usize = 400;

/// Maximum number of lines of a rule with its docs, without its examples.
const MAX_RULE_LINES: usize = 50;

/// Maximum number of lines of a rule with its docs and examples.
const MAX_WHOLE_RULE_LINES: usize = 125;

/// Maximum number of characters of a line of a rule.
const MAX_RULE_WIDTH: usize = 100;

/// Files that may have more than [`MAX_LINES`] lines.
const LONG: [&str; 1] = ["rules/opset/reduce.rule"];

/// Layers of ARCHITECTURE.md: a module of `src/` may use only modules of layers before it.
const LAYERS: [&[&str]; 23] = [
    &["diag"],
    &["source"],
    &["python"],
    &["export_log"],
    &["graph"],
    &["schema"],
    &["torch"],
    &["read"],
    &["remote"],
    &["infer", "write"],
    &["files"],
    &["edit"],
    &["batching"],
    &["rules"],
    &["targets"],
    &["egraph"],
    &["extract"],
    &["import"],
    &["analyses"],
    &["lint", "fix"],
    &["evidence"],
    &["diff"],
    &["rule_tests"],
];

/// Crates, and the only folders that may use them.
const CONFINED: [(&str, &[&str]); 7] = [
    ("egg::", &["src/egraph/", "src/extract/"]),
    ("petgraph::", &["src/graph/order"]),
    ("object_store::", &["src/remote/"]),
    ("reqwest::", &["src/remote/"]),
    ("tokio::", &["src/remote/"]),
    ("prost::", &["src/read/onnx/", "src/write/onnx/"]),
    ("prost_reflect::", &["src/read/onnx/", "src/write/onnx/"]),
];

/// Words that the code must not contain: sources of panics and nondeterminism, and debugging leftovers.
const FORBIDDEN: [&str; 10] = [
    ".unwrap()",
    "panic!(",
    "unreachable!(",
    "todo!(",
    "unimplemented!(",
    "dbg!(",
    "TODO",
    "FIXME",
    "SystemTime",
    "Instant::now",
];

/// Returns the numbered lines of code, without comments and unit tests.
pub fn lines(file: &File) -> impl Iterator<Item = (usize, &str)> {
    let is_test = file.path.contains("/tests/") || file.path.ends_with("/tests.rs") || TESTING == file.path;
    let code = file.text.split("#[cfg(test)]\nmod tests {").next().unwrap_or("");
    let lines = if is_test { "" } else { code }.lines().enumerate();
    lines.map(|(index, line)| (index + 1, line)).filter(|(_, line)| !line.trim_start().starts_with("//"))
}

/// Helpers of unit tests.
const TESTING: &str = "src/infer/testing.rs";

/// Fails for lines of `src/` that break a convention; `fault` returns the reason.
fn check(fault: impl Fn(&File, &str) -> Option<String>) {
    let mut faults = Vec::new();
    for file in files(&["src"], "rs") {
        for (number, line) in lines(&file) {
            faults.extend(fault(&file, line).map(|why| format!("{}:{number}: {why}", file.path)));
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

fn layer(module: &str) -> Option<usize> {
    LAYERS.iter().position(|layer| layer.contains(&module))
}

/// Returns the modules of this crate that a line names by `crate::`.
fn used(line: &str) -> impl Iterator<Item = &str> {
    line.split("crate::")
        .skip(1)
        .filter_map(|rest| rest.split(|c: char| !c.is_alphanumeric() && c != '_').next())
}

#[test]
fn rules_are_short() {
    let (rules, _) = RuleSet::embedded();
    let lines = |rule: &Rule| {
        let text = rule.source.source.slice(rule.source.span);
        let is_example = |line: &str| line.starts_with("  example ") || line.starts_with("  but ");
        (text.lines().take_while(|line| !is_example(line)).count(), text.lines().count())
    };
    let long: Vec<_> = rules
        .iter()
        .map(|rule| (lines(rule), &rule.code))
        .filter(|((own, whole), _)| *own > MAX_RULE_LINES || *whole > MAX_WHOLE_RULE_LINES)
        .collect();
    assert!(long.is_empty(), "long rules, with their lines before the examples and in total: {long:#?}");
}

#[test]
fn lines_of_rules_are_short() {
    let long: Vec<String> = files(&["rules"], "rule")
        .iter()
        .flat_map(|file| file.text.lines().enumerate().map(|(at, line)| (&file.path, at + 1, line)))
        .filter(|(.., line)| line.chars().count() > MAX_RULE_WIDTH)
        .map(|(path, at, _)| format!("{path}:{at}"))
        .collect();
    assert!(long.is_empty(), "lines of more than {MAX_RULE_WIDTH} characters: {long:#?}");
}

#[test]
fn files_are_short() {
    let folders = ["src", "tests", "benches"];
    let found =
        files(&folders, "rs").into_iter().chain(files(&["rules"], "rule")).chain(files(&["tests"], "py"));
    let long: Vec<String> = found
        .map(|file| (file.text.lines().count(), file.path))
        .filter(|(lines, path)| *lines > MAX_LINES && !LONG.contains(&&**path))
        .map(|(lines, path)| format!("{path} has {lines} lines"))
        .collect();
    assert!(long.is_empty(), "{}", long.join("\n"));
}

#[test]
fn modules_use_only_lower_layers() {
    check(|file, line| {
        let module = file.path.strip_prefix("src/")?.split(['/', '.']).next()?;
        let own = layer(module)?;
        let later =
            used(line).find(|&other| other != module && layer(other).is_some_and(|other| other >= own));
        let later = later.or_else(|| used(line).find(|&other| other == "cli"));
        later.map(|other| format!("{module} uses {other}, which is in a later layer"))
    });
}

#[test]
fn architecture_documents_the_layers() {
    let text =
        fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/ARCHITECTURE.md")).expect("the file exists");
    let layer = |layer: &&[&str]| match layer {
        [one] => (*one).to_owned(),
        more => format!("{{{}}}", more.join(", ")),
    };
    let stated = LAYERS.iter().map(layer).collect::<Vec<_>>().join(" → ");
    assert!(
        text.contains(&format!("`{stated} → cli`")),
        "ARCHITECTURE.md does not list the layers: {stated} → cli"
    );
}

#[test]
fn crates_are_used_only_in_their_modules() {
    check(|file, line| {
        let (name, _) = CONFINED.iter().find(|(name, folders)| {
            let named = line
                .find(name)
                .is_some_and(|at| !line[..at].ends_with(|c: char| c.is_alphanumeric() || c == '_'));
            named && !folders.iter().any(|folder| file.path.starts_with(folder))
        })?;
        Some(format!("`{name}` is not allowed here"))
    });
}

/// Code for one operating system is only in `src/write/platform.rs`.
/// The reason is that tests on a different system do not compile platform-dependent code.
#[test]
fn platform_code_is_in_one_module() {
    const MARKS: [&str; 7] =
        ["cfg(unix)", "cfg(not(unix))", "cfg(windows)", "cfg(target_os", "cfg!(", "std::os::", "rustix::"];
    check(|file, line| {
        let mark = MARKS.iter().find(|mark| line.contains(*mark) && file.path != "src/write/platform.rs")?;
        Some(format!("`{mark}` belongs in src/write/platform.rs"))
    });
}

/// The public API of the library names no type of [`FOREIGN`] crates.
#[test]
fn public_items_expose_no_internal_dependencies() {
    let visible = visible_files("src/lib.rs", "src");
    let has = |path: &str| visible.iter().any(|file| file.path == path);
    assert!(has("src/write/onnx/forms.rs"), "a module with exported items is missing");
    assert!(!has("src/write/onnx/messages.rs") && !has("src/egraph/mod.rs"), "a hidden module is included");
    let faults: Vec<String> = visible.iter().flat_map(foreign_items).collect();
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

/// Crates, and a generated module, whose types must not be in the public API.
const FOREIGN: [&str; 4] = ["egg", "prost", "prost_reflect", "proto"];

/// Returns the file of a module, and the files of its visible submodules.
/// A submodule is visible if it is public or has re-exported items, and is not hidden. `folder` is the directory of the
/// submodules.
fn visible_files(path: &str, folder: &str) -> Vec<File> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let text = fs::read_to_string(root.join(path)).expect("the file of a module can be read");
    let mut found = Vec::new();
    let mut attributes = String::new();
    for line in text.lines() {
        let module = line.strip_prefix("pub ").unwrap_or(line).strip_prefix("mod ");
        if let Some(name) = module.and_then(|rest| rest.strip_suffix(';')) {
            let is_exported = line.starts_with("pub ") || text.contains(&format!("\npub use {name}::"));
            let is_hidden = ["doc(hidden)", "cfg(test)"].iter().any(|word| attributes.contains(word));
            if is_exported && !is_hidden {
                let inner = format!("{folder}/{name}");
                let file = [format!("{inner}.rs"), format!("{inner}/mod.rs")];
                let file = file.iter().find(|file| root.join(file).exists()).expect("a module has a file");
                found.extend(visible_files(file, &inner));
            }
        }
        attributes = if line.starts_with('#') { attributes + line } else { String::new() };
    }
    found.push(File { path: path.to_owned(), text });
    found
}

/// Returns the public items of a file that name a type of [`FOREIGN`] crates.
fn foreign_items(file: &File) -> Vec<String> {
    let words = |text: &str| -> Vec<String> {
        let is_part = |c: char| c.is_alphanumeric() || c == '_';
        text.split(|c| !is_part(c)).filter(|word| !word.is_empty()).map(str::to_owned).collect()
    };
    let imports = lines(file).map(|(_, line)| line).filter(|line| line.starts_with("use "));
    let imported = imports.map(words).filter(|words| words.iter().any(|word| FOREIGN.contains(&&**word)));
    let names: Vec<String> = imported.flatten().filter(|name| !["use", "crate"].contains(&&**name)).collect();
    let mut faults = Vec::new();
    let mut item = String::new();
    for (number, line) in lines(file) {
        if item.is_empty() && !line.trim_start().starts_with("pub ") {
            continue;
        }
        item.push_str(line);
        // An item may span several lines; a signature ends where the body begins.
        if line.ends_with(['{', ';', '}']) || (line.ends_with(',') && !item.contains('(')) {
            let named = words(&item);
            let is_module = named.get(1).is_some_and(|word| word == "mod");
            let foreign = |word: &&String| FOREIGN.contains(&&***word) || names.contains(*word);
            if let Some(word) = named.iter().find(foreign).filter(|_| !is_module) {
                faults.push(format!("{}:{number}: a public item names `{word}`", file.path));
            }
            item.clear();
        }
    }
    faults
}

#[test]
fn code_has_no_forbidden_words() {
    check(|_, line| FORBIDDEN.iter().find(|word| line.contains(*word)).map(|word| format!("`{word}`")));
}

/// Files that use the debug format for keys, which no user sees.
const DEBUG_KEYS: [&str; 8] = [
    "src/diff/numbers.rs",
    "src/egraph/contents/reading.rs",
    "src/egraph/tables.rs",
    "src/evidence/forms.rs",
    "src/import/jit/oracle.rs",
    "src/python/imports.rs",
    "src/python/interpreter.rs",
    "src/torch/detect/unrolled_loop/body.rs",
];

#[test]
fn messages_have_no_debug_format() {
    check(|file, line| {
        let is_debug = [":?}", ":#?}"].iter().any(|format| line.contains(format));
        (is_debug && !DEBUG_KEYS.contains(&&*file.path))
            .then(|| "a user reads this: use `Display`".to_owned())
    });
}

/// `expect` is only for guarantees of this program, and its text states why the guarantee holds.
#[test]
fn expect_has_a_reason() {
    check(|_, line| {
        let (_, rest) = line.split_once(".expect(\"")?;
        // Skip `cursor.expect("(")?` of parsers, which expects a token.
        let is_sign = rest.contains("\")?");
        let words = rest.split('"').next().unwrap_or("").split(' ').count();
        (!is_sign && words < 3).then(|| "`expect` without a reason".to_owned())
    });
}

/// Hash maps have no order of iteration: use them only for lookups, with the faster hasher.
#[test]
fn slow_hash_maps_are_not_used() {
    check(|_, line| {
        let is_slow =
            line.contains("std::collections") && (line.contains("HashMap") || line.contains("HashSet"));
        is_slow.then(|| "use FxHashMap to look up, IndexMap or BTreeMap to iterate".to_owned())
    });
}
