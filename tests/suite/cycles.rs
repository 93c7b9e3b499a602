//! Sibling modules import each other in one direction only.

use std::collections::{BTreeMap, BTreeSet};

use crate::tidy::{files, lines};

/// Path of a module below `src/`: `["rules", "check"]`.
type Module = Vec<String>;

/// Paths of a file's `use` items and re-exports, without `use` and braces.
struct Imports {
    used: Vec<Vec<String>>,
    /// Re-exported names, with the path of each.
    exported: BTreeMap<String, Vec<String>>,
}

/// Returns the module of a file: `src/rules/mod.rs` is `rules`.
fn module_of(path: &str) -> Module {
    let inside = path.trim_start_matches("src/").trim_end_matches(".rs");
    let parts = inside.split('/').map(str::to_owned);
    parts.filter(|part| !["mod", "lib"].contains(&part.as_str())).collect()
}

/// Expands `a::{b, c::d as e}` to `a::b` and `a::c::d`.
fn expand(tree: &str, before: &[String], paths: &mut Vec<Vec<String>>) {
    let (head, group) = match tree.split_once('{') {
        Some((head, group)) => (head, Some(group.trim_end().trim_end_matches('}'))),
        None => (tree, None),
    };
    let head = head.split(" as ").next().unwrap_or(head);
    let parts = head.split("::").map(str::trim).filter(|part| !part.is_empty()).map(str::to_owned);
    let path: Vec<String> = before.iter().cloned().chain(parts).collect();
    let Some(group) = group else {
        paths.push(path);
        return;
    };
    let (mut depth, mut start) = (0, 0);
    for (at, sign) in group.char_indices().chain([(group.len(), ',')]) {
        match sign {
            '{' => depth += 1,
            '}' => depth -= 1,
            ',' if depth == 0 => {
                if !group[start..at].trim().is_empty() {
                    expand(group[start..at].trim(), &path, paths);
                }
                start = at + 1;
            }
            _ => {}
        }
    }
}

/// Resolves `crate`, `super` and `self` at the beginning of a path; `None` for another crate.
fn absolute(path: &[String], module: &Module, modules: &BTreeSet<Module>) -> Option<Vec<String>> {
    let supers = path.iter().take_while(|part| *part == "super").count();
    let (base, rest) = match path.first()?.as_str() {
        "crate" => (&[][..], &path[1..]),
        "self" => (&module[..], &path[1..]),
        "super" => (&module[..module.len() - supers], &path[supers..]),
        first => {
            let child: Module = module.iter().cloned().chain([first.to_owned()]).collect();
            (modules.contains(&child).then_some(&module[..])?, path)
        }
    };
    Some(base.iter().chain(rest).cloned().collect())
}

/// Returns the imports of a file.
fn imports(code: &str, module: &Module, modules: &BTreeSet<Module>) -> Imports {
    let mut imports = Imports { used: Vec::new(), exported: BTreeMap::new() };
    for statement in code.split(';') {
        let Some(at) =
            statement.rfind("use ").filter(|at| statement[..*at].ends_with(['\n', ' ']) || *at == 0)
        else {
            continue;
        };
        let line = statement[..at].rsplit('\n').next().unwrap_or("").trim();
        if !line.is_empty() && !line.starts_with("pub") {
            continue;
        }
        let mut paths = Vec::new();
        expand(statement[at + 4..].trim(), &[], &mut paths);
        for path in paths.iter().filter_map(|path| absolute(path, module, modules)) {
            if line.starts_with("pub") {
                imports.exported.extend(path.last().map(|name| (name.clone(), path.clone())));
            }
            imports.used.push(path);
        }
    }
    imports
}

/// Returns the module that defines an item, through re-exports.
fn definer(path: &[String], all: &BTreeMap<Module, Imports>) -> Option<Module> {
    let module = (0..=path.len()).rev().map(|length| &path[..length]).find(|part| all.contains_key(*part))?;
    let exported = path.get(module.len()).and_then(|name| all[module].exported.get(name));
    match exported.filter(|target| *target != path) {
        Some(target) => definer(target, all),
        None => Some(module.to_vec()),
    }
}

