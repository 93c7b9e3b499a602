//! Detects the type of a file: of binary files by content, of text by extension and content.

/// Type of an input file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A model in binary protobuf, or a file of unknown type that the reader of such models then rejects.
    Onnx,
    /// A model in ONNX text.
    OnnxText,
    /// A model in protobuf's text format.
    Textproto,
    /// A model in protobuf's JSON format.
    Json,
    /// A zip archive, such as `torch.export.save` and `torch.jit.save` write.
    Pt2,
    /// Text that starts with a printed TorchScript graph.
    TorchScript,
    /// Log of an export, with or without printed graphs; also any other text of unknown type.
    Log,
    /// Python source.
    Python,
    /// Jupyter notebook.
    Notebook,
    /// A Git LFS pointer; the file itself was not fetched.
    LfsPointer,
    /// JSON or protobuf text, by content or extension, that is not a model.
    Other,
}

/// Number of leading bytes that determine the type.
const SAMPLE: usize = 16 << 10;

/// Returns the type of a file with this name and content.
pub fn sniff(name: &str, bytes: &[u8]) -> Kind {
    let sample = &bytes[..bytes.len().min(SAMPLE)];
    if sample.starts_with(b"PK\x03\x04") {
        return Kind::Pt2;
    }
    if sample.starts_with(b"version https://git-lfs.github.com/spec/") {
        return Kind::LfsPointer;
    }
    let extension = name.rsplit_once('.').map_or("", |(_, extension)| extension);
    if sample.is_empty() {
        // An empty `__init__.py` is valid; an empty model is not.
        return by_extension(&extension.to_ascii_lowercase()).unwrap_or(Kind::Onnx);
    }
    match text_start(sample) {
        None => Kind::Onnx,
        Some(text) => text_kind(&extension.to_ascii_lowercase(), text),
    }
}

/// Returns the sample as text, without an incomplete last character, or `None` if it is binary.
///
/// A `ModelProto` starts with a control character or contains one soon: its lengths and field numbers are
/// small.
fn text_start(sample: &[u8]) -> Option<&str> {
    let text = match std::str::from_utf8(sample) {
        Ok(text) => text,
        Err(error) if error.error_len().is_none() => {
            std::str::from_utf8(&sample[..error.valid_up_to()]).ok()?
        }
        Err(_) => return None,
    };
    // Logs contain control characters: escape starts a color, progress bars use backspace and carriage return.
    let legal = |byte: u8| byte >= 0x20 || matches!(byte, b'\t' | b'\n' | b'\r' | 0x0c | 0x1b | 0x08);
    let starts_as_protobuf = sample.first().is_none_or(|&first| first == 0x08);
    (!starts_as_protobuf && text.bytes().all(legal)).then_some(text)
}

fn text_kind(extension: &str, text: &str) -> Kind {
    match by_extension(extension) {
        Some(Kind::Textproto) if !text.lines().any(is_field_of_model) => return Kind::Other,
        Some(kind) => return kind,
        None => {}
    }
    let mut lines = text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'));
    let first = lines.next().unwrap_or("");
    if first.starts_with('<') && text.contains("ir_version") {
        Kind::OnnxText
    } else if first.starts_with('{') {
        json_kind(text)
    } else if is_field_of_model(first) {
        Kind::Textproto
    } else if first.starts_with("graph(") || first.starts_with("graph (") {
        Kind::TorchScript
    } else if extension == "onnx" {
        Kind::Onnx
    } else if extension == "json" {
        Kind::Other
    } else if is_python(text) {
        Kind::Python
    } else {
        Kind::Log
    }
}

/// Returns true if a line starts a field of `ModelProto` in protobuf's text format.
fn is_field_of_model(line: &str) -> bool {
    ["ir_version:", "opset_import", "producer_name:", "graph {", "graph: {", "graph{"]
        .iter()
        .any(|field| line.trim_start().starts_with(field))
}

