//! Removal of terminal colors, and of line prefixes of CI systems and launchers, from a log.

use std::borrow::Cow;

/// Returns `text` without terminal escapes and line prefixes. Line numbers do not change.
pub fn plain(text: &str) -> Cow<'_, str> {
    let prefixed = text.lines().take(PROFILED_LINES).any(|line| prefix_length(line) > 0);
    if !prefixed && !text.contains(['\u{1b}', '\r']) {
        return Cow::Borrowed(text);
    }
    let mut plain = String::with_capacity(text.len());
    for line in text.split_inclusive('\n') {
        push_without_escapes(&mut plain, &line[prefix_length(line)..]);
    }
    Cow::Owned(plain)
}

/// Number of lines searched for a prefix.
const PROFILED_LINES: usize = 200;

/// Returns the length of the prefix of a line in bytes.
///
/// Prefixes are `2026-01-31T12:00:00.1234567Z ` (GitHub) and `[rank0]: ` (torchrun).
fn prefix_length(line: &str) -> usize {
    let stamp = timestamp_length(line);
    let rest = &line[stamp..];
    let rank = rest.strip_prefix("[rank").and_then(|rest| rest.split_once("]: "));
    match rank {
        Some((number, _)) if number.bytes().all(|byte| byte.is_ascii_digit()) => {
            stamp + "[rank".len() + number.len() + "]: ".len()
        }
        _ => stamp,
    }
}

fn timestamp_length(line: &str) -> usize {
    let Some((stamp, _)) = line.split_once("Z ") else { return 0 };
    let is_stamp = stamp.len() >= "2026-01-31T12:00:00".len()
        && stamp.bytes().all(|byte| byte.is_ascii_digit() || b"-:.T".contains(&byte))
        && stamp.as_bytes().get(10) == Some(&b'T');
    if is_stamp { stamp.len() + "Z ".len() } else { 0 }
}

/// Appends `line` without `ESC [ … letter` sequences.
///
/// Carriage returns of a progress bar become spaces; those at the end of the line are removed.
fn push_without_escapes(plain: &mut String, line: &str) {
    let mut rest = line;
    while let Some(at) = rest.find(['\u{1b}', '\r']) {
        plain.push_str(&rest[..at]);
        let escape = rest.as_bytes()[at] == 0x1b;
        rest = &rest[at + 1..];
        if !escape {
            plain.push_str(if rest.trim_end().is_empty() { "" } else { " " });
        } else if let Some(sequence) = rest.strip_prefix('[') {
            let end = sequence.find(|c: char| c.is_ascii_alphabetic()).map_or(sequence.len(), |end| end + 1);
            rest = &sequence[end..];
        }
    }
    plain.push_str(rest);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: &str) {
        assert_eq!(plain(text), expected);
    }

    #[test]
    fn colors_and_prefixes_are_removed() {
        check("plain\ntext", "plain\ntext");
        check("This is \u{1b}[96mstep 1/3\u{1b}[0m of\r\nit", "This is step 1/3 of\nit");
        check("\u{1b}[", "");
        check("50%\r/app/net.py:3: TracerWarning: x", "50% /app/net.py:3: TracerWarning: x");
        check("2026-01-31T12:00:00.1234567Z Traceback\n2026-01-31T12:00:00.1Z   File", "Traceback\n  File");
        check("[rank0]: Traceback", "Traceback");
        check("[rank x]: Traceback", "[rank x]: Traceback");
    }
}
