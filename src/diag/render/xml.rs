//! Helpers for the XML formats.

use quick_xml::Writer;
use quick_xml::events::{BytesDecl, Event};

/// Creates an XML document; `body` writes the contents of the document. Writing to memory cannot fail.
pub fn document(body: impl FnOnce(&mut Writer<Vec<u8>>) -> std::io::Result<()>) -> String {
    let mut writer = Writer::new_with_indent(Vec::new(), b' ', 2);
    writer
        .write_event(Event::Decl(BytesDecl::new("1.0", Some("UTF-8"), None)))
        .and_then(|()| body(&mut writer))
        .expect("writing to memory cannot fail");
    let mut text = String::from_utf8(writer.into_inner()).expect("only strings were written");
    text.push('\n');
    text
}

/// Replaces the characters that XML 1.0 forbids even when escaped, and other control characters.
///
/// Keeps tabs and line ends.
pub fn legal(text: &str) -> String {
    let allowed = |char: char| match char {
        '\t' | '\n' | '\r' => true,
        '\u{fffe}' | '\u{ffff}' => false,
        char => !char.is_control(),
    };
    text.chars().map(|char| if allowed(char) { char } else { '\u{fffd}' }).collect()
}
