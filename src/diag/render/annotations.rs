//! Commands that GitHub and Azure Pipelines read from standard output and show as annotations.

use super::Run;
use super::group::{Group, by_line};
use super::spot::{message_at_node, spot};
use crate::diag::Level;

/// Renders GitHub workflow commands.
/// <https://docs.github.com/actions/reference/workflow-commands-for-github-actions>
pub fn github(run: Run) -> String {
    let property =
        |text: &str| escape(text, &[('%', "%25"), ('\r', "%0D"), ('\n', "%0A"), (':', "%3A"), (',', "%2C")]);
    let command = |group: &Group| {
        let finding = group.first;
        let spot = spot(finding);
        let kind = match finding.level {
            Level::Error => "error",
            Level::Warning => "warning",
            Level::Info | Level::Hint => "notice",
        };
        let mut properties = vec![format!("file={}", property(spot.file))];
        properties.extend((spot.line > 0).then(|| format!("line={}", spot.line)));
        properties.extend((spot.column > 0).then(|| format!("col={}", spot.column)));
        properties.extend(spot.end_column().map(|column| format!("endColumn={column}")));
        properties.push(format!("title={}", property(&format!("{} {}", finding.code, finding.rule))));
        let message = escape(&message_of_group(group), &[('%', "%25"), ('\r', "%0D"), ('\n', "%0A")]);
        format!("::{kind} {}::{message}\n", properties.join(","))
    };
    by_line(run.findings).iter().map(command).collect()
}

/// Returns the message of a group, with the number of further findings.
fn message_of_group(group: &Group) -> String {
    let others = group.others().map_or_else(String::new, |others| format!("\n{others}"));
    message_at_node(group.first) + &others
}

/// Renders Azure Pipelines logging commands.
/// <https://learn.microsoft.com/azure/devops/pipelines/scripts/logging-commands>
pub fn azure(run: Run) -> String {
    const MESSAGE: [(char, &str); 3] = [('%', "%AZP25"), ('\r', "%0D"), ('\n', "%0A")];
    const PROPERTY: [(char, &str); 5] =
        [('%', "%AZP25"), ('\r', "%0D"), ('\n', "%0A"), (';', "%3B"), (']', "%5D")];
    let command = |group: &Group| {
        let finding = group.first;
        let spot = spot(finding);
        let kind = match finding.level {
            Level::Error => "error",
            Level::Warning => "warning",
            // Azure has no issue type below a warning, and it counts warnings, so print lower levels as plain lines.
            Level::Info | Level::Hint => {
                let line = if spot.line > 0 { format!(":{}", spot.line) } else { String::new() };
                let text =
                    format!("{}{line}: {}[{}] {}", spot.file, finding.level, finding.code, finding.message);
                return format!("{}\n", harmless(&text));
            }
        };
        let mut properties =
            vec![format!("type={kind}"), format!("sourcepath={}", escape(spot.file, &PROPERTY))];
        properties.extend((spot.line > 0).then(|| format!("linenumber={}", spot.line)));
        properties.extend((spot.column > 0).then(|| format!("columnnumber={}", spot.column)));
        properties.push(format!("code={}", escape(&finding.code, &PROPERTY)));
        let message = escape(&message_of_group(group), &MESSAGE);
        format!("##vso[task.logissue {}]{message}\n", properties.join(";"))
    };
    by_line(run.findings).iter().map(command).collect()
}

/// Removes line breaks and splits `##`, so that no service interprets the text as a command.
fn harmless(text: &str) -> String {
    text.replace(['\r', '\n'], " ").replace("##", "# #")
}

fn escape(text: &str, table: &[(char, &str)]) -> String {
    let escaped = |char: char| table.iter().find(|(plain, _)| *plain == char).map(|(_, escape)| *escape);
    text.chars().map(|char| escaped(char).map_or_else(|| char.to_string(), str::to_owned)).collect()
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::diag::{Finding, Place};

    #[test]
    fn command_delimiters_are_escaped() {
        let mut finding = Finding::new("EXP001", "baked-shape", Level::Info, "50%\n::error::", Place::File);
        finding.file = Arc::from("a,b;c].onnx");
        let findings = [finding];
        let run = Run { files: &[], findings: &findings, pages: &[], models: &[] };
        assert_eq!(github(run), "::notice file=a%2Cb;c].onnx,title=EXP001 baked-shape::50%25%0A::error::\n");
        assert_eq!(azure(run), "a,b;c].onnx: info[EXP001] 50% ::error::\n");
        let [mut finding] = findings;
        finding.level = Level::Warning;
        let findings = [finding];
        let run = Run { files: &[], findings: &findings, pages: &[], models: &[] };
        assert_eq!(
            azure(run),
            "##vso[task.logissue type=warning;sourcepath=a,b%3Bc%5D.onnx;code=EXP001]50%AZP25%0A::error::\n"
        );
    }
}
