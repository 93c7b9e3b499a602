//! Exceptions in a log: Python tracebacks, their causes, and exceptions without a traceback.

use std::ops::Range;

use super::rejected::ONNX_RUNTIME;
use crate::source::{Frame, frames, is_library};

/// An exception printed by Python.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure<'a> {
    /// Class of the exception, such as `torch.onnx.errors.UnsupportedOperatorError`; empty if unknown.
    pub class: &'a str,
    /// Message, which may have many lines.
    pub message: &'a str,
    /// Stack, outermost frame first; empty without a traceback.
    pub stack: &'a str,
    /// 0-based line of the log that names the class.
    pub log_line: usize,
    /// 0-based lines of the log from the traceback to the end of the message.
    pub lines: Range<usize>,
}

/// Chained exceptions, root cause first.
pub type Chain<'a> = Vec<Failure<'a>>;

/// Maximum number of lines of a message. The longest messages of PyTorch have about 60 lines.
const MAX_MESSAGE_LINES: usize = 200;

const TRACEBACK: &str = "Traceback (most recent call last):";

/// Texts between two chained exceptions.
const LINKS: [&str; 2] =
    ["The above exception was the direct cause of the following", "During handling of the above exception"];

/// Returns the exceptions in `lines`, grouped into chains. `lines` are consecutive slices of `text`.
pub fn chains<'a>(text: &'a str, lines: &[&'a str]) -> Vec<Chain<'a>> {
    let mut chains: Vec<Chain<'a>> = Vec::new();
    let mut linked = false;
    let mut at = 0;
    while at < lines.len() {
        let line = lines[at];
        if line.is_empty() {
            at += 1;
        } else if LINKS.iter().any(|link| line.contains(link)) {
            linked = true;
            at += 1;
        } else if line.contains(TRACEBACK) {
            let (failure, next) = traceback(text, lines, at);
            push(&mut chains, failure, linked);
            linked = false;
            at = next;
        } else if let Some(failure) = alone(line, at) {
            let failure = with_constraints(text, lines, failure);
            at = failure.lines.end;
            push(&mut chains, failure, false);
        } else {
            at += 1;
        }
    }
    chains
}

fn push<'a>(chains: &mut Vec<Chain<'a>>, failure: Failure<'a>, linked: bool) {
    match chains.last_mut().filter(|_| linked) {
        Some(chain) => chain.push(failure),
        None => chains.push(vec![failure]),
    }
}

/// Parses the traceback at line `start`; also returns the number of the line after its message.
fn traceback<'a>(text: &'a str, lines: &[&'a str], start: usize) -> (Failure<'a>, usize) {
    let line = lines[start];
    // If a message precedes the traceback (`Original exception Traceback …`), the indentation of the line is that of
    // the traceback.
    let before = line.find(TRACEBACK).map_or("", |at| &line[..at]);
    let is_sentence = before.contains("exception");
    let indent = if is_sentence { line.len() - line.trim_start().len() } else { before.len() };
    let body = lines[start + 1..].iter().position(|line| is_class_line(line, indent));
    let class_at = body.map_or(lines.len(), |length| start + 1 + length);
    let stack = join(text, &lines[start + 1..class_at]);
    let Some(class_line) = lines.get(class_at) else {
        let lines = start..lines.len();
        let end = lines.end;
        return (Failure { class: "", message: "", stack, log_line: start, lines }, end);
    };
    let rest = &lines[class_at + 1..];
    let length = rest.iter().take(MAX_MESSAGE_LINES).position(|line| ends_message(line));
    let end = class_at + 1 + length.unwrap_or(rest.len().min(MAX_MESSAGE_LINES));
    let (class, first) = split_class(class_line);
    let whole = join(text, &lines[class_at..end]);
    let message = &whole[class_line.len() - first.len()..];
    let message = message.trim_end();
    (Failure { class, message, stack, log_line: class_at, lines: start..end }, end)
}

/// Returns true if a line may name the exception class: it is not indented deeper than the traceback.
fn is_class_line(line: &str, indent: usize) -> bool {
    let depth = line.len() - line.trim_start().len();
    !line.trim().is_empty() && depth <= indent && !line.trim_start().starts_with("File \"")
}

fn ends_message(line: &str) -> bool {
    let is_next = |failure: Failure| failure.class.contains('.') && !line.starts_with(char::is_whitespace);
    line.contains(TRACEBACK)
        || alone(line, 0).is_some_and(is_next)
        || LINKS.iter().any(|link| line.contains(link))
        || line.starts_with("graph(")
        || line.starts_with("Exported graph:")
}

/// Splits `SomeError: message` into class and message, which may be empty.
fn split_class(line: &str) -> (&str, &str) {
    let (class, message) = line.split_once(": ").unwrap_or((line.trim_end().trim_end_matches(':'), ""));
    let dotted = class.trim().bytes().all(|byte| byte.is_ascii_alphanumeric() || b"._".contains(&byte));
    if dotted { (class.trim(), message) } else { ("", line) }
}

/// Parses an exception without a traceback.
///
/// Loggers (`[ERROR] package.SomeError: …`) and pytest (`E   SomeError: …`) print exceptions in this form.
fn alone(line: &str, at: usize) -> Option<Failure<'_>> {
    let text = line.strip_prefix("E  ").unwrap_or(line).trim_start();
    let (class, message) = text.split_once(": ")?;
    let class = class.rsplit(' ').next().filter(|class| class.contains('.')).unwrap_or(class);
    let last = class.rsplit('.').next()?;
    let named = ["Error", "Exception", "SymNode"].iter().any(|end| last.ends_with(end))
        || message.starts_with(ONNX_RUNTIME);
    let dotted = class.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"._".contains(&byte));
    let failure = Failure { class, message, stack: "", log_line: at, lines: at..at + 1 };
    (named && dotted).then_some(failure)
}

