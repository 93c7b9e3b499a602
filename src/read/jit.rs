//! Reads TorchScript archives, which `torch.jit.save` writes.
//!
//! They contain code, modules, constants and example inputs.
//!
//! An archive is a zip file. The entries `code/….py` contain classes and functions in a small dialect of
//! Python, `data.pkl` contains the modules, and `constants.pkl` the constants of the code. `traced_inputs.pkl`
//! contains the example inputs of a traced module. Pickles are never executed.

pub mod ast;
mod expression;
mod lexer;
pub mod objects;
pub mod parse;
mod parser;

use std::sync::Arc;

use bytes::Bytes;
use rustc_hash::FxHashMap;

use super::zipped;
use crate::diag::{Finding, Level, Place, rule_ids};
use ast::{Class, File, Function};
use objects::{Objects, Stored};

/// Maximum size of the inflated files of the code, in bytes.
const MAX_CODE: u64 = 16 << 20;

/// A TorchScript archive.
#[derive(Debug, Default)]
pub struct Archive {
    /// Files of the code, by module: `__torch__.torch.nn.functional`.
    pub files: FxHashMap<String, File>,
    /// Modules and their attributes; the root is the saved module.
    pub modules: Objects,
    /// Constants of the code; the root is a list.
    pub constants: Objects,
    /// Example inputs of a traced module, by method.
    pub inputs: Option<Objects>,
}

/// Returns true if a zip file is a TorchScript archive.
pub fn is_archive(bytes: &[u8]) -> bool {
    let names = zipped::open(bytes).map(|archive| zipped::names(&archive)).unwrap_or_default();
    folder(&names).is_some()
}

/// Returns the folder of the archive, with a final slash; `None` if there is no code, or no module.
fn folder(names: &[String]) -> Option<&str> {
    let folder = names.iter().find_map(|name| name.strip_suffix("constants.pkl"))?;
    let has = |start: &str| {
        names.iter().any(|name| name.strip_prefix(folder).is_some_and(|it| it.starts_with(start)))
    };
    (has("code/") && has("data.pkl")).then_some(folder)
}

/// Returns the finding about an archive that cannot be read, for this reason.
pub fn unreadable(why: &str) -> Finding {
    let message = format!("the TorchScript archive cannot be read: {why}");
    rule_ids::UNREADABLE_PART.at(Level::Error).finding(message, Place::File)
}

impl Archive {
    /// Reads an archive.
    ///
    /// # Errors
    /// The first fault, as a clause for a message.
    pub fn read(bytes: &Bytes) -> Result<Archive, String> {
        let mut zip = zipped::open(bytes.clone())?;
        let names = zipped::names(&zip);
        let folder = folder(&names).ok_or("it contains no TorchScript code")?;
        let order = format!("{folder}byteorder");
        if names.contains(&order) && zipped::inflate(&mut zip, &order, MAX_CODE)?.starts_with(b"big") {
            return Err("the tensors are big-endian, which is not supported".to_owned());
        }
        let (mut files, mut size) = (FxHashMap::default(), 0);
        for name in &names {
            let Some(path) = name.strip_prefix(folder) else { continue };
            let Some(module) = path.strip_prefix("code/").and_then(|path| path.strip_suffix(".py")) else {
                continue;
            };
            let text = zipped::inflate(&mut zip, name, MAX_CODE - size)?;
            size += text.len() as u64;
            let file = parse::file(path, &String::from_utf8_lossy(&text))
                .map_err(|(line, why)| format!("`{path}`, line {line}: {why}"))?;
            files.insert(module.replace('/', "."), file);
        }
        let has = |name: &str| names.contains(&format!("{folder}{name}"));
        let modules = objects::read(bytes, &mut zip, folder, "data", true)?;
        let constants = objects::read(bytes, &mut zip, folder, "constants", true)?;
        let inputs = match has("traced_inputs.pkl") {
            true => Some(objects::read(bytes, &mut zip, folder, "traced_inputs", false)?),
            false => None,
        };
        Ok(Archive { files, modules, constants, inputs })
    }

    /// Returns a class and its file, by its qualified name: `__torch__.torch.nn.modules.conv.Conv2d`.
    pub fn class(&self, name: &str) -> Option<(&File, &Class)> {
        let (module, class) = name.rsplit_once('.')?;
        let file = self.files.get(module)?;
        Some((file, file.classes.get(class)?))
    }

    /// Returns a function and its file, by its qualified name.
    pub fn function(&self, name: &str) -> Option<(&File, &Function)> {
        let (module, function) = name.rsplit_once('.')?;
        let file = self.files.get(module)?;
        Some((file, file.functions.get(function)?))
    }

    /// Returns the qualified name of the class of the saved module.
    pub fn root_class(&self) -> Option<&Arc<str>> {
        match self.modules.get(self.modules.root) {
            Stored::Instance(class, _) => Some(class),
            _ => None,
        }
    }

    /// Returns the function `forward` of the saved module, with its file.
    pub fn forward(&self) -> Option<(&File, &Function)> {
        let (file, class) = self.class(self.root_class()?)?;
        Some((file, class.methods.get("forward")?))
    }
}
