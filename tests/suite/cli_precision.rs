//! Command line of `onnx-fix --to float16`: refusals, reports, calibration, external weights.

use crate::tool::{SOUND, Sandbox};

#[test]
fn invalid_precision_requests_are_rejected() {
    let half = SOUND.replace("float[", "float16[");
    let counts = SOUND.replace("float[", "int64[").replace("Relu", "Abs");
    let sandbox =
        Sandbox::new(&[("half.onnxtxt", &half), ("counts.onnxtxt", &counts), ("sound.onnxtxt", SOUND)]);
    for (file, options, status, expected) in [
        ("counts.onnxtxt", vec!["--to", "float16"], 1, "the model has no float32 values"),
        ("sound.onnxtxt", vec!["--to", "float8"], 2, "invalid value 'float8'"),
        ("sound.onnxtxt", vec!["--keep-io"], 2, "--to <TYPE>"),
    ] {
        let ran = sandbox.fix(&[&[file, "-o", "out.onnx"], &options[..]].concat());
        assert_eq!(ran.status, status, "{ran:?}");
        assert!(ran.stderr.contains(expected), "{expected}: {}", ran.stderr);
        assert!(!sandbox.path("out.onnx").exists());
    }
    let ran = sandbox.fix(&["half.onnxtxt", "--to", "float16", "-o", "out.onnx"]);
    assert!(ran.status == 0 && ran.stderr.contains("nothing to change"), "{ran:?}");
}

#[test]
fn nodes_kept_in_float32_are_reported() {
    let text = "<ir_version: 8, opset_import: [\"\" : 17]>\nmain (float[N,4] x) => (float[N,4] y) {\n  \
        t = Relu (x)\n  e = Exp (t)\n  s = ReduceSum (e)\n  q = Div (e, s)\n  y = Relu (q)\n}\n";
    let sandbox = Sandbox::new(&[("net.onnxtxt", text)]);
    let ran =
        sandbox.fix(&["net.onnxtxt", "--to", "float16", "-o", "out.onnxtxt", "--report", "report.json"]);
    assert_eq!(ran.status, 0, "{ran:?}");
    crate::tool::snapshot("precision", "said", &ran.stderr);
    let report: serde_json::Value = serde_json::from_slice(&sandbox.read("report.json")).expect("JSON");
    assert_eq!(report["to"], "float16");
    let kept = report["kept"].as_array().into_iter().flatten();
    let ops: Vec<_> = kept.filter_map(|kept| kept["op"].as_str()).collect();
    assert_eq!(ops, ["Exp", "ReduceSum", "Div"]);
}

#[test]
fn verify_compares_within_the_precision_of_the_type() {
    if std::env::var_os("ORT_DYLIB_PATH").is_none() {
        return;
    }
    let sandbox = Sandbox::new(&[("net.onnxtxt", SOUND)]);
    let ran = sandbox.fix(&["net.onnxtxt", "--to", "float16", "--verify", "-o", "out.onnx"]);
    assert_eq!(ran.status, 0, "{ran:?}");
    assert!(
        ran.stderr.contains("results equal within the precision of the type before and after"),
        "{}",
        ran.stderr
    );
    // The computed values overflow float16.
    let large = "<ir_version: 8, opset_import: [\"\" : 17]>\nmain (float[4] x) => (float[4] y) <float k = {60000}> {\n  \
        t = Mul (x, k)\n  u = Mul (t, k)\n  y = Relu (u)\n}\n";
    sandbox.write("large.onnxtxt", large);
    let ran =
        sandbox.fix(&["large.onnxtxt", "--to", "float16", "--no-optimize", "--verify", "-o", "large.onnx"]);
    assert_eq!(ran.status, 1, "{ran:?}");
    assert!(
        ran.stderr.contains("values of the model exceed the range or precision of float16"),
        "{}",
        ran.stderr
    );
}

