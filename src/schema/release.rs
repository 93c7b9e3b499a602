//! Releases of ONNX that added an opset, with their IR versions and new element types.

use crate::graph::ElemType;

use super::table::RELEASES;

/// First release of ONNX with an opset of ai.onnx.
#[derive(Debug)]
pub struct Release {
    /// Version of the domain ai.onnx.
    pub opset: u16,
    /// Version of ONNX: `1.8.0`.
    pub onnx: &'static str,
    /// IR version of models written by this release.
    pub ir_version: i64,
    /// Version of the domain ai.onnx.ml in this release.
    pub ml: u16,
    /// Element types that no operator of an earlier opset supports.
    pub new_elems: &'static [ElemType],
}

/// Returns the first release with an opset; `None` for an unknown opset.
pub fn release(opset: u16) -> Option<&'static Release> {
    RELEASES.iter().find(|release| release.opset == opset)
}

/// Returns the first opset of ai.onnx that supports an element type.
pub fn first_opset_of(elem: ElemType) -> Option<u16> {
    let release = RELEASES.iter().find(|release| release.new_elems.contains(&elem))?;
    Some(release.opset)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn releases_have_their_ir_version() {
        let check = |opset, onnx, ir_version| {
            let found = release(opset).map(|release| (release.onnx, release.ir_version));
            assert_eq!(found, Some((onnx, ir_version)), "opset {opset}");
        };
        check(7, "1.2", 3);
        check(13, "1.8.0", 7);
        check(21, "1.16.0", 10);
        check(28, "1.23.0", 14);
        assert!(release(0).is_none());
    }

    #[test]
    fn all_element_types_have_a_first_opset() {
        for elem in ElemType::ALL {
            assert!(first_opset_of(elem).is_some(), "{elem}");
        }
        assert_eq!(first_opset_of(ElemType::Bfloat16), Some(13));
        assert_eq!(first_opset_of(ElemType::Float6e2m3), Some(28));
    }
}
