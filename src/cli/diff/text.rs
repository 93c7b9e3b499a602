//! The text output.

use super::Verdict;
use crate::cli::fix::verify::Seen;
use crate::cli::paint::{Style, paint};
use crate::diag::counted;
use crate::diag::render::Look;
use crate::diff::{Divergence, Equivalence, NodeDescription, RoundedWeights, Row, Weight};

/// The maximum number of listed outputs, operators, metadata entries and weights.
const ROWS: usize = 16;

/// Renders the verdict, the first differences, the result of `--run`, and tables.
pub fn text(result: &Verdict, look: Look) -> String {
    let mut text = headline(result, look);
    let title = |title: &str| paint(look, Style::Bold, title);
    let comparison = result.comparison;
    for difference in &comparison.interface {
        text += &format!("interface: {difference}\n");
    }
    for note in &comparison.notes {
        text += &format!("note: {note}\n");
    }
    if let Some(why) = &comparison.hindrance {
        text += &format!("not compared: {why}\n");
    }
    if !comparison.equal.is_empty() && !comparison.unequal.is_empty() {
        text += &format!("proved equal: {}\n", names(&comparison.equal));
    }
    if !comparison.unequal.is_empty() && comparison.hindrance.is_none() {
        text += &format!("not proved equal: {}\n", names(&comparison.unequal));
    }
    if !comparison.departures.is_empty() {
        text += &format!("\n{}\n", title("first differences:"));
        comparison.departures.iter().for_each(|departure| text += &told(departure, look));
        if comparison.more > 0 {
            text += &format!("  … and {}\n", counted(comparison.more, "more difference"));
        }
    }
    if !comparison.assumed.is_empty() {
        let names: Vec<String> = comparison.assumed.iter().map(|name| format!("`{name}`")).collect();
        text += &format!("assumed to compute the same in both: {}\n", names.join(", "));
    }
    if let Some(run) = &result.run {
        text += &ran(run);
    }
    text + &tables(result, look)
}

fn headline(result: &Verdict, look: Look) -> String {
    let (a, b) = (result.a, result.b);
    let other = if result.comparison.interface.is_empty() { "" } else { ", but their interfaces differ" };
    let (style, verdict) = match result.comparison.computes {
        Equivalence::Same => (Style::Green, format!("{a} and {b} are identical, node for node{other}")),
        Equivalence::Renamed => {
            (Style::Green, format!("{a} and {b} are equal except for names and order{other}"))
        }
        Equivalence::Exactly => (Style::Green, format!("{a} and {b} are equal{other}")),
        Equivalence::Rounded => (Style::Yellow, format!("{a} and {b} are equal up to rounding{other}")),
        Equivalence::Unknown => (Style::Red, format!("{a} and {b} are not proved equal")),
    };
    let how = match result.comparison.computes {
        Equivalence::Exactly => "  proved by bit-exact rules\n",
        Equivalence::Rounded => {
            "  proved by rules that may round differently, or that make assumptions about the values\n"
        }
        _ => "",
    };
    let RoundedWeights { count, largest } = result.comparison.rounded_weights;
    let weights = match count {
        0 => String::new(),
        _ => {
            let verb = if count == 1 { "differs" } else { "differ" };
            let constants = counted(count, "constant");
            format!("  {constants} {verb} by rounding, by at most {largest:.1e} of the largest element\n")
        }
    };
    format!("{}\n{how}{weights}", paint(look, style, &verdict))
}

fn names(names: &[std::sync::Arc<str>]) -> String {
    let shown: Vec<String> = names.iter().take(ROWS).map(|name| format!("`{name}`")).collect();
    let rest = names.len().saturating_sub(ROWS);
    if rest == 0 { shown.join(", ") } else { format!("{} and {rest} more", shown.join(", ")) }
}

fn told(departure: &Divergence, look: Look) -> String {
    let side = |which: &str, style: Style, told: &Option<NodeDescription>| {
        let Some(NodeDescription { node, text, .. }) = told else { return String::new() };
        format!("  {}: {text}\n     node `{node}`\n", paint(look, style, which))
    };
    let mut text = side("a", Style::Red, &departure.a) + &side("b", Style::Green, &departure.b);
    for reason in &departure.because {
        text += &format!("     = {reason}\n");
    }
    match (&departure.a, &departure.b) {
        (Some(_), None) => text + "     = b has no node that is proved equal\n",
        (None, Some(_)) => text + "     = a has no node that is proved equal\n",
        _ => text,
    }
}

