//! Extracts the JSON of a program from its zip archive.

use crate::read::zipped::{inflate, names, open};

/// Maximum number of inflated bytes, unless the compressed entry is larger.
///
/// Without a limit, a small file could exhaust memory. The sizes that the archive states are not trusted.
const MAX_INFLATED: u64 = 64 << 20;

/// Returns the JSON text of the program.
///
/// The program is the entry `NAME/models/model.json` since PyTorch 2.7, and the entry
/// `serialized_exported_program.json` before.
///
/// # Errors
/// The reason as a clause for a message.
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

/// Describes an archive without a program.
fn what_else(names: &[String]) -> &'static str {
    match names.iter().any(|name| name.ends_with("data.pkl")) {
        true => {
            "the file contains tensors but no graph: export the module, or pass the file with `--weights` for a printed graph"
        }
        false => "the file has no `models/*.json`",
    }
}

/// Number literals of Python that are not valid JSON.
///
/// PyTorch up to 2.6 writes `Infinity` for unbounded sizes.
const BEYOND_JSON: [&str; 3] = ["-Infinity", "Infinity", "NaN"];

/// Replaces numbers that are not valid JSON by `null`.
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
        // An escaped character does not end the string.
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
    fn numbers_outside_of_json_become_null() {
        let json = r#"{"max": Infinity, "min": -Infinity, "x": [NaN], "s": "Infinity \" NaN", "e": "\\"}"#;
        let plain = r#"{"max": null, "min": null, "x": [null], "s": "Infinity \" NaN", "e": "\\"}"#;
        assert_eq!(without_infinities(json.as_bytes()), plain.as_bytes());
        assert_eq!(without_infinities(b"\"\\"), b"\"\\");
    }

    /// The directory entry of a name of 30 bytes takes 76 bytes, as many as the 64-bit end record with its
    /// locator.
    #[test]
    fn archives_with_64_bit_records_are_read() {
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
    fn a_program_larger_than_the_limit_is_an_error() {
        let mut zip = zip::ZipWriter::new(Cursor::new(Vec::new()));
        zip.start_file("models/model.json", zip::write::SimpleFileOptions::default()).expect("an entry");
        zip.write_all(&[b' '; 5000]).expect("its content");
        let archive = zip.finish().expect("an archive").into_inner();
        assert_eq!(inflate_program(&archive, 5000).map(|json| json.len()), Ok(5000));
        let refused = inflate_program(&archive, 4999);
        assert_eq!(refused, Err("`models/model.json` inflates to more than 4999 bytes".to_owned()));
    }
}