/// Returns the type of a text file with this extension, if the extension determines it.
fn by_extension(extension: &str) -> Option<Kind> {
    match extension {
        "py" => Some(Kind::Python),
        "ipynb" => Some(Kind::Notebook),
        "log" => Some(Kind::Log),
        "onnxtxt" => Some(Kind::OnnxText),
        "textproto" | "pbtxt" | "prototxt" => Some(Kind::Textproto),
        _ => None,
    }
}

/// Returns [`Kind::Json`] if the text has fields of a model and is not a report, else [`Kind::Other`].
///
/// Field names may be in camel case or snake case.
fn json_kind(text: &str) -> Kind {
    let names = |words: &[&str]| words.iter().any(|word| text.contains(word));
    let of_models = ["\"irVersion\"", "\"ir_version\"", "\"opsetImport\"", "\"opset_import\""];
    let has_nodes = names(&["\"graph\""]) && names(&["\"opType\"", "\"op_type\""]);
    if names(&of_models) && !is_report(text) || has_nodes { Kind::Json } else { Kind::Other }
}

/// Returns true for a report of `onnx-fix --report`, which also contains an IR version.
fn is_report(text: &str) -> bool {
    ["\"opset\"", "\"from\"", "\"rules\""].iter().all(|name| text.contains(name))
}

/// Returns true if a line starts with a common Python statement and the text has no traceback.
fn is_python(text: &str) -> bool {
    let statement = |line: &str| {
        ["import ", "from ", "def ", "class ", "@"].iter().any(|keyword| line.starts_with(keyword))
    };
    text.lines().any(statement) && !text.contains("Traceback (most recent call last)")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(name: &str, content: impl AsRef<[u8]>, expected: Kind) {
        assert_eq!(sniff(name, content.as_ref()), expected, "{name}");
    }

    #[test]
    fn type_depends_on_content_and_extension() {
        check("a.onnx", b"\x08\x0a\x12\x07pytorch", Kind::Onnx);
        check("-", b"\x08\x0a\x12\x07pytorch", Kind::Onnx);
        check(
            "a.onnx",
            "<ir_version: 8, opset_import: [\"\": 17]>\nmain (float x) => (float y) {}",
            Kind::OnnxText,
        );
        check("a.txt", "ir_version: 8\ngraph {\n}", Kind::Textproto);
        check("a.json", "{\n \"irVersion\": \"8\"}", Kind::Json);
        check("a.json", "{\"name\": \"package\"}", Kind::Other);
        check("a.json", "{\"graph\": {\"node\": [{\"opType\": \"Relu\"}]}}", Kind::Json);
        check("a.json", "{\"graph\": {\"title\": \"sales\"}}", Kind::Other);
        check(
            "a.json",
            "{\"opset\": {\"from\": 17}, \"ir_version\": {\"from\": 8}, \"rules\": {}, \"changes\": [{\"graph\": \"main\"}]}",
            Kind::Other,
        );
        check("a.textproto", "name: \"cluster\"\nsize: 3\n", Kind::Other);
        check("a.textproto", "# a model\nir_version: 8\n", Kind::Textproto);
        check("model", b"PK\x03\x04rest", Kind::Pt2);
        check(
            "a.onnx",
            "version https://git-lfs.github.com/spec/v1\noid sha256:ab\nsize 3\n",
            Kind::LfsPointer,
        );
        check("a.torchir.txt", "graph(%x : Float(2, 3)):\n  return (%x)\n", Kind::TorchScript);
        check("-", "import torch\n\nclass M: pass\n", Kind::Python);
        check("-", "TracerWarning: Converting a tensor\n", Kind::Log);
        check("a.log", "import torch\n", Kind::Log);
        check("a.ipynb", "{\"cells\": []}", Kind::Notebook);
        check("a.onnx", "<!DOCTYPE html>", Kind::Onnx);
        check("a.onnx", "", Kind::Onnx);
    }

    #[test]
    fn text_is_recognized_if_the_sample_cuts_a_character() {
        check("a.py", format!("x{}", "ä".repeat(SAMPLE)), Kind::Python);
        check("a.py", b"\xff\xfe", Kind::Onnx);
    }
}
