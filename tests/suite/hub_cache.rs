//! A cache in the layout of Hugging Face: models and their external data are links to named blobs.

#![cfg(unix)]

use std::collections::BTreeSet;
use std::os::unix::fs::symlink;

use crate::tool::{Ran, Sandbox};

/// Size of each of the weights `w` and `v`: 12 float32 numbers.
const BYTES: usize = 48;

/// Opsets of the models of each layout.
const OPSETS: [u32; 5] = [13, 15, 16, 17, 18];

/// Storage of the weights in the repository of a model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Layout {
    /// The weights are in the model.
    Inline,
    /// The weights are in one file beside the model.
    Single,
    /// The weights are in one file for each tensor.
    Shards,
    /// The weights are in one file beside the model, both in a folder of the snapshot.
    Folder,
    /// The weights are in a safetensors file, after its header.
    Safetensors,
    /// The weights are in a folder below the folder of the model.
    Below,
}

const LAYOUTS: [Layout; 6] =
    [Layout::Inline, Layout::Single, Layout::Shards, Layout::Folder, Layout::Safetensors, Layout::Below];

/// Returns the elements of `w`, which are 0 to 11, or those of `v`, which are 100 to 111.
fn elements(first: u8) -> Vec<u8> {
    (first..first + 12).flat_map(|element| f32::from(element).to_le_bytes()).collect()
}

fn reference(location: &str, offset: usize) -> String {
    format!("[\"location\": \"{location}\", \"offset\": \"{offset}\", \"length\": \"{BYTES}\"]")
}

/// Returns a model whose Reshape hard-codes a batch of 2.
fn model(opset: u32, w: &str, v: &str) -> String {
    format!(
        "<ir_version: 8, opset_import: [\"\" : {opset}]>\nnet (float[batch,3,4] x) => (float[2,12] y) \
         <int64[2] s = {{2,12}}, float[12] w = {w}, float[12] v = {v}> {{\n  r = Reshape (x, s)\n  \
         a = Add (r, w)\n  y = Mul (a, v)\n}}\n"
    )
}

/// Returns a safetensors file with both weights, and the offset of the first.
fn safetensors() -> (Vec<u8>, usize) {
    let entry = |from: usize| {
        format!("{{\"dtype\":\"F32\",\"shape\":[12],\"data_offsets\":[{from},{}]}}", from + BYTES)
    };
    let header = format!("{{\"w\":{},\"v\":{}}}", entry(0), entry(BYTES));
    let parts = [&(header.len() as u64).to_le_bytes()[..], header.as_bytes(), &elements(0), &elements(100)];
    (parts.concat(), 8 + header.len())
}

/// A repository in the cache, which gets its files one by one.
struct Repository<'s> {
    sandbox: &'s Sandbox,
    name: String,
    blobs: usize,
}

impl Repository<'_> {
    /// Writes a blob with a numbered name, and adds a link to it. (The hub names blobs by a hash.)
    fn add(&mut self, name: &str, content: &[u8]) -> String {
        let blob = format!("{:040x}", self.blobs);
        self.blobs += 1;
        self.sandbox.write(&format!("{}/blobs/{blob}", self.name), content);
        let up = "../".repeat(2 + name.matches('/').count());
        self.link(name, &format!("{up}blobs/{blob}"))
    }

    /// Adds a link to the snapshot, and returns the path of the link.
    fn link(&self, name: &str, target: &str) -> String {
        let name = format!("{}/snapshots/c0ffee/{name}", self.name);
        let path = self.sandbox.path(&name);
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        symlink(target, path).expect("a link");
        name
    }
}

/// Adds a repository with a model, and returns the path of the model.
fn add_model(sandbox: &Sandbox, layout: Layout, opset: u32) -> String {
    let name = format!("hub/models--org--{layout:?}-{opset}");
    let mut repository = Repository { sandbox, name, blobs: 0 };
    let whole = [elements(0), elements(100)].concat();
    let (from, data) = match layout {
        Layout::Inline => {
            let list = |first: u8| {
                format!("{{{}}}", (first..first + 12).map(|e| e.to_string()).collect::<Vec<_>>().join(","))
            };
            return repository.add("model.onnxtxt", model(opset, &list(0), &list(100)).as_bytes());
        }
        Layout::Shards => {
            repository.add("model.onnx_data", &elements(0));
            repository.add("model.onnx_data_1", &elements(100));
            let (w, v) = (reference("model.onnx_data", 0), reference("model.onnx_data_1", 0));
            return repository.add("model.onnxtxt", model(opset, &w, &v).as_bytes());
        }
        Layout::Safetensors => {
            let (bytes, from) = safetensors();
            repository.add("model.safetensors", &bytes);
            (from, "model.safetensors")
        }
        Layout::Single => {
            repository.add("model.onnx_data", &whole);
            (0, "model.onnx_data")
        }
        Layout::Folder => {
            repository.add("onnx/model.onnx_data", &whole);
            (0, "model.onnx_data")
        }
        Layout::Below => {
            repository.add("weights/model.bin", &whole);
            (0, "weights/model.bin")
        }
    };
    let (w, v) = (reference(data, from), reference(data, from + BYTES));
    let file = if layout == Layout::Folder { "onnx/model.onnxtxt" } else { "model.onnxtxt" };
    repository.add(file, model(opset, &w, &v).as_bytes())
}

