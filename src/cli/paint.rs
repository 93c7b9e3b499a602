//! Colored text.

use crate::diag::render::Look;

/// Style of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Style {
    Bold,
    Dim,
    Red,
    Green,
    Yellow,
    Cyan,
}

impl Style {
    /// Returns the parameter of the ANSI escape sequence that selects the style.
    fn code(self) -> u8 {
        match self {
            Style::Bold => 1,
            Style::Dim => 2,
            Style::Red => 31,
            Style::Green => 32,
            Style::Yellow => 33,
            Style::Cyan => 36,
        }
    }
}

/// Returns the text in this style if `look` has colors, else the text as it is.
pub fn paint(look: Look, style: Style, text: &str) -> String {
    match look.colour && !text.trim().is_empty() {
        true => format!("\x1b[{}m{text}\x1b[0m", style.code()),
        false => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_painted_only_with_colors() {
        let colored = Look { colour: true, ..Look::default() };
        assert_eq!(paint(colored, Style::Red, "x"), "\x1b[31mx\x1b[0m");
        assert_eq!(paint(colored, Style::Red, "  "), "  ");
        assert_eq!(paint(Look::default(), Style::Red, "x"), "x");
    }
}