fn ran(run: &Result<Seen, String>) -> String {
    let seen = match run {
        Ok(seen) => seen,
        Err(why) => return format!("not run: {why}\n"),
    };
    let by = seen.by;
    let at = |sizes: &[usize]| match seen.has_sizes {
        true => {
            let noun = if sizes.len() == 1 { "size" } else { "sizes" };
            format!(" at {noun} {}", sizes.iter().map(usize::to_string).collect::<Vec<_>>().join(", "))
        }
        false => String::new(),
    };
    let mut text = String::new();
    if !seen.equal.is_empty() {
        text += &format!("run in {by}: equal results{}, which is no proof\n", at(&seen.equal));
    }
    if let Some((_, what)) = seen.different.first() {
        let sizes: Vec<usize> = seen.different.iter().map(|(size, _)| *size).collect();
        text += &format!("run in {by}: different results{}: {what}\n", at(&sizes));
    }
    for note in &seen.notes {
        text += &format!("  {note}\n");
    }
    text
}

fn tables(result: &Verdict, look: Look) -> String {
    let table = &result.comparison.table;
    let header = Row { what: String::new(), a: Some("a".to_owned()), b: Some("b".to_owned()) };
    let mut text = format!("\n{}", rows(std::iter::once(&header).chain(&table.sizes)));
    for (title, of) in [("operators", &table.operators), ("metadata", &table.metadata)] {
        if !of.is_empty() {
            text += &format!(
                "\n{}\n{}",
                paint(look, Style::Bold, &format!("{title}:")),
                rows(of.iter().take(ROWS))
            );
            text += &rest(of.len());
        }
    }
    if !table.weights.is_empty() {
        text += &format!("\n{}\n", paint(look, Style::Bold, "weights:"));
        table.weights.iter().take(ROWS).for_each(|changed| text += &weight(changed));
        text += &rest(table.weights.len());
    }
    text
}

fn rest(count: usize) -> String {
    let rest = count.saturating_sub(ROWS);
    if rest == 0 { String::new() } else { format!("  … and {rest} more\n") }
}

/// Aligns the columns of rows.
fn rows<'r>(rows: impl Iterator<Item = &'r Row>) -> String {
    let shown = |text: &Option<String>| text.as_deref().map_or_else(|| "-".to_owned(), shortened);
    let cells: Vec<[String; 3]> = rows.map(|row| [row.what.clone(), shown(&row.a), shown(&row.b)]).collect();
    let width = |column: usize| cells.iter().map(|cells| cells[column].chars().count()).max().unwrap_or(0);
    let (what, a) = (width(0), width(1));
    let line = |[name, first, second]: &[String; 3]| format!("  {name:<what$}  {first:<a$}  {second}\n");
    cells.iter().map(line).collect()
}

/// Returns the first line of a text, cut to the width of a table column.
fn shortened(text: &str) -> String {
    const ROOM: usize = 32;
    let line = text.lines().next().unwrap_or("");
    match line.char_indices().nth(ROOM) {
        None if line.len() == text.len() => line.to_owned(),
        None => format!("{line}…"),
        Some((end, _)) => format!("{}…", &line[..end]),
    }
}

fn weight(weight: &Weight) -> String {
    let name = &weight.name;
    match (&weight.a, &weight.b) {
        (Some(a), Some(b)) if a == b => {
            let far =
                weight.largest.map_or_else(String::new, |largest| format!(", by at most {largest:.1e}"));
            format!("  `{name}` {a}: elements differ{far}\n")
        }
        (Some(a), Some(b)) => format!("  `{name}`: {a} in a, {b} in b\n"),
        (Some(a), None) => format!("  `{name}` {a}: only in a\n"),
        (None, b) => format!("  `{name}` {}: only in b\n", b.as_deref().unwrap_or("")),
    }
}