/// Returns a NumPy archive with one float32 array.
pub fn npz(name: &str, shape: &str, numbers: &[f32]) -> Vec<u8> {
    let header = format!("{{'descr': '<f4', 'fortran_order': False, 'shape': ({shape}), }}\n");
    let length = u16::try_from(header.len()).expect("the length fits").to_le_bytes();
    let data: Vec<u8> = numbers.iter().flat_map(|x| x.to_le_bytes()).collect();
    let array = [b"\x93NUMPY\x01\x00", &length[..], header.as_bytes(), &data].concat();
    let mut zip = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    zip.start_file(format!("{name}.npy"), zip::write::SimpleFileOptions::default()).expect("an entry");
    std::io::Write::write_all(&mut zip, &array).expect("memory");
    zip.finish().expect("memory").into_inner()
}

/// Squares may overflow, unless calibration data shows otherwise.
/// Nodes that overflow on the data stay in float32.
#[test]
fn calibration_data_bounds_the_range_of_values() {
    let text = "<ir_version: 8, opset_import: [\"\" : 17]>\nmain (float[N,2] x) => (float[N,2] y) <float two = {2}> {\n  \
        p = Pow (x, two)\n  s = Sqrt (p)\n  t = Mul (s, s)\n  y = Relu (t)\n}\n";
    let sandbox = Sandbox::new(&[("net.onnxtxt", text)]);
    sandbox.write("small.npz", npz("x", "1, 2", &[1.0, -3.0]));
    sandbox.write("large.npz", npz("x", "1, 2", &[1.0, -300.0]));
    sandbox.write("other.npz", npz("z", "1, 2", &[1.0, 2.0]));
    let kept = |data: &[&str]| {
        let mut arguments =
            vec!["net.onnxtxt", "--to", "float16", "--no-optimize", "--report", "report.json"];
        data.iter().for_each(|&file| arguments.extend(["--calibrate", file]));
        let ran = sandbox.fix(&[&arguments[..], &["--check"]].concat());
        assert_eq!(ran.status, 1, "{ran:?}");
        let report: serde_json::Value = serde_json::from_slice(&sandbox.read("report.json")).expect("JSON");
        let kept = report["kept"].as_array().cloned().unwrap_or_default();
        kept.iter().map(|kept| kept["op"].as_str().expect("a name").to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(kept(&[]), ["Pow", "Sqrt", "Mul", "Relu"]);
    assert_eq!(kept(&["small.npz"]), [""; 0]);
    assert_eq!(kept(&["small.npz", "large.npz"]), ["Pow", "Sqrt", "Mul", "Relu"]);
    for (data, status, expected) in [
        (
            "other.npz",
            1,
            "the model does not run on the calibration data: the calibration data have no array for input `x`",
        ),
        ("net.onnxtxt", 2, "net.onnxtxt: it is not a zip file"),
        ("missing.npz", 2, "missing.npz: cannot be read"),
    ] {
        let ran = sandbox.fix(&["net.onnxtxt", "--to", "float16", "--calibrate", data, "-o", "out.onnx"]);
        assert_eq!(ran.status, status, "{ran:?}");
        assert!(ran.stderr.contains(expected), "{expected}: {}", ran.stderr);
    }
}

/// External data is written as external data, in half the size.
#[test]
fn external_weights_are_converted() {
    let numbers = vec!["1"; 1000].join(",");
    let model = format!(
        "<ir_version: 8, opset_import: [\"\" : 17]>\nmain (float[1000] x) => (float[1000] y) \
         <float[1000] w = {{{numbers}}}> {{\n  y = Add (x, w)\n}}\n"
    );
    let sandbox = Sandbox::new(&[("net.onnxtxt", &model)]);
    assert_eq!(sandbox.fix(&["net.onnxtxt", "-o", "net.onnx", "--save-as-external-data"]).status, 0);
    let ran = sandbox.fix(&["net.onnx", "--to", "float16", "-o", "half.onnx"]);
    assert_eq!(ran.status, 0, "{ran:?}");
    assert_eq!(sandbox.read("half.onnx.data").len(), 2000);
    assert_eq!(sandbox.read("net.onnx.data").len(), 4000);
}
