//! Tests of code replacements: the changed line after the replacement.

use super::*;
use crate::diag::{Applicability, Position};

/// Returns the text after a replacement.
fn written(text: &str, rewrite: &Rewrite) -> String {
    let offset = |at: Position| {
        let before: usize = text.split_inclusive('\n').take(at.line as usize - 1).map(str::len).sum();
        let line = &text[before..];
        before + line.chars().take(at.column as usize - 1).map(char::len_utf8).sum::<usize>()
    };
    format!("{}{}{}", &text[..offset(rewrite.start)], rewrite.text, &text[offset(rewrite.end)..])
}

/// Applies the only replacement that findings suggest for a body of `forward(self, x, k)`.
/// Checks that the finding does not occur in the replaced code.
///
/// Returns the applicability and the changed lines.
#[track_caller]
fn rewritten(body: &str) -> Option<(Applicability, String)> {
    let text = format!("{PRELUDE}{}", forward("", "x, k", body));
    let lint = |text: &str| lint(text, "net.py", &SourceFiles::default());
    let found = lint(&text);
    let rewrites: Vec<&Finding> = found.iter().filter(|finding| finding.rewrite.is_some()).collect();
    let [finding] = rewrites[..] else {
        assert!(rewrites.is_empty(), "{rewrites:?}");
        return None;
    };
    let rewrite = finding.rewrite.as_ref()?;
    let after = written(&text, rewrite);
    let line = |finding: &Finding| finding.source.as_ref().map(|source| source.line);
    let is_left = |other: &Finding| other.code == finding.code && line(other) == line(finding);
    assert!(!lint(&after).iter().any(is_left), "{after}");
    let changed: Vec<&str> =
        after.lines().filter(|line| !text.lines().any(|before| before == *line)).collect();
    Some((rewrite.applicability, changed.join("\n").trim().to_owned()))
}

#[track_caller]
fn check_rewrite(body: &str, applicability: Applicability, line: &str) {
    assert_eq!(rewritten(body), Some((applicability, line.to_owned())), "{body}");
}

#[test]
fn replacements_that_keep_the_result_are_safe() {
    for (body, line) in [
        ("n = x.shape[1]\nm = n\nn += 2\nreturn x.new_zeros(m) + n", "n = n + 2"),
        ("n = x.shape[1]\nm = n\nn *= k + 1  # all\nreturn x.new_zeros(m) + n", "n = n * (k + 1)  # all"),
        ("n = int(x.shape[1])\nreturn x.reshape(n, -1)", "n = x.shape[1]"),
        ("return x.reshape(int(x.size(1)) * 2, -1)", "return x.reshape(x.size(1) * 2, -1)"),
        ("return x[:, : int(x.shape[1] / 2)]", "return x[:, : (x.shape[1] // 2)]"),
        ("n = int(x.shape[1] / 4)\nreturn x[:, :n]", "n = x.shape[1] // 4"),
        ("x = torch.relu(x)\nreturn x.reshape(len(x), -1)", "return x.reshape(x.shape[0], -1)"),
        ("x = torch.relu(x)\nreturn x.data.max()", "return x.detach().max()"),
    ] {
        check_rewrite(body, Applicability::Safe, line);
    }
}

#[test]
fn replacements_that_may_change_the_result_are_unsafe() {
    for (body, line) in [
        ("n = torch.relu(x).max().item()\nreturn x * n", "n = torch.relu(x).max()"),
        (
            "return F.dropout(torch.relu(x), 0.5)",
            "return F.dropout(torch.relu(x), 0.5, training=self.training)",
        ),
        (
            "return F.dropout(torch.relu(x), training=True)",
            "return F.dropout(torch.relu(x), training=self.training)",
        ),
        ("x = torch.relu(x)\ny = x if x.sum() > 0 else -x\nreturn y", "y = torch.where(x.sum() > 0, x, -x)"),
        (
            "größe = torch.relu(x).max().item(); return x * größe",
            "größe = torch.relu(x).max(); return x * größe",
        ),
    ] {
        check_rewrite(body, Applicability::Unsafe, line);
    }
}

#[test]
fn code_without_a_local_replacement_is_not_rewritten() {
    for body in [
        // The operand may be negative or fractional.
        "return x[:, : int((x.shape[1] - 5) / 2)]",
        "return x[:, : int(x.shape[1] * 0.5)]",
        "return x[:, : int(x.shape[1] / k)]",
        // A replacement would lose the write in the trace.
        "x = torch.relu(x)\nx.data.mul_(2)\nreturn x",
        "x = torch.relu(x)\nx.data[0] = 0\nreturn x",
        // A replacement would make the condition a tensor.
        "x = torch.relu(x)\nif x.max().item() > 3:\n    return x\nreturn -x",
        // The finding is about only a part of the condition.
        "x = torch.relu(x)\ny = x if k and x.sum() > 0 else -x\nreturn y",
        "return F.dropout(torch.relu(x), *k)",
    ] {
        assert_eq!(rewritten(body), None, "{body}");
    }
}
