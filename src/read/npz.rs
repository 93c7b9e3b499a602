//! Arrays as NumPy saves them, by name: `.npz`, a zip file of `.npy`.

use super::zipped;
use crate::graph::{ElemType, Tensor};

/// No more than this is inflated of an array, whatever the file claims.
const MAX_INFLATED: u64 = 1 << 30;

/// The arrays of an archive, in its order.
///
/// # Errors
/// What of it cannot be read, in half a sentence.
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

/// One array: a magic word, a version, the length of the header, the header as a Python dictionary, the elements.
fn array(content: &[u8]) -> Result<Tensor, String> {
    let damaged = || "is no array of NumPy".to_owned();
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
        elem(descr).ok_or_else(|| format!("holds elements of type {descr}, which are not read here"))?;
    let shape = entry(&header, "shape").and_then(|text| text.strip_prefix('(')?.split(')').next());
    let dims = shape.ok_or_else(damaged)?.split(',').map(str::trim).filter(|dim| !dim.is_empty());
    let dims: Vec<i64> = dims.map(|dim| dim.parse().ok()).collect::<Option<_>>().ok_or_else(damaged)?;
    if dims.len() > 1 && entry(&header, "fortran_order").is_some_and(|text| text.starts_with("True")) {
        return Err("is in the order of Fortran; save it as numpy.ascontiguousarray gives it".to_owned());
    }
    let tensor = Tensor::from_raw(elem, dims, data.to_vec());
    if tensor.byte_len() == Some(data.len()) {
        Ok(tensor)
    } else {
        Err("is shorter than its shape says".to_owned())
    }
}

/// What follows a key of the dictionary.
fn entry<'h>(header: &'h str, key: &str) -> Option<&'h str> {
    let (_, rest) = header.split_once(&format!("'{key}'"))?;
    Some(rest.trim_start().strip_prefix(':')?.trim_start())
}

/// Little-endian types, and those of one byte.
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
    fn arrays_are_read_as_numpy_writes_them() {
        let header = "{'descr': '<i8', 'fortran_order': False, 'shape': (2, 1), }   \n";
        let data = [7i64.to_le_bytes(), (-1i64).to_le_bytes()].concat();
        assert_eq!(array(&npy(header, &data)), Ok(Tensor::int64s(vec![2, 1], &[7, -1])));
        let scalar = "{'descr': '|b1', 'fortran_order': False, 'shape': (), }\n";
        assert_eq!(array(&npy(scalar, &[1])).map(|tensor| tensor.dims), Ok(vec![]));
        for (header, why) in [
            ("{'descr': '<i8', 'fortran_order': False, 'shape': (3,), }", "is shorter than its shape says"),
            ("{'descr': '<c8', 'fortran_order': False, 'shape': (2,), }", "holds elements of type <c8"),
            ("{'descr': '<i8', 'fortran_order': True, 'shape': (2, 1), }", "is in the order of Fortran"),
            ("{}", "is no array of NumPy"),
        ] {
            let said = array(&npy(header, &data)).expect_err(header);
            assert!(said.starts_with(why), "{said}");
        }
        assert!(array(b"\x93NUMPY\x01").is_err() && array(b"PK").is_err());
    }
}
