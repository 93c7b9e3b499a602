//! The JSON of a program in the zip file around it.

use crate::read::zipped::{inflate, names, open};

/// No more than this is inflated, whatever the archive claims: a small file may otherwise fill the memory.
const MAX_INFLATED: u64 = 64 << 20;

/// The JSON text of the program, or why it cannot be had.
///
/// It is `NAME/models/model.json` since PyTorch 2.7, `serialized_exported_program.json` before.
pub fn program_json(bytes: &[u8]) -> Result<Vec<u8>, String> {
    inflate_program(bytes, MAX_INFLATED)
}

fn inflate_program(bytes: &[u8], max_inflated: u64) -> Result<Vec<u8>, String> {
    let mut archive = open(bytes)?;
    let names = names(&archive);
    let mut programs: Vec<&String> = names.iter().filter(|name| is_program(name)).collect();
    programs.sort();
    let name = programs.first().ok_or_else(|| what_else(&names))?;
    Ok(without_infinities(&inflate(&mut archive, name, max_inflated)?))
}

/// What an archive is in which there is no program.
fn what_else(names: &[String]) -> &'static str {
    let has_pickle = names.iter().any(|name| name.ends_with("data.pkl"));
    match names.iter().any(|name| name.contains("/code/")) {
        true if has_pickle => {
            "it is a TorchScript archive, which does not say of what type its values are: write \
             `str(traced.inlined_graph)` to a text where it is traced, and give the archive as its `--weights`"
        }
        false if has_pickle => {
            "it holds tensors, and no graph: export the module, or give it as the `--weights` of a graph that was printed"
        }
        _ => "there is no `models/*.json` in it",
    }
}

/// What Python writes beyond JSON, outside of strings: PyTorch up to 2.6 says `Infinity` of a size without a bound.
const BEYOND_JSON: [&str; 3] = ["-Infinity", "Infinity", "NaN"];

/// The JSON with `null` in the place of numbers that JSON does not have.
fn without_infinities(json: &[u8]) -> Vec<u8> {
    let mut plain = Vec::with_capacity(json.len());
    let (mut at, mut in_string) = (0, false);
    while let Some(&byte) = json.get(at) {
        let word = BEYOND_JSON.into_iter().find(|word| !in_string && json[at..].starts_with(word.as_bytes()));
        if let Some(word) = word {
            plain.extend(b"null");
            at += word.len();
            continue;
        }
        // What follows a backslash neither ends the string nor begins anything.
        let length = if in_string && byte == b'\\' { 2 } else { 1 };
        in_string ^= byte == b'"';
        plain.extend(&json[at..(at + length).min(json.len())]);
        at += length;
    }
    plain
}

fn is_program(name: &str) -> bool {
    let in_models =
        name.rsplit_once('/').is_some_and(|(folder, _)| folder == "models" || folder.ends_with("/models"));
    in_models && name.ends_with(".json") || name.ends_with("serialized_exported_program.json")
}

#[cfg(test)]
mod tests {
    use std::io::{Cursor, Write};

    use super::*;

    #[test]
    fn numbers_that_json_does_not_have() {
        let json = r#"{"max": Infinity, "min": -Infinity, "x": [NaN], "s": "Infinity \" NaN", "e": "\\"}"#;
        let plain = r#"{"max": null, "min": null, "x": [null], "s": "Infinity \" NaN", "e": "\\"}"#;
        assert_eq!(without_infinities(json.as_bytes()), plain.as_bytes());
        assert_eq!(without_infinities(b"\"\\"), b"\"\\");
    }

    /// A directory entry for a name of 30 bytes takes 76, as do the 64-bit end record and its locator.
    #[test]
    fn archives_with_64_bit_records() {
        let mut zip = zip::ZipWriter::new(Cursor::new(Vec::new()));
        for name in ["hf_mamba/data/weights/weight_0", "hf_mamba/models/model.json"] {
            zip.start_file(name, zip::write::SimpleFileOptions::default()).expect("an entry");
            zip.write_all(b"{}").expect("its content");
        }
        let mut archive = zip.finish().expect("an archive").into_inner();
        let end_record = archive.len() - 22;
        let mut records = Vec::from(*b"PK\x06\x06");
        records.resize(56, 0);
        records.extend(*b"PK\x06\x07");
        records.resize(76, 0);
        archive.splice(end_record..end_record, records);
        assert_eq!(inflate_program(&archive, 10), Ok(b"{}".to_vec()));
    }

    #[test]
    fn what_inflates_beyond_the_limit_is_refused() {
        let mut zip = zip::ZipWriter::new(Cursor::new(Vec::new()));
        zip.start_file("models/model.json", zip::write::SimpleFileOptions::default()).expect("an entry");
        zip.write_all(&[b' '; 5000]).expect("its content");
        let archive = zip.finish().expect("an archive").into_inner();
        assert_eq!(inflate_program(&archive, 5000).map(|json| json.len()), Ok(5000));
        let refused = inflate_program(&archive, 4999);
        assert_eq!(refused, Err("`models/model.json` inflates to more than 4999 bytes".to_owned()));
    }
}
