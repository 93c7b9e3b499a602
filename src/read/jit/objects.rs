//! Objects of TorchScript archives: modules with their attributes, constants, and example inputs.

use std::io::Cursor;
use std::sync::Arc;

use bytes::Bytes;
use rustc_hash::{FxHashMap, FxHashSet};
use zip::ZipArchive;

use crate::graph::ElemType;
use crate::read::pickle::{self, Id, Object, Pickle};
use crate::read::rebuild::{Rebuilt, Storages, declared, rebuilt};
use crate::read::zipped;

/// Maximum size of an inflated pickle, in bytes.
const MAX_PICKLE: u64 = 64 << 20;

/// Maximum nesting of objects.
const MAX_DEPTH: usize = 256;

/// Index of an object in [`Objects`].
pub type ObjectId = usize;

/// An object that an archive stores.
#[derive(Clone, Debug)]
pub enum Stored {
    /// `None`.
    None,
    /// A boolean.
    Bool(bool),
    /// An integer.
    Int(i64),
    /// A float.
    Float(f64),
    /// A string.
    Str(Arc<str>),
    /// A tensor with its elements.
    Tensor(Rebuilt),
    /// Dtype and sizes of a tensor; the elements of example inputs are not stored.
    Example(ElemType, Vec<i64>),
    /// List or tuple.
    List(Vec<ObjectId>),
    /// Dictionary: keys and values, in order.
    Dict(Vec<(ObjectId, ObjectId)>),
    /// Instance of a class, such as `__torch__.Net`, with its attributes.
    Instance(Arc<str>, Vec<(Arc<str>, ObjectId)>),
    /// An object that is not supported; the reason is a clause.
    Unsupported(Arc<str>),
}

/// Objects of one pickle of an archive.
#[derive(Clone, Debug, Default)]
pub struct Objects {
    /// All objects, by their [`ObjectId`].
    pub all: Vec<Stored>,
    /// Top-level object.
    pub root: ObjectId,
    /// Tensors whose storage another tensor uses, too.
    pub shared: FxHashSet<ObjectId>,
}

impl Objects {
    /// Returns an object; [`Stored::None`] for an invalid id.
    pub fn get(&self, id: ObjectId) -> &Stored {
        self.all.get(id).unwrap_or(&Stored::None)
    }
}

/// Reads the pickle `FOLDER/NAME.pkl`; its tensors are in `FOLDER/NAME/`, if they are stored.
///
/// # Errors
/// The first fault, as a clause for a message.
pub fn read(
    bytes: &Bytes,
    archive: &mut ZipArchive<Cursor<Bytes>>,
    folder: &str,
    name: &str,
    is_stored: bool,
) -> Result<Objects, String> {
    let path = format!("{folder}{name}.pkl");
    let content = zipped::inflate(archive, &path, MAX_PICKLE)?;
    let pickle = pickle::read(&content).map_err(|why| format!("`{path}` {why}"))?;
    let storages = Storages { bytes, archive, folder: format!("{folder}{name}/") };
    let (all, known) = (Vec::new(), FxHashMap::default());
    let mut reader = Reader { pickle: &pickle, storages, is_stored, all, known, depth: 0 };
    let root = reader.object(pickle.root)?;
    let shared = shared(&reader.all);
    Ok(Objects { all: reader.all, root, shared })
}

/// Returns the tensors whose storage another tensor uses, too.
fn shared(all: &[Stored]) -> FxHashSet<ObjectId> {
    let mut users: FxHashMap<&str, Vec<ObjectId>> = FxHashMap::default();
    for (id, object) in all.iter().enumerate() {
        if let Stored::Tensor(tensor) = object {
            users.entry(&tensor.storage).or_default().push(id);
        }
    }
    users.into_values().filter(|users| users.len() > 1).flatten().collect()
}

struct Reader<'a> {
    pickle: &'a Pickle,
    storages: Storages<'a>,
    is_stored: bool,
    all: Vec<Stored>,
    known: FxHashMap<Id, ObjectId>,
    depth: usize,
}

