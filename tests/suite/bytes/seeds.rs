//! Seeds for corruption: small files of every format, from this folder or derived from others.

use std::fs;
use std::path::{Path, PathBuf};

use onnx_lint::graph::Model;
use onnx_lint::read;
use onnx_lint::read::sniff::Kind;
use onnx_lint::write::onnx::{Encodable, to_json, to_textproto};
use walkdir::WalkDir;

use super::{Reader, archive, protobuf};

/// Maximum length of a seed from other tests: larger ones take too long.
const MAX_LENGTH: u64 = 3000;

/// For frequent formats, every seventh file is a seed.
const EVERY: usize = 7;

/// Number of nodes to keep of a `.pt2` archive.
const NODES: usize = 12;

/// Folder of valid TorchScript graphs, with their weights.
pub const TRACED: &str = "tests/models/traced";

/// File extensions of weights.
const STATES: [&str; 4] = [".npz", ".safetensors", ".pt", ".pth"];

/// Seeds of each format.
pub struct Seeds {
    models: Vec<Vec<u8>>,
    texts: Vec<Vec<u8>>,
    textprotos: Vec<Vec<u8>>,
    jsons: Vec<Vec<u8>>,
    archives: Vec<Vec<u8>>,
    torchscripts: Vec<Vec<u8>>,
    logs: Vec<Vec<u8>>,
    pythons: Vec<Vec<u8>>,
    externals: Vec<Vec<u8>>,
    states: Vec<Vec<u8>>,
    rules: Vec<Vec<u8>>,
    configs: Vec<Vec<u8>>,
    baselines: Vec<Vec<u8>>,
}

impl Seeds {
    /// Collects all seeds.
    pub fn collect() -> Seeds {
        let texts = own("onnxtxt");
        let models: Vec<Model> = texts.iter().map(|text| model(text)).collect();
        let made = |make: fn(&Model) -> Vec<u8>| models.iter().map(make).collect::<Vec<_>>();
        let encoded = made(|model| Encodable::new(model).encode());
        let pitfalls = existing("tests/pitfalls", ".onnx");
        Seeds {
            externals: encoded.iter().map(|model| with_external_weights(model)).collect(),
            models: encoded.into_iter().chain(pitfalls).collect(),
            textprotos: made(|model| to_textproto(model).expect("the file is writable").into_bytes()),
            jsons: made(|model| to_json(model).expect("the file is writable").into_bytes()),
            archives: programs(),
            states: STATES.iter().flat_map(|ending| whole(TRACED, ending)).collect(),
            torchscripts: [existing("tests/pitfalls", ".torchir.txt"), whole(TRACED, ".torchir.txt")]
                .concat(),
            logs: existing("tests/pitfalls", ".log"),
            pythons: classes(),
            rules: own("rule"),
            configs: own("toml"),
            baselines: own("json"),
            texts,
        }
    }

    /// Returns the seeds for a reader.
    pub fn of(&self, reader: Reader) -> &[Vec<u8>] {
        match reader {
            Reader::External => &self.externals,
            Reader::State => &self.states,
            Reader::Rules => &self.rules,
            Reader::Config => &self.configs,
            Reader::Baseline => &self.baselines,
            Reader::Evidence(Kind::OnnxText) => &self.texts,
            Reader::Evidence(Kind::Textproto) => &self.textprotos,
            Reader::Evidence(Kind::Json) => &self.jsons,
            Reader::Evidence(Kind::Pt2) => &self.archives,
            Reader::Evidence(Kind::TorchScript) => &self.torchscripts,
            Reader::Evidence(Kind::Log) => &self.logs,
            Reader::Evidence(Kind::Python) => &self.pythons,
            Reader::Evidence(_) => &self.models,
        }
    }
}

fn files(folder: &str, ending: &str) -> Vec<PathBuf> {
    let entries = WalkDir::new(Path::new(env!("CARGO_MANIFEST_DIR")).join(folder)).sort_by_file_name();
    let paths = entries.into_iter().map(|entry| entry.expect("the folder is readable").into_path());
    let found: Vec<PathBuf> = paths.filter(|path| path.to_string_lossy().ends_with(ending)).collect();
    assert!(!found.is_empty(), "{folder} has no {ending}");
    found
}

