//! The table of operators and sizes of the input model and the fixed model.

use super::display::Display;
use super::operators::Operator;
use crate::cli::paint::{Style, paint};
use crate::fix::Report;

/// Maximum number of operators in the table, unless the output is verbose.
const ROWS: usize = 12;

/// Renders the numbers of nodes of `operators`, then the sizes of the model.
pub fn table(operators: &[Operator], report: &Report, display: Display) -> String {
    let shown = if display.verbose { operators.len() } else { operators.len().min(ROWS) };
    let mut rows: Vec<[String; 4]> = vec![row("", "before", "after", "")];
    let count = |name: &str, before: usize, after: usize| {
        row(name, &grouped(before), &grouped(after), &percentage(before, after))
    };
    rows.extend(
        operators[..shown].iter().map(|it| row(&it.name, &grouped(it.before), &grouped(it.after), "")),
    );
    if shown < operators.len() {
        rows.push(row(&format!("… {} more", operators.len() - shown), "", "", ""));
    }
    let first_size = rows.len();
    for (name, count_of) in
        [("nodes", Some(report.nodes)), ("initializers", report.initializers), ("bytes", report.bytes)]
    {
        rows.extend(count_of.map(|it| count(name, it.before, it.after)));
    }
    let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
    let [name, before, after, change] = [0, 1, 2, 3].map(width);
    let line = |(at, row): (usize, &[String; 4])| {
        let text = format!("{:<name$}  {:>before$}  {:>after$}  {:>change$}", row[0], row[1], row[2], row[3]);
        let style = if at == 0 { Style::Dim } else { Style::Bold };
        let is_plain = at != 0 && at < first_size;
        let text = text.trim_end();
        format!("  {}\n", if is_plain { text.to_owned() } else { paint(display.look, style, text) })
    };
    format!("\n{}", rows.iter().enumerate().map(line).collect::<String>())
}

fn row(name: &str, before: &str, after: &str, change: &str) -> [String; 4] {
    [name, before, after, change].map(str::to_owned)
}

/// Formats a count with thousands separators: `1,024`.
fn grouped(count: usize) -> String {
    let digits = count.to_string();
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// Returns the relative change, such as `-73%`; empty if the count is unchanged or was 0.
fn percentage(before: usize, after: usize) -> String {
    if before == after || before == 0 {
        return String::new();
    }
    let change = (after as f64 - before as f64) / before as f64 * 100.0;
    if change.abs() < 1.0 { format!("{change:+.1}%") } else { format!("{change:+.0}%") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_have_separators_and_changes_are_percentages() {
        assert_eq!([0, 999, 1000, 1_234_567].map(grouped), ["0", "999", "1,000", "1,234,567"]);
        assert_eq!(percentage(37, 10), "-73%");
        assert_eq!(percentage(1000, 1002), "+0.2%");
        assert_eq!([percentage(3, 3), percentage(0, 2)], ["", ""]);
    }
}