impl Reader<'_> {
    fn object(&mut self, id: Id) -> Result<ObjectId, String> {
        if let Some(&known) = self.known.get(&id) {
            return Ok(known);
        }
        let own = self.all.len();
        self.all.push(Stored::None);
        // Objects can contain themselves.
        self.known.insert(id, own);
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err("the objects are nested too deeply".to_owned());
        }
        self.all[own] = self.content(id)?;
        self.depth -= 1;
        Ok(own)
    }

    fn content(&mut self, id: Id) -> Result<Stored, String> {
        Ok(match self.pickle.get(id).clone() {
            Object::None => Stored::None,
            Object::Bool(bool) => Stored::Bool(bool),
            Object::Int(int) => Stored::Int(int),
            Object::Float(float) => Stored::Float(float),
            Object::Str(text) => Stored::Str(text),
            Object::List(members) => {
                Stored::List(members.into_iter().map(|id| self.object(id)).collect::<Result<_, _>>()?)
            }
            Object::Dict(members) => {
                let pairs =
                    members.into_iter().map(|(key, value)| Ok((self.object(key)?, self.object(value)?)));
                Stored::Dict(pairs.collect::<Result<_, String>>()?)
            }
            Object::Instance(class, state) => self.instance(class, state)?,
            Object::Call(callee, arguments) => self.call(callee, arguments)?,
            Object::Name(name) => unsupported(&name),
            Object::Persistent(_) => unsupported("a storage without a tensor"),
        })
    }

    fn instance(&mut self, class: Id, state: Option<Id>) -> Result<Stored, String> {
        let class: Arc<str> = self.name(class).replacen(' ', ".", 1).into();
        let mut fields = Vec::new();
        match state.map(|state| self.pickle.get(state).clone()) {
            None => {}
            Some(Object::Dict(members)) => {
                for (key, value) in members {
                    if let Object::Str(key) = self.pickle.get(key).clone() {
                        fields.push((key, self.object(value)?));
                    }
                }
            }
            // The class defines `__getstate__`: the state is an argument of its `__setstate__`.
            Some(_) => return Ok(unsupported(&format!("an object of class `{class}` with its own state"))),
        }
        Ok(Stored::Instance(class, fields))
    }

    fn call(&mut self, callee: Id, arguments: Id) -> Result<Stored, String> {
        let arguments = match self.pickle.get(arguments) {
            Object::List(members) => members.clone(),
            _ => Vec::new(),
        };
        let first = arguments.first().copied();
        Ok(match (self.name(callee).to_owned().as_str(), first) {
            ("collections OrderedDict", _) => Stored::Dict(Vec::new()),
            ("torch._utils _rebuild_tensor_v2" | "torch._utils _rebuild_tensor", _) => {
                let tensor = match self.is_stored {
                    true => rebuilt(self.pickle, &arguments, &mut self.storages).map(Stored::Tensor),
                    false => {
                        declared(self.pickle, &arguments).map(|(elem, sizes)| Stored::Example(elem, sizes))
                    }
                };
                match tensor {
                    Ok(tensor) => tensor,
                    Err(why) => Stored::Unsupported(format!("a tensor {why}").into()),
                }
            }
            (name, Some(first))
                if name.starts_with("torch.jit._pickle build_")
                    || name == "torch.jit._pickle restore_type_tag"
                    || name.starts_with("torch._utils _rebuild_parameter") =>
            {
                let inner = self.object(first)?;
                self.all[inner].clone()
            }
            ("torch device", Some(first)) => {
                let inner = self.object(first)?;
                self.all[inner].clone()
            }
            (name, _) => unsupported(name),
        })
    }

    fn name(&self, id: Id) -> &str {
        match self.pickle.get(id) {
            Object::Name(name) => name,
            _ => "",
        }
    }
}

fn unsupported(what: &str) -> Stored {
    Stored::Unsupported(format!("it contains {}", what.replacen(' ', ".", 1)).into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::Tensor;

    #[test]
    fn tensors_on_one_storage_are_shared() {
        let tensor = |storage: &str| {
            let tensor = Tensor::int64s(vec![1], &[0]);
            Stored::Tensor(Rebuilt { tensor, strides: vec![1], storage: storage.into() })
        };
        let all = [tensor("0"), Stored::None, tensor("1"), tensor("0")];
        assert_eq!(shared(&all), FxHashSet::from_iter([0, 3]));
    }
}