fn content(path: &Path) -> Vec<u8> {
    fs::read(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Returns the seeds with an extension in the folder `seeds` beside this file.
fn own(ending: &str) -> Vec<Vec<u8>> {
    whole("tests/suite/bytes/seeds", ending)
}

/// Returns some of the small files of other tests.
fn existing(folder: &str, ending: &str) -> Vec<Vec<u8>> {
    let files = files(folder, ending).into_iter();
    let small = files.filter(|path| path.metadata().is_ok_and(|data| (1..MAX_LENGTH).contains(&data.len())));
    small.step_by(EVERY).map(|path| content(&path)).collect()
}

/// Returns all files with an extension in a folder.
pub fn whole(folder: &str, ending: &str) -> Vec<Vec<u8>> {
    files(folder, ending).iter().map(|path| content(path)).collect()
}

/// Returns some modules of `tests/pitfalls/families`.
///
/// Each seed consists of the code before the first class of a file, and one class of that file.
fn classes() -> Vec<Vec<u8>> {
    let mut found = Vec::new();
    for path in files("tests/pitfalls/families", ".py") {
        let text = String::from_utf8(content(&path)).expect("valid UTF-8");
        let (head, classes) = text.split_once("\nclass ").unwrap_or((&text, ""));
        found.extend(classes.split("\nclass ").map(|class| format!("{head}\nclass {class}\n").into_bytes()));
    }
    found.into_iter().step_by(EVERY).collect()
}

/// Returns the first nodes of a saved program in the archive layouts of two PyTorch versions.
fn programs() -> Vec<Vec<u8>> {
    let path = files("tests/models/torch-exports", "nn_gru_unrolled.pt2").remove(0);
    let json = archive::entry(&content(&path), "model.json");
    let mut program: serde_json::Value = serde_json::from_slice(&json).expect("valid JSON");
    let graph = &mut program["graph_module"]["graph"];
    let nodes = graph["nodes"].as_array_mut().expect("the program has nodes");
    nodes.truncate(NODES);
    let short = serde_json::to_vec(&program).expect("valid JSON");
    ["net/models/model.json", "serialized_exported_program.json"]
        .map(|name| archive::of(&[("version".to_owned(), b"1".to_vec()), (name.to_owned(), short.clone())]))
        .to_vec()
}

fn model(text: &[u8]) -> Model {
    let (model, findings) = read::text::read(std::str::from_utf8(text).expect("valid UTF-8"));
    assert_eq!(findings, [], "a seed is invalid");
    model.expect("a model")
}

/// Adds initializers with data in [`super::examine::WEIGHTS`] to the model.
fn with_external_weights(model: &[u8]) -> Vec<u8> {
    let tensor = |name: &str, offset: usize, length: usize| {
        let mut tensor = Vec::new();
        protobuf::put_number(&mut tensor, 1, length as u64 / 4);
        protobuf::put_number(&mut tensor, 2, 1);
        protobuf::put_bytes(&mut tensor, 8, name.as_bytes());
        for (key, value) in [
            ("location", super::examine::WEIGHTS),
            ("offset", &offset.to_string()),
            ("length", &length.to_string()),
        ] {
            let mut entry = Vec::new();
            protobuf::put_bytes(&mut entry, 1, key.as_bytes());
            protobuf::put_bytes(&mut entry, 2, value.as_bytes());
            protobuf::put_bytes(&mut tensor, 13, &entry);
        }
        protobuf::put_number(&mut tensor, 14, 1);
        tensor
    };
    let mut graph = Vec::new();
    for (name, offset, length) in [("ew1", 0, 16), ("ew2", 16, 64), ("ew3", 80, 4)] {
        protobuf::put_bytes(&mut graph, 5, &tensor(name, offset, length));
    }
    // Protobuf merges a repeated message field, so the second graph extends the first.
    let mut model = model.to_vec();
    protobuf::put_bytes(&mut model, 7, &graph);
    model
}
