//! Reads weights: state dicts of `torch.save`, TorchScript archives, `.safetensors` and `.npz`.

use std::io::Cursor;
use std::sync::Arc;

use bytes::Bytes;
use rustc_hash::FxHashMap;
use serde_json::Value as Json;
use zip::ZipArchive;

use super::pickle::{self, Id, Object, Pickle};
use super::rebuild::{Storages, list, rebuilt};
use super::{npz, zipped};
use crate::graph::{ElemType, Tensor};

/// Tensors by their module path: `encoder.0.weight`.
pub type State = FxHashMap<String, Tensor>;

/// Maximum size of an inflated pickle, in bytes. A pickle has about a hundred bytes per tensor.
const MAX_PICKLE: u64 = 64 << 20;

/// Maximum nesting of dictionaries and modules.
const MAX_DEPTH: usize = 256;

/// Maximum number of object visits: shared objects can multiply them exponentially.
const MAX_VISITED: usize = 1 << 22;

/// Reads the tensors of a file.
///
/// # Errors
/// The first fault, as a clause for a message.
pub fn read(bytes: &Bytes) -> Result<State, String> {
    if !bytes.starts_with(b"PK\x03\x04") {
        return safetensors(bytes);
    }
    let mut archive = zipped::open(bytes.clone())?;
    let names = zipped::names(&archive);
    let Some(pickle) = names.iter().find(|name| is_file(name, "data.pkl")) else {
        return Ok(npz::read(bytes)?.into_iter().collect());
    };
    if let Some(order) = names.iter().find(|name| is_file(name, "byteorder"))
        && zipped::inflate(&mut archive, order, MAX_PICKLE)?.starts_with(b"big")
    {
        return Err("the tensors are big-endian, which is not supported".to_owned());
    }
    let content = zipped::inflate(&mut archive, pickle, MAX_PICKLE)?;
    let objects = pickle::read(&content).map_err(|why| format!("`{pickle}` {why}"))?;
    let folder = pickle.trim_end_matches("data.pkl").to_owned();
    let mut reader =
        Reader { pickle: &objects, bytes, archive, folder, state: State::default(), visited: 0, depth: 0 };
    reader.visit(objects.root, &mut Vec::new())?;
    Ok(reader.state)
}

fn is_file(entry: &str, name: &str) -> bool {
    entry.strip_suffix(name).is_some_and(|folder| folder.is_empty() || folder.ends_with('/'))
}

/// Finds the tensors of a pickle.
struct Reader<'a> {
    pickle: &'a Pickle,
    bytes: &'a Bytes,
    archive: ZipArchive<Cursor<Bytes>>,
    /// Directory of the pickle within the archive, with a final slash.
    folder: String,
    state: State,
    visited: usize,
    /// Nesting depth of the current object.
    depth: usize,
}

impl Reader<'_> {
    fn visit(&mut self, id: Id, path: &mut Vec<Arc<str>>) -> Result<(), String> {
        self.visited += 1;
        // Objects can contain themselves.
        if self.depth > MAX_DEPTH || self.visited > MAX_VISITED {
            return Err("the objects are cyclic or nested too deeply".to_owned());
        }
        self.depth += 1;
        self.look(id, path)?;
        self.depth -= 1;
        Ok(())
    }

    fn look(&mut self, id: Id, path: &mut Vec<Arc<str>>) -> Result<(), String> {
        match self.pickle.get(id).clone() {
            Object::Dict(members) => {
                for (key, value) in members {
                    if let Object::Str(key) = self.pickle.get(key) {
                        // A checkpoint has the state of the network under this key.
                        let is_whole = path.is_empty() && &**key == "state_dict";
                        path.extend((!is_whole).then(|| key.clone()));
                        let depth = path.len();
                        self.visit(value, path)?;
                        path.truncate(depth - usize::from(!is_whole));
                    }
                }
                Ok(())
            }
            Object::Instance(class, state) => match (self.name(class), state) {
                (name, Some(state)) if name.starts_with("__torch__") => self.visit(state, path),
                (name, Some(_)) => Err(refused(name)),
                (_, None) => Ok(()),
            },
            Object::Call(callee, arguments) => self.call(callee, arguments, path),
            _ => Ok(()),
        }
    }

    /// Evaluates a call that rebuilds a tensor or a parameter.
    ///
    /// Calls that build empty dictionaries or lists of numbers are ignored; all remaining calls are errors.
    fn call(&mut self, callee: Id, arguments: Id, path: &mut Vec<Arc<str>>) -> Result<(), String> {
        let arguments = list(self.pickle, arguments).to_vec();
        match self.name(callee) {
            "collections OrderedDict" => Ok(()),
            "torch._utils _rebuild_parameter" | "torch._utils _rebuild_parameter_with_state" => {
                let parameter = *arguments.first().ok_or("it has a parameter without a tensor")?;
                self.visit(parameter, path)
            }
            "torch._utils _rebuild_tensor_v2" | "torch._utils _rebuild_tensor" => {
                let name = path.join(".");
                let folder = format!("{}data/", self.folder);
                let mut storages = Storages { bytes: self.bytes, archive: &mut self.archive, folder };
                let tensor = rebuilt(self.pickle, &arguments, &mut storages).map(|rebuilt| rebuilt.tensor);
                let tensor = tensor.map_err(|why| format!("the tensor `{name}` {why}"))?;
                self.state.insert(name, tensor);
                Ok(())
            }
            // TorchScript creates lists of numbers by calls of `build_…`.
            name if name.starts_with("torch.jit._pickle build_") => Ok(()),
            name => Err(refused(name)),
        }
    }

    fn name(&self, id: Id) -> &str {
        match self.pickle.get(id) {
            Object::Name(name) => name,
            _ => "",
        }
    }
}