/// If `target` is a sibling of `module` or inside of a sibling, returns that sibling.
fn sibling(module: &Module, target: &Module) -> Option<Module> {
    let depth = module.len();
    let is_sibling = depth > 1
        && target.len() >= depth
        && target[..depth - 1] == module[..depth - 1]
        && target[depth - 1] != module[depth - 1];
    is_sibling.then(|| target[..depth].to_vec())
}

/// Returns a cycle through `start`, if there is one: the shortest path back to it.
fn cycle(start: &Module, edges: &BTreeMap<Module, BTreeSet<Module>>) -> Option<Vec<Module>> {
    let mut paths = vec![vec![start.clone()]];
    let mut seen = BTreeSet::new();
    let mut next = 0;
    while let Some(path) = paths.get(next).cloned() {
        next += 1;
        for target in path.last().and_then(|last| edges.get(last)).into_iter().flatten() {
            if target == start {
                return Some(path);
            }
            if seen.insert(target.clone()) {
                paths.push(path.iter().chain([target]).cloned().collect());
            }
        }
    }
    None
}

/// A test in `tidy` checks the modules directly in `src/`.
#[test]
fn siblings_do_not_import_each_other_in_a_cycle() {
    let files: Vec<(Module, String)> = files(&["src"], "rs")
        .iter()
        .map(|file| (module_of(&file.path), lines(file).map(|(_, line)| format!("{line}\n")).collect()))
        .collect();
    let modules: BTreeSet<Module> = files.iter().map(|(module, _)| module.clone()).collect();
    let all: BTreeMap<Module, Imports> = files
        .into_iter()
        .map(|(module, code)| {
            let imports = imports(&code, &module, &modules);
            (module, imports)
        })
        .collect();
    let mut edges: BTreeMap<Module, BTreeSet<Module>> = BTreeMap::new();
    for (module, imports) in &all {
        let targets = imports.used.iter().filter_map(|path| definer(path, &all));
        let siblings = targets.filter_map(|target| sibling(module, &target)).collect();
        edges.insert(module.clone(), siblings);
    }
    assert!(edges.values().map(BTreeSet::len).sum::<usize>() > 500, "most imports were not found");
    let text = |cycle: Vec<Module>| {
        let names: Vec<String> = cycle.iter().chain(cycle.first()).map(|module| module.join("/")).collect();
        names.join(" → ")
    };
    // Each cycle is reported once, from its first module.
    let found = edges.keys().filter_map(|start| cycle(start, &edges));
    let cycles: Vec<String> = found.filter(|cycle| cycle.iter().min() == cycle.first()).map(text).collect();
    assert!(cycles.is_empty(), "move the shared item to a file of its own:\n{}", cycles.join("\n"));
}

#[test]
fn a_cycle_is_found_through_a_re_export() {
    let sources = [
        ("src/a/mod.rs", "mod x;\nmod y;\npub use x::{First, Other as Second};\n"),
        ("src/a/x.rs", "use std::fmt;\nuse super::y::{\n    self, Third,\n};\n"),
        ("src/a/y.rs", "use crate::a::First;\n"),
    ];
    let modules: BTreeSet<Module> = sources.iter().map(|(path, _)| module_of(path)).collect();
    let all: BTreeMap<Module, Imports> = sources
        .iter()
        .map(|(path, code)| (module_of(path), imports(code, &module_of(path), &modules)))
        .collect();
    let module = |name: &str| vec!["a".to_owned(), name.to_owned()];
    let of = |name: &str| -> BTreeSet<Module> {
        let targets = all[&module(name)].used.iter().filter_map(|path| definer(path, &all));
        targets.filter_map(|target| sibling(&module(name), &target)).collect()
    };
    assert_eq!(of("x"), BTreeSet::from([module("y")]));
    assert_eq!(of("y"), BTreeSet::from([module("x")]));
    let edges = BTreeMap::from([(module("x"), of("x")), (module("y"), of("y"))]);
    assert_eq!(cycle(&module("x"), &edges), Some(vec![module("x"), module("y")]));
}
