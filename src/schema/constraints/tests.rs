use super::*;
use crate::schema;

/// Appends the names of the attributes in an expression to `found`.
fn names(expr: &Expr, found: &mut Vec<&'static str>) {
    match expr {
        Expr::Attr(name) => found.push(name),
        Expr::List(items) => items.iter().for_each(|item| names(item, found)),
        Expr::Call(_, args) => args.iter().for_each(|arg| names(arg, found)),
        Expr::Not(inner) => names(inner, found),
        Expr::Binary(_, both) => {
            names(&both.0, found);
            names(&both.1, found);
        }
        Expr::Int(_) | Expr::Text(_) | Expr::Name(_) => {}
    }
}

#[test]
fn entries_name_operators_and_attributes_of_some_version() {
    for (domain, op, entry) in
        ENTRIES.iter().flat_map(|(domain, of)| of.iter().map(move |(op, entry)| (domain, op, entry)))
    {
        let versions = schema::versions(domain, op);
        assert!(!versions.is_empty(), "unknown operator `{op}` of domain `{domain}`");
        let has = |name: &str| {
            versions.iter().any(|schema| {
                schema.attr(name).is_some() || schema.inputs.iter().any(|formal| formal.name == name)
            })
        };
        for text in &entry.texts {
            for line in parse::entry(text) {
                let line = line.unwrap_or_else(|why| panic!("{op}: {why}"));
                if let Kind::Let(variable, _) = &line.kind {
                    let hides =
                        |schema: &schema::Schema| schema.inputs.iter().any(|formal| formal.name == *variable);
                    assert!(!versions.iter().any(hides), "`{op}`: the variable `{variable}` hides an input");
                }
                let mut named = Vec::new();
                match &line.kind {
                    Kind::Holds(expr) => names(expr, &mut named),
                    Kind::Let(_, expr) => names(expr, &mut named),
                    Kind::Shape { .. } | Kind::Broadcasts { .. } => {}
                }
                line.when.iter().for_each(|when| names(when, &mut named));
                // Entries that several operators share also name attributes that only some of them have.
                let is_shared =
                    named.iter().any(|name| ["auto_pad", "dilations", "kernel_shape"].contains(name));
                for name in named.into_iter().filter(|_| !is_shared) {
                    assert!(has(name), "`{op}` has no input or attribute `{name}`");
                }
            }
        }
    }
}

#[test]
fn all_files_of_the_folder_are_read() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("src/schema/constraints");
    let names =
        std::fs::read_dir(folder).expect("the folder").map(|entry| entry.expect("a file").file_name());
    let texts = names.filter(|name| name.to_string_lossy().ends_with(".txt")).count();
    assert_eq!(texts, FILES.len());
}
