//! Tensors in pickles of PyTorch, which refer to storages in the same archive.

use std::io::Cursor;
use std::sync::Arc;

use bytes::Bytes;
use zip::ZipArchive;

use super::pickle::{Id, Object, Pickle};
use super::storage::{Layout, entry};
use crate::graph::{ElemType, Tensor};
use crate::torch::types::elem_by_torch_name;

/// Storages of an archive.
pub struct Storages<'a> {
    /// The whole file.
    pub bytes: &'a Bytes,
    /// The archive that contains the storages.
    pub archive: &'a mut ZipArchive<Cursor<Bytes>>,
    /// Folder of the storages within the archive, with a final slash.
    pub folder: String,
}

/// A tensor, and where PyTorch stores its elements.
#[derive(Clone, Debug)]
pub struct Rebuilt {
    /// The tensor, in row-major order.
    pub tensor: Tensor,
    /// Strides within its storage, in elements.
    pub strides: Vec<i64>,
    /// Name of its storage.
    pub storage: Arc<str>,
}

/// Rebuilds a tensor from the arguments `(storage, offset, sizes, strides, …)` of `_rebuild_tensor_v2`.
///
/// # Errors
/// The first fault, as a predicate of the tensor.
pub fn rebuilt(pickle: &Pickle, arguments: &[Id], storages: &mut Storages) -> Result<Rebuilt, String> {
    let (layout, key) = layout(pickle, arguments)?;
    let path = format!("{}{key}", storages.folder);
    let data = entry(storages.bytes, storages.archive, &path, layout.span)?;
    let strides = layout.strides.clone();
    Ok(Rebuilt { tensor: layout.tensor(&data)?, strides, storage: key })
}

/// Returns the dtype and the sizes of a tensor, for the same arguments.
///
/// # Errors
/// The first fault, as a predicate of the tensor.
pub fn declared(pickle: &Pickle, arguments: &[Id]) -> Result<(ElemType, Vec<i64>), String> {
    let (layout, _) = layout(pickle, arguments)?;
    Ok((layout.elem, layout.sizes))
}

/// Returns the layout of a tensor, and the name of its storage.
fn layout(pickle: &Pickle, arguments: &[Id]) -> Result<(Layout, Arc<str>), String> {
    let nonsense = || "has an invalid type or shape".to_owned();
    let &[storage, offset, sizes, strides, ..] = arguments else { return Err(nonsense()) };
    let Object::Persistent(storage) = pickle.get(storage) else { return Err(nonsense()) };
    let &[_, class, key, ..] = list(pickle, *storage) else { return Err(nonsense()) };
    let class = match pickle.get(class) {
        Object::Name(name) => &**name,
        _ => "",
    };
    let elem =
        elem(class).ok_or_else(|| format!("has a storage of type `{class}`, which is not supported"))?;
    let (Object::Str(key), Object::Int(offset)) = (pickle.get(key), pickle.get(offset)) else {
        return Err(nonsense());
    };
    // Metadata, such as the bit of a negated or conjugated view, changes the meaning of the elements.
    let is_plain = |&id: &Id| match pickle.get(id) {
        Object::None => true,
        Object::Dict(members) => members.is_empty(),
        _ => false,
    };
    if !arguments.get(6).is_none_or(is_plain) {
        return Err("has metadata, which is not supported".to_owned());
    }
    let (sizes, strides) = (ints(pickle, sizes), ints(pickle, strides));
    let layout = sizes.zip(strides).and_then(|(sizes, strides)| Layout::new(elem, sizes, strides, *offset));
    Ok((layout.ok_or_else(nonsense)?, key.clone()))
}

/// Returns the element type of a storage class.
fn elem(class: &str) -> Option<ElemType> {
    elem_by_torch_name(class.strip_prefix("torch ")?.strip_suffix("Storage")?)
}

/// Returns the members of a list or tuple; none for any other object.
pub fn list(pickle: &Pickle, id: Id) -> &[Id] {
    match pickle.get(id) {
        Object::List(members) => members,
        _ => &[],
    }
}

fn ints(pickle: &Pickle, id: Id) -> Option<Vec<i64>> {
    let int = |&id: &Id| match pickle.get(id) {
        Object::Int(int) => Some(*int),
        _ => None,
    };
    list(pickle, id).iter().map(int).collect()
}
