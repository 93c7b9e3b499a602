//! Parser of the message of a `ConstraintViolationError`: axes, guards and suggested fixes.

use super::words::after;

/// Maximum number of further violations, and of suggested fixes, to report for each exception.
const MAX_TOLD: usize = 8;

/// A condition on a size that the declared range of the axis does not guarantee.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Guard {
    /// Name of the axis in the exporter: `seq = x.shape[1]`.
    pub axis: String,
    /// Condition: `2 <= x.shape[1] and x.shape[1] <= 8`.
    pub condition: String,
}

/// Returns the first guard in a message.
pub fn guard(message: &str) -> Option<Guard> {
    lines(message).find_map(of_guard)
}

fn of_guard(line: &str) -> Option<Guard> {
    let (axis, rest) = after(line, "Not all values of ")?.split_once(" in the specified range")?;
    let condition = after(rest, "satisfy the generated guard ")?.trim_end_matches('.');
    Some(Guard { axis: plain(axis), condition: plain(condition) })
}

/// Returns two axes that must be equal: `b = y.shape[0]` and `a = x.shape[0]`.
pub fn equal(text: &str) -> Option<(String, String)> {
    let sentence = after(text, "The values of ")?.lines().next()?;
    let (one, other) = sentence.split_once(" must always be equal")?.0.split_once(" and ")?;
    Some((plain(one), plain(other)))
}

/// Describes all violations except for the first, which the main message describes.
pub fn others(message: &str) -> Vec<String> {
    let fixed = lines(message).filter_map(fixed);
    let guards = lines(message).filter_map(of_guard).map(|guard| guard.in_words());
    let equal = lines(message).filter_map(equal).map(|(one, other)| format!("`{one}` must equal `{other}`"));
    let mut told: Vec<String> = Vec::new();
    for words in fixed.chain(guards).chain(equal) {
        if !told.contains(&words) {
            told.push(words);
        }
    }
    told.into_iter().skip(1).take(MAX_TOLD).collect()
}

impl Guard {
    /// Describes the guard.
    pub fn in_words(&self) -> String {
        format!("`{}` must satisfy `{}`", self.axis, self.condition)
    }
}

/// Describes the only possible size of a dynamic axis, as stated in a line of the message.
///
/// The line is `You marked L['x'].size()[1] as dynamic but your code specialized it to be a constant (2)`.
fn fixed(line: &str) -> Option<String> {
    let (axis, rest) = after(line, "You marked ")?.split_once(" as dynamic")?;
    let size = after(rest, "to be a constant (")?.split(')').next()?;
    Some(format!("`{}` must be {size}", plain(axis)))
}

/// Returns the suggested fixes: `seq = Dim('seq', max=8)`.
pub fn suggested(message: &str) -> Vec<String> {
    let fixes = after(message, "Suggested fixes:").into_iter().flat_map(|rest| rest.lines().skip(1));
    fixes.take_while(|line| line.contains(" = ")).map(|line| line.trim().to_owned()).take(MAX_TOLD).collect()
}

fn lines(message: &str) -> impl Iterator<Item = &str> {
    message.lines().filter(|line| line.trim_start().starts_with("- "))
}

/// Rewrites sizes of inputs as Python expressions: `L['x'].size()[1]` as `x.shape[1]`.
fn plain(text: &str) -> String {
    text.replace("L['", "").replace("']", "").replace(".size()[", ".shape[").trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    const MESSAGE: &str = "Constraints violated (batch, seq)! For more information\n  \
        - You marked batch as dynamic but your code specialized it to be a constant (2). If you\n  \
        - You marked batch as dynamic but your code specialized it to be a constant (2). If you\n  \
        - Not all values of seq = L['x'].size()[1] in the specified range seq <= 64 satisfy the generated guard \
        9 <= L['x'].size()[1] and L['x'].size()[1] <= 64\n  \
        - The values of b = L['y'].size()[0] and a = L['x'].size()[0] must always be equal.\n\
        Suggested fixes:\n  seq = Dim('seq', min=9, max=64)\n  b = a\n\nThe error above";

    #[test]
    fn all_violations_are_described() {
        let guard = guard(MESSAGE).unwrap();
        assert_eq!(
            guard.in_words(),
            "`seq = x.shape[1]` must satisfy `9 <= x.shape[1] and x.shape[1] <= 64`"
        );
        let equal = "`b = y.shape[0]` must equal `a = x.shape[0]`";
        assert_eq!(others(MESSAGE), [guard.in_words().as_str(), equal]);
        assert_eq!(suggested(MESSAGE), ["seq = Dim('seq', min=9, max=64)", "b = a"]);
        assert_eq!(others("some other message"), [""; 0]);
    }
}
