//! What releases of a runtime load: `--target ort=1.17`.

use std::str::FromStr;

use crate::diag::known;
use crate::diag::{Finding, Place};
use crate::graph::Model;

/// Releases of ONNX Runtime (minor version after 1), with the newest opset of ai.onnx and the newest IR
/// version that each loads: <https://onnxruntime.ai/docs/reference/compatibility.html>; the last row was
/// tried out.
const ONNX_RUNTIME: [(u32, i64, i64); 16] = [
    (3, 12, 7),
    (5, 12, 7),
    (6, 13, 7),
    (7, 13, 7),
    (8, 14, 7),
    (9, 15, 8),
    (10, 15, 8),
    (11, 16, 8),
    (12, 17, 8),
    (13, 17, 8),
    (14, 18, 8),
    (15, 19, 8),
    (16, 19, 9),
    (17, 20, 9),
    (20, 21, 10),
    (31, 26, 13),
];

/// A release of a runtime.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Runtime {
    /// As it was written: `1.17`.
    version: String,
    minor: u32,
}

impl FromStr for Runtime {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (name, version) = text.split_once('=').ok_or("write NAME=VERSION, as in ort=1.17")?;
        if !matches!(name, "ort" | "onnxruntime") {
            return Err(format!("the target `{name}` is not known here; known is ort, ONNX Runtime"));
        }
        let minor = version.strip_prefix("1.").and_then(|rest| rest.split('.').next()?.parse().ok());
        let minor =
            minor.ok_or_else(|| format!("`{version}` is no version of ONNX Runtime 1, as 1.17 is"))?;
        Ok(Runtime { version: version.to_owned(), minor })
    }
}

impl Runtime {
    /// What of `model` this release does not load. Between releases that are in the table nothing is
    /// said of what only the later one loads.
    pub fn findings(&self, model: &Model) -> Vec<Finding> {
        let row = ONNX_RUNTIME.iter().find(|(minor, ..)| *minor >= self.minor);
        let Some(&(_, newest_opset, newest_ir)) = row else { return Vec::new() };
        let unsupported = |what: &str, is: i64, newest: i64, option: &str| {
            let message =
                format!("ONNX Runtime {} loads {what} up to {newest}, and this is {is}", self.version);
            known::TARGET_UNSUPPORTED
                .finding(message, Place::File)
                .help(format!("`onnx-fix {option} {newest}` converts the model"))
        };
        let opset = model.opset(model.main, "").filter(|&opset| opset > newest_opset);
        let ir = model.ir_version.filter(|&ir| ir > newest_ir);
        let opset = opset.map(|opset| unsupported("opsets", opset, newest_opset, "--opset"));
        let ir = ir.map(|ir| unsupported("IR versions", ir, newest_ir, "--ir-version"));
        opset.into_iter().chain(ir).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::OpsetImport;

    fn check(target: &str, opset: i64, ir: i64, expected: &[&str]) {
        let opsets = vec![OpsetImport { domain: None, version: Some(opset) }];
        let model = Model { opsets, ir_version: Some(ir), ..Model::new() };
        let runtime: Runtime = target.parse().expect("a release");
        let findings = runtime.findings(&model);
        let messages: Vec<&str> = findings.iter().map(|finding| finding.message.as_str()).collect();
        assert_eq!(messages, expected);
    }

    #[test]
    fn what_is_too_new_is_said() {
        check("ort=1.17", 20, 9, &[]);
        check("ort=1.17.3", 21, 9, &["ONNX Runtime 1.17.3 loads opsets up to 20, and this is 21"]);
        check("ort=1.14", 17, 9, &["ONNX Runtime 1.14 loads IR versions up to 8, and this is 9"]);
        check("ort=1.22", 24, 11, &[]);
        check("ort=1.99", 99, 99, &[]);
    }

    #[test]
    fn targets_that_are_none_are_refused() {
        for text in ["ort", "trt=10.3", "ort=2.0", "ort=1.x"] {
            assert!(text.parse::<Runtime>().is_err(), "{text}");
        }
    }
}
