//! ONNX text: what it can say of a model comes back from it.

use onnx_lint::{read, write};

use crate::models;

#[test]
fn models_come_back_from_their_text() {
    for path in models::all() {
        let (model, _) = read::onnx::read(models::bytes(&path));
        let text = write::text::write(&model.unwrap_or_else(|| panic!("{}: not read", path.display())));
        let (again, findings) = read::text::read(&text);
        assert_eq!(findings, [], "{}", path.display());
        let again = again.unwrap_or_else(|| panic!("{}: its text is not read", path.display()));
        assert!(write::text::write(&again) == text, "{}: the text differs", path.display());
    }
}
