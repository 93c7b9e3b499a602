//! Summary line of a run.

use crate::diag::{Applicability, Finding, Level};

/// Returns `Found 3 errors and 1 warning (2 fixable with onnx-fix, 1 more with --unsafe-fixes).`
pub fn summary(findings: &[Finding]) -> String {
    let counts = Level::ALL.into_iter().rev().filter_map(|level| counted(findings, level));
    let counts: Vec<String> = counts.collect();
    match counts.split_last() {
        None => "All checks passed.".to_owned(),
        Some((last, [])) => format!("Found {last}{}.", fixable(findings)),
        Some((last, rest)) => format!("Found {} and {last}{}.", rest.join(", "), fixable(findings)),
    }
}

fn counted(findings: &[Finding], level: Level) -> Option<String> {
    match findings.iter().filter(|finding| finding.level == level).count() {
        0 => None,
        count if level == Level::Info => Some(format!("{count} info")),
        1 => Some(format!("1 {level}")),
        count => Some(format!("{count} {level}s")),
    }
}

fn fixable(findings: &[Finding]) -> String {
    let count = |applicability| {
        let fixes = findings.iter().filter_map(|finding| finding.fix.as_ref());
        fixes.filter(|fix| fix.applicability == applicability).count()
    };
    match (count(Applicability::Safe), count(Applicability::Unsafe)) {
        (0, 0) => String::new(),
        (safe, 0) => format!(" ({safe} fixable with onnx-fix)"),
        (0, more) => format!(" ({more} fixable with onnx-fix --unsafe-fixes)"),
        (safe, more) => format!(" ({safe} fixable with onnx-fix, {more} more with --unsafe-fixes)"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diag::Place;

    fn check(levels: &[(Level, Option<Applicability>)], expected: &str) {
        let finding = |(level, fix): &(Level, Option<Applicability>)| {
            let finding = Finding::new("EXP001", "baked-shape", *level, "", Place::File);
            fix.map_or_else(|| finding.clone(), |applicability| finding.clone().fix(applicability, ""))
        };
        let findings: Vec<Finding> = levels.iter().map(finding).collect();
        assert_eq!(summary(&findings), expected);
    }

    #[test]
    fn counts_levels_and_fixes() {
        use Applicability::{Safe, Unsafe};
        use Level::{Error, Hint, Info, Warning};
        check(&[], "All checks passed.");
        check(&[(Hint, None)], "Found 1 hint.");
        check(&[(Info, None), (Info, None)], "Found 2 info.");
        check(
            &[(Error, Some(Safe)), (Error, Some(Unsafe)), (Warning, Some(Safe)), (Error, None)],
            "Found 3 errors and 1 warning (2 fixable with onnx-fix, 1 more with --unsafe-fixes).",
        );
        check(
            &[(Warning, Some(Unsafe)), (Hint, None), (Hint, None), (Error, None)],
            "Found 1 error, 1 warning and 2 hints (1 fixable with onnx-fix --unsafe-fixes).",
        );
    }
}
