//! Reads `.npz` files of NumPy: zip archives of `.npy` arrays.

use super::zipped;
use crate::graph::{ElemType, Tensor};

/// Maximum number of bytes inflated for an array, unless its entry takes more bytes in the archive.
const MAX_INFLATED: u64 = 1 << 30;

/// Returns the arrays of an archive with their names, in file order.
///
/// # Errors
/// The first fault, as a clause for a message.
pub fn read(bytes: &[u8]) -> Result<Vec<(String, Tensor)>, String> {
    let mut archive = zipped::open(bytes)?;
    let mut arrays = Vec::new();
    for entry in zipped::names(&archive) {
        let Some(name) = entry.strip_suffix(".npy") else { continue };
        let content = zipped::inflate(&mut archive, &entry, MAX_INFLATED)?;
        let tensor = array(&content).map_err(|why| format!("`{entry}` {why}"))?;
        arrays.push((name.to_owned(), tensor));
    }
    Ok(arrays)
}

/// Parses an array: magic bytes, version, header length, header (a Python dictionary), elements.
fn array(content: &[u8]) -> Result<Tensor, String> {
    let damaged = || "is not a NumPy array".to_owned();
    let rest = content.strip_prefix(b"\x93NUMPY").ok_or_else(damaged)?;
    let (&[major, _], rest) = rest.split_first_chunk::<2>().ok_or_else(damaged)?;
    let (length, rest) = match major {
        1 => rest
            .split_first_chunk::<2>()
            .map(|(length, rest)| (usize::from(u16::from_le_bytes(*length)), rest)),
        _ => rest.split_first_chunk::<4>().map(|(length, rest)| (u32::from_le_bytes(*length) as usize, rest)),
    }
    .ok_or_else(damaged)?;
    let (header, data) = rest.split_at_checked(length).ok_or_else(damaged)?;
    let header = String::from_utf8_lossy(header);
    let descr = entry(&header, "descr").ok_or_else(damaged)?;
    let descr = descr.trim_start_matches(['\'', '"']).split(['\'', '"']).next().unwrap_or("");
    let elem =
        elem(descr).ok_or_else(|| format!("has elements of type `{descr}`, which are not supported"))?;
    let shape = entry(&header, "shape").and_then(|text| text.strip_prefix('(')?.split(')').next());
    let dims = shape.ok_or_else(damaged)?.split(',').map(str::trim).filter(|dim| !dim.is_empty());
    let dims: Vec<i64> = dims.map(|dim| dim.parse().ok()).collect::<Option<_>>().ok_or_else(damaged)?;
    if dims.len() > 1 && entry(&header, "fortran_order").is_some_and(|text| text.starts_with("True")) {
        return Err("is in Fortran order; save the result of `numpy.ascontiguousarray`".to_owned());
    }
    let tensor = Tensor::from_raw(elem, dims, data.to_vec());
    if tensor.byte_len() == Some(data.len()) {
        Ok(tensor)
    } else {
        Err("does not have as many bytes as its shape requires".to_owned())
    }
}

/// Returns the text after a key of the header.
fn entry<'h>(header: &'h str, key: &str) -> Option<&'h str> {
    let (_, rest) = header.split_once(&format!("'{key}'"))?;
    Some(rest.trim_start().strip_prefix(':')?.trim_start())
}

/// Returns the element type for a NumPy type string; `None` for big-endian and unsupported types.
fn elem(descr: &str) -> Option<ElemType> {
    Some(match descr {
        "<f2" => ElemType::Float16,
        "<f4" => ElemType::Float,
        "<f8" => ElemType::Double,
        "|i1" => ElemType::Int8,
        "<i2" => ElemType::Int16,
        "<i4" => ElemType::Int32,
        "<i8" => ElemType::Int64,
        "|u1" => ElemType::Uint8,
        "<u2" => ElemType::Uint16,
        "<u4" => ElemType::Uint32,
        "<u8" => ElemType::Uint64,
        "|b1" => ElemType::Bool,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn npy(header: &str, data: &[u8]) -> Vec<u8> {
        let length = u16::try_from(header.len()).expect("it is short").to_le_bytes();
        [b"\x93NUMPY\x01\x00", &length[..], header.as_bytes(), data].concat()
    }

    #[test]
    fn npy_arrays_are_read_and_damaged_ones_rejected() {
        let header = "{'descr': '<i8', 'fortran_order': False, 'shape': (2, 1), }   \n";
        let data = [7i64.to_le_bytes(), (-1i64).to_le_bytes()].concat();
        assert_eq!(array(&npy(header, &data)), Ok(Tensor::int64s(vec![2, 1], &[7, -1])));
        let scalar = "{'descr': '|b1', 'fortran_order': False, 'shape': (), }\n";
        assert_eq!(array(&npy(scalar, &[1])).map(|tensor| tensor.dims), Ok(vec![]));
        for (header, why) in [
            ("{'descr': '<i8', 'fortran_order': False, 'shape': (3,), }", "does not have as many bytes"),
            ("{'descr': '<c8', 'fortran_order': False, 'shape': (2,), }", "has elements of type `<c8`"),
            ("{'descr': '<i8', 'fortran_order': True, 'shape': (2, 1), }", "is in Fortran order"),
            ("{}", "is not a NumPy array"),
        ] {
            let fault = array(&npy(header, &data)).expect_err(header);
            assert!(fault.starts_with(why), "{fault}");
        }
        assert!(array(b"\x93NUMPY\x01").is_err() && array(b"PK").is_err());
    }
}