/// Adds the lines of violated constraints and suggested fixes to the message of an exception.
fn with_constraints<'a>(text: &'a str, lines: &[&'a str], failure: Failure<'a>) -> Failure<'a> {
    if !failure.message.starts_with("Constraints violated") {
        return failure;
    }
    let at = failure.log_line;
    let belongs = |line: &&&str| line.starts_with([' ', '\t']) || line.starts_with("Suggested fixes:");
    let count = lines[at + 1..].iter().take(MAX_MESSAGE_LINES).take_while(belongs).count();
    let whole = join(text, &lines[at..=at + count]);
    let message = &whole[lines[at].len() - failure.message.len()..];
    Failure { message, lines: at..at + 1 + count, ..failure }
}

/// Joins consecutive lines of `text` to one slice.
fn join<'a>(text: &'a str, lines: &[&'a str]) -> &'a str {
    let offset = |line: &str| line.as_ptr() as usize - text.as_ptr() as usize;
    match (lines.first(), lines.last()) {
        (Some(first), Some(last)) => text.get(offset(first)..offset(last) + last.len()).unwrap_or(""),
        _ => "",
    }
}

/// Texts in messages of PyTorch that precede a stack of the user's code.
const USER_STACKS: [&str; 5] = [
    "The following call raised this error:",
    "from user code:",
    "User stack:",
    "User Stack (most recent call last):",
    "(node defined in ",
];

impl Failure<'_> {
    /// Returns the stack frame in the code of the model.
    ///
    /// If the message contains a user frame, returns this frame; otherwise, returns the innermost user frame
    /// that PyTorch called. User frames that PyTorch did not call belong to the export script.
    pub fn model_frame(&self) -> Option<Frame> {
        let named = USER_STACKS.iter().filter_map(|mark| self.message.split_once(mark));
        let named = named.filter_map(|(_, stack)| frames(stack).into_iter().find(|f| !is_library(&f.file)));
        named.chain(self.called_frame()).next()
    }

    /// Returns the user frames of the stack, which include the script that ran the export.
    pub fn callers(&self) -> Vec<Frame> {
        frames(self.stack).into_iter().filter(|frame| !is_library(&frame.file)).collect()
    }

    fn called_frame(&self) -> Option<Frame> {
        let stack = frames(self.stack);
        let entered = stack.iter().rposition(|frame| is_library(&frame.file))?;
        stack[..entered].iter().find(|frame| !is_library(&frame.file)).cloned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Compares each chain with `Class: message at file:line`, with exceptions joined by `<-`.
    fn check(text: &str, expected: &[&str]) {
        let lines: Vec<&str> = text.lines().collect();
        let found: Vec<String> = chains(text, &lines)
            .iter()
            .map(|chain| chain.iter().map(show).collect::<Vec<_>>().join(" <- "))
            .collect();
        assert_eq!(found, expected);
    }

    fn show(failure: &Failure) -> String {
        let frame = failure.model_frame().map(|f| format!(" at {}:{}", f.file, f.line)).unwrap_or_default();
        format!("{}: {}{frame}", failure.class, failure.message.lines().next().unwrap_or(""))
    }

    const TORCH: &str = "/venv/lib/python3.11/site-packages/torch";

    #[test]
    fn chained_exceptions_are_joined() {
        let text = format!(
            "Traceback (most recent call last):\n  File \"/app/export.py\", line 5, in main\n    go()\n  \
             File \"{TORCH}/export/__init__.py\", line 1, in export\n    raise e\n  \
             File \"/app/net.py\", line 66, in forward\n    if x.sum() > 0:\n       ^^^\n  \
             File \"{TORCH}/fx/proxy.py\", line 2, in guard\n    no\nValueError: first\nmore\n\n\
             The above exception was the direct cause of the following exception:\n\n\
             Traceback (most recent call last):\n  File \"/app/export.py\", line 5, in main\n    go()\n\
             torch.onnx.Oops: second\n"
        );
        check(&text, &["ValueError: first at /app/net.py:66 <- torch.onnx.Oops: second"]);
    }

    #[test]
    fn frame_in_the_message_takes_precedence() {
        let text = "Traceback (most recent call last):\n  File \"/app/export.py\", line 5, in main\n    go()\n\
                    A.B: no\n\nfrom user code:\n   File \"/app/net.py\", line 9, in forward\n    y = int(k)\n";
        check(text, &["A.B: no at /app/net.py:9"]);
        let text = "Traceback (most recent call last):\n  File \"/app/export.py\", line 5, in main\n    go()\n\
                    SymbolicValueError: no [Caused by '%1']\n    (node defined in /app/net.py(12): forward\n";
        check(text, &["SymbolicValueError: no [Caused by '%1'] at /app/net.py:12"]);
    }

    #[test]
    fn truncated_tracebacks_and_single_exceptions_are_read() {
        check("Traceback (most recent call last):\n  File \"/app/net.py\", line 5, in f\n    go()", &[": "]);
        check("Traceback (most recent call last):", &[": "]);
        check("E   RuntimeError: Couldn't export", &["RuntimeError: Couldn't export"]);
        check("an Error: of no class\nerrors: 3", &[]);
        check("[ERROR] a.b.SomeError: no", &["a.b.SomeError: no"]);
        let two = "Traceback (most recent call last):\n  File \"/app/net.py\", line 5, in f\nA.BError: no\nmore\n\
                   make: *** [export] Error 1\nC.DError: neither\n";
        check(two, &["A.BError: no", "C.DError: neither"]);
        check(
            "  Traceback (most recent call last):\n    File \"a.py\", line 1, in f\n  KeyError",
            &["KeyError: "],
        );
    }
}
