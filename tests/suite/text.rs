//! ONNX text: a model that is written, read and written again has the same text.

use onnx_lint::{read, write};

use crate::models;

#[test]
fn text_round_trip_preserves_models() {
    for path in models::all() {
        let (model, _) = read::onnx::read(models::bytes(&path));
        let text = write::text::write(&model.unwrap_or_else(|| panic!("{}: unreadable", path.display())));
        let (again, findings) = read::text::read(&text);
        assert_eq!(findings, [], "{}", path.display());
        let again = again.unwrap_or_else(|| panic!("{}: its text is unreadable", path.display()));
        assert!(write::text::write(&again) == text, "{}: the text differs", path.display());
    }
}