/// Returns the bytes of the external tensor `name`; `text` is the model, and `folder` contains it.
fn external(sandbox: &Sandbox, folder: &str, text: &str, name: &str) -> Option<Vec<u8>> {
    let entry = |key: &str| {
        let (_, rest) = text.split_once(&format!("{name} = ["))?;
        let (_, value) = rest.split_once(']')?.0.split_once(&format!("\"{key}\": \""))?;
        value.split('"').next()
    };
    let from: usize = entry("offset")?.parse().ok()?;
    Some(sandbox.read(&format!("{folder}/{}", entry("location")?))[from..from + BYTES].to_vec())
}

/// Returns the code and the file of each finding.
fn findings(ran: &Ran) -> BTreeSet<(String, String)> {
    let findings: Vec<serde_json::Value> = serde_json::from_str(&ran.stdout).expect("JSON");
    let text = |value: &serde_json::Value| value.as_str().expect("a string").to_owned();
    findings.iter().map(|finding| (text(&finding["code"]), text(&finding["file"]))).collect()
}

#[test]
fn every_model_of_a_hub_cache_is_linted_and_fixed() {
    let sandbox = Sandbox::new(&[]);
    let models: Vec<String> =
        LAYOUTS.iter().flat_map(|layout| OPSETS.map(|opset| add_model(&sandbox, *layout, opset))).collect();
    assert_eq!(models.len(), 30);
    let ran = sandbox.lint(&["hub", "--output-format", "json"]);
    assert_eq!((ran.status, &*ran.stderr), (1, ""), "{ran:?}");
    let expected = models.iter().map(|path| ("EXP001".to_owned(), path.clone())).collect();
    assert_eq!(findings(&ran), expected);
    for (index, path) in models.iter().enumerate() {
        let folder = format!("out/{index}");
        std::fs::create_dir_all(sandbox.path(&folder)).expect("a folder");
        let fixed = format!("{folder}/fixed.onnxtxt");
        let ran = sandbox.fix(&[path, "-o", &fixed]);
        assert_eq!(ran.status, 0, "{path}: {ran:?}");
        let text = String::from_utf8(sandbox.read(&fixed)).expect("UTF-8");
        assert!(text.contains("{0,12}"), "{path}: {text}");
        if !path.contains("Inline") {
            for (name, first) in [("w", 0), ("v", 100)] {
                let bytes = external(&sandbox, &folder, &text, name);
                assert_eq!(bytes, Some(elements(first)), "{path}: {text}");
            }
        }
        let ran = sandbox.lint(&[&fixed]);
        assert_eq!((ran.status, &*ran.stdout), (0, "All checks passed.\n"), "{path}: {ran:?}");
    }
}

/// Locations that a model must not read, with the name and target of the link that each needs.
fn escapes(sandbox: &Sandbox) -> [(String, Option<(&'static str, String)>); 10] {
    let secret = sandbox.path("secret/w.bin").to_string_lossy().into_owned();
    let link = |name: &'static str, target: &str| Some((name, target.to_owned()));
    [
        ("../../w.bin".to_owned(), None),
        ("./../../blobs/../../w.bin".to_owned(), None),
        (secret.clone(), None),
        ("w.bin".to_owned(), link("w.bin", &secret)),
        ("w.bin".to_owned(), link("w.bin", "../../../../secret/w.bin")),
        ("sub/w.bin".to_owned(), link("sub", "../../../../secret")),
        // The name of this folder starts with the name of the allowed folder, `blobs`.
        ("w.bin".to_owned(), link("w.bin", "../../blobs-other/w.bin")),
        ("../../blobs-other/w.bin".to_owned(), None),
        ("w.bin".to_owned(), link("w.bin", "/dev/zero")),
        ("w.bin".to_owned(), link("w.bin", "/proc/self/environ")),
    ]
}

#[test]
fn data_outside_of_a_hub_repository_is_refused() {
    for index in 0..10 {
        let sandbox = Sandbox::new(&[]);
        for place in ["secret/w.bin", "hub/w.bin", "hub/models/w.bin", "hub/models/blobs-other/w.bin"] {
            sandbox.write(place, elements(0));
        }
        let (location, link) = escapes(&sandbox)[index].clone();
        let mut repository = Repository { sandbox: &sandbox, name: "hub/models".to_owned(), blobs: 0 };
        if let Some((name, target)) = &link {
            repository.link(name, target);
        }
        let text = model(17, "{0,1,2,3,4,5,6,7,8,9,10,11}", &reference(&location, 0));
        let path = repository.add("model.onnxtxt", text.as_bytes());
        let ran = sandbox.lint(&[&path, "--select", "SPC026", "--output-format", "json"]);
        assert!(ran.status != 0, "{location} by {link:?}: {ran:?}");
        assert_eq!(findings(&ran), [("SPC026".to_owned(), path.clone())].into(), "{location} by {link:?}");
        let ran = sandbox.fix(&[&path, "-o", "fixed.onnx"]);
        assert!(ran.status != 0, "{location} by {link:?}: {ran:?}");
        assert!(!sandbox.path("fixed.onnx").exists(), "{location} by {link:?}");
    }
}