fn refused(name: &str) -> String {
    format!(
        "the file contains more than plain tensors: loading the file would run `{}`",
        name.replace(' ', ".")
    )
}

/// Parses a `.safetensors` file: the header length, a JSON header, the elements.
fn safetensors(bytes: &Bytes) -> Result<State, String> {
    let unknown = || "the file is not a `torch.save` state dict, `.safetensors` or `.npz` file".to_owned();
    let (length, rest) = bytes.split_first_chunk::<8>().ok_or_else(unknown)?;
    let length = usize::try_from(u64::from_le_bytes(*length)).map_err(|_| unknown())?;
    let header = rest.get(..length).filter(|header| header.starts_with(b"{")).ok_or_else(unknown)?;
    let header: serde_json::Map<String, Json> =
        serde_json::from_slice(header).map_err(|error| format!("the header is not valid JSON: {error}"))?;
    let data = bytes.slice(8 + length..);
    let tensors = header.into_iter().filter(|(name, _)| name != "__metadata__");
    tensors
        .map(|(name, fields)| match safe_tensor(&fields, &data) {
            Some(tensor) => Ok((name, tensor)),
            None => Err(format!(
                "the tensor `{name}` has an unsupported type, or an invalid shape or data offsets"
            )),
        })
        .collect()
}

/// Converts an entry such as `{"dtype": "F32", "shape": [2, 3], "data_offsets": [0, 24]}`.
fn safe_tensor(fields: &Json, data: &Bytes) -> Option<Tensor> {
    let elem = match fields.get("dtype")?.as_str()? {
        "F64" => ElemType::Double,
        "F32" => ElemType::Float,
        "F16" => ElemType::Float16,
        "BF16" => ElemType::Bfloat16,
        "I64" => ElemType::Int64,
        "I32" => ElemType::Int32,
        "I16" => ElemType::Int16,
        "I8" => ElemType::Int8,
        "U8" => ElemType::Uint8,
        "BOOL" => ElemType::Bool,
        _ => return None,
    };
    let ints = |key: &str| fields.get(key)?.as_array()?.iter().map(Json::as_i64).collect::<Option<Vec<_>>>();
    let (dims, place) = (ints("shape")?, ints("data_offsets")?);
    let &[start, end] = &*place else { return None };
    let (start, end) = (usize::try_from(start).ok()?, usize::try_from(end).ok()?);
    let is_inside = start <= end && end <= data.len() && dims.iter().all(|&dim| dim >= 0);
    let tensor = is_inside.then(|| Tensor::from_raw(elem, dims, data.slice(start..end)))?;
    (tensor.byte_len() == Some(end - start)).then_some(tensor)
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    #[track_caller]
    fn check(pickle: &[u8], expected: &str) {
        let mut zip = zip::ZipWriter::new(Cursor::new(Vec::new()));
        zip.start_file("m/data.pkl", zip::write::SimpleFileOptions::default()).expect("an entry");
        zip.write_all(pickle).expect("its content");
        let bytes = zip.finish().expect("an archive").into_inner();
        assert_eq!(read(&bytes.into()).expect_err("it is refused"), expected);
    }

    #[test]
    fn cyclic_objects_are_rejected() {
        let too_often = "the objects are cyclic or nested too deeply";
        check(b"\x80\x02c__torch__\nM\n)\x81q\x00h\x00b.", too_often);
        check(b"\x80\x02}q\x00X\x0a\x00\x00\x00state_dicth\x00s.", too_often);
        check(b"\x80\x02]q\x00ctorch._utils\n_rebuild_parameter\nh\x00Rq\x01h\x00h\x01a0.", too_often);
    }

    #[test]
    fn a_pickle_that_calls_other_functions_is_rejected() {
        let why = "the file contains more than plain tensors: loading the file would run `os.system`";
        check(b"\x80\x02cos\nsystem\n(X\x04\x00\x00\x00exittR.", why);
    }
}
