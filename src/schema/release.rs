//! Which release of ONNX brought which opset, IR version and element types.

use crate::graph::ElemType;

use super::table::RELEASES;

/// The first release of ONNX with an ai.onnx opset.
#[derive(Debug)]
pub struct Release {
    /// The version of the domain ai.onnx.
    pub opset: u16,
    /// The version of ONNX: `1.8.0`.
    pub onnx: &'static str,
    /// The IR version that this release writes.
    pub ir_version: i64,
    /// The version of the domain ai.onnx.ml that came with it.
    pub ml: u16,
    /// The element types that no earlier opset takes anywhere.
    pub new_elems: &'static [ElemType],
}

/// The first release with an opset; `None` for an opset that the table does not know.
pub fn release(opset: u16) -> Option<&'static Release> {
    RELEASES.iter().find(|release| release.opset == opset)
}

/// The first opset of ai.onnx that has an element type.
pub fn first_opset_of(elem: ElemType) -> Option<u16> {
    let release = RELEASES.iter().find(|release| release.new_elems.contains(&elem))?;
    Some(release.opset)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn releases_carry_their_ir_version() {
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
    fn every_element_type_came_with_some_opset() {
        for elem in ElemType::ALL {
            assert!(first_opset_of(elem).is_some(), "{elem}");
        }
        assert_eq!(first_opset_of(ElemType::Bfloat16), Some(13));
        assert_eq!(first_opset_of(ElemType::Float6e2m3), Some(28));
    }
}
