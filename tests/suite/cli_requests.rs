//! Requests to `onnx-fix`: contradictions, and a limit of 0.

use crate::tool::{Sandbox, check};

#[test]
fn contradictory_requests_are_refused() {
    let text = "<ir_version: 8, opset_import: [\"\" : 17]>\n\
                main (float[n,n] x, float[1,n] z) => (float[n,n] y) {\n  y = Add (x, z)\n}\n";
    let sandbox = Sandbox::new(&[("net.onnxtxt", text)]);
    for (options, expected) in [
        (["--fix-shape", "x=2,3"], "the dimension `n` cannot have two sizes: 2 and 3"),
        (
            ["--dynamic", "x:0=N:size,z:0=N:samples"],
            "the dimension `N` is requested as `samples` and as `size`",
        ),
        (["--target=ort=1.15", "--ir-version=13"], "ONNX Runtime 1.15 does not support IR version 13"),
    ] {
        check(&sandbox.fix(&[&["net.onnxtxt", "-o", "out.onnxtxt"], &options[..]].concat()), 1, expected);
        assert!(!sandbox.path("out.onnxtxt").exists());
    }
    let allowed = ["--target=ort=1.15", "--ir-version=8", "--fix-shape", "x=2,2"];
    check(&sandbox.fix(&[&["net.onnxtxt", "-o", "out.onnxtxt"], &allowed[..]].concat()), 0, "");
}

#[test]
fn fold_limit_of_zero_turns_folding_off() {
    let text = "<ir_version: 8, opset_import: [\"\" : 17]>\nmain (float[4] x) => (float[4] y, float[600,500] z)\n\
                <float[4] w = {1, 2, 3, 4}> {\n  e = Exp (w)\n  y = Add (x, e)\n  \
                s = Constant <value_ints = [500, 600]> ()\n  o = ConstantOfShape (s)\n  \
                z = Transpose (o)\n}\n";
    let sandbox = Sandbox::new(&[("net.onnxtxt", text)]);
    check(&sandbox.fix(&["net.onnxtxt", "--fold-limit", "0", "-o", "out.onnxtxt"]), 0, "");
    let kept = String::from_utf8(sandbox.read("out.onnxtxt")).expect("text");
    for op in ["Exp", "ConstantOfShape"] {
        assert!(kept.contains(op), "{kept}");
    }
    check(&sandbox.fix(&["net.onnxtxt", "-o", "out.onnxtxt"]), 0, "OPT005");
}
