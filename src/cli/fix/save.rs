//! Writes the result, and the external data that belong to it.

use std::fs::File;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use bytes::Bytes;

use super::Source;
use crate::cli::{Failure, output};
use crate::fix::Outcome;
use crate::graph::Model;
use crate::read::external::locate;
use crate::read::sniff::Kind;
use crate::write;
use crate::write::external::{externalize, locations};
use crate::write::file::Pending;
use crate::write::onnx::{Encodable, PROTOBUF_LIMIT};

/// How a model is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    Binary,
    OnnxText,
    Textproto,
    Json,
}

impl Form {
    pub fn of_kind(kind: Kind) -> Form {
        match kind {
            Kind::OnnxText => Form::OnnxText,
            Kind::Textproto => Form::Textproto,
            Kind::Json => Form::Json,
            _ => Form::Binary,
        }
    }

    /// As the name of a file says.
    fn of_path(path: &Path) -> Option<Form> {
        match path.extension()?.to_str()? {
            "onnx" => Some(Form::Binary),
            "onnxtxt" => Some(Form::OnnxText),
            "textproto" | "pbtxt" | "prototxt" => Some(Form::Textproto),
            "json" => Some(Form::Json),
            _ => None,
        }
    }
}

/// What there is to know for writing a model.
pub struct Saver<'a> {
    pub source: &'a Source,
    /// Tensors of at least so many bytes go to a file of their own, if any do.
    pub threshold: usize,
    /// Whether they do, even where the model would not be too large.
    pub external: bool,
}

impl Saver<'_> {
    /// Writes `outcome` to `target`; `-` is standard output. Nothing is replaced before everything is
    /// written.
    pub fn save(&self, outcome: Outcome, target: &Path) -> Result<(), Failure> {
        let to_stdout = target == Path::new("-");
        let form = Form::of_path(target).unwrap_or(self.source.form);
        if !outcome.changed && !self.external && form == self.source.form {
            // To the byte, with whatever this version does not know of.
            let pieces = std::slice::from_ref(&self.source.bytes);
            return self.put(target, pieces, self.copies(&outcome.model, target)?);
        }
        let mut model = outcome.model;
        let mut pending = self.copies(&model, target)?;
        let binary = (form == Form::Binary && !self.external).then(|| Encodable::new(&model));
        let fits = |message: &Encodable| message.len() <= PROTOBUF_LIMIT;
        if let Some(message) = binary.filter(fits) {
            return self.put(target, &message.pieces(), pending);
        }
        if self.external || form == Form::Binary {
            if to_stdout {
                return Err(Failure::new("external data need a file to stand beside; name one with -o"));
            }
            pending.extend(self.externalize(&mut model, target)?);
        }
        self.put(target, &encode(&model, form)?, pending)
    }

    /// Moves large tensors to a file beside `target`; `None` where there are none.
    fn externalize(&self, model: &mut Model, target: &Path) -> Result<Option<Pending>, Failure> {
        let (path, name) = self.data_file(model, target);
        let mut bytes = 0;
        let write = |out: &mut dyn Write| {
            bytes = externalize(model, self.threshold, &name, out)?;
            Ok(())
        };
        let pending = Pending::write(&path, write).map_err(|error| Failure::unwritable(&path, &error))?;
        Ok((bytes > 0).then_some(pending))
    }

    /// `model.onnx.data`, or with a number where the model has data of that name already.
    fn data_file(&self, model: &Model, target: &Path) -> (PathBuf, String) {
        let taken = locations(model);
        let stem = target.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let names = (0u32..).map(|number| match number {
            0 => format!("{stem}.data"),
            number => format!("{stem}.{number}.data"),
        });
        let free = |name: &String| !taken.iter().any(|taken| **taken == **name);
        let name = names.into_iter().find(free).unwrap_or_default();
        (target.with_file_name(&name), name)
    }

    /// The files with external data that `target` needs beside it, where it is not beside the input.
    fn copies(&self, model: &Model, target: &Path) -> Result<Vec<Pending>, Failure> {
        let folder = target.parent().filter(|folder| !folder.as_os_str().is_empty());
        let folder = folder.unwrap_or(Path::new("."));
        let same = folder.canonicalize().ok() == self.source.folder.canonicalize().ok();
        if same || target == Path::new("-") {
            return Ok(Vec::new());
        }
        let mut copies = Vec::new();
        for location in locations(model) {
            let from = locate(&self.source.folder, &location).map_err(|fault| {
                Failure::new(format!("{}: the data of a tensor {fault}", self.source.name))
            })?;
            let to = folder.join(&*location);
            if !to.exists() {
                copies.push(copy(&from, &to).map_err(|error| Failure::unwritable(&to, &error))?);
            } else if !equal(&from, &to).map_err(|error| Failure::unreadable(&to, &error))? {
                let why = "is there already, and is not the external data that the model needs";
                return Err(Failure::at(&to, why));
            }
        }
        Ok(copies)
    }

    /// Writes the model itself, then lets everything take its place: the data first.
    fn put(&self, target: &Path, pieces: &[Bytes], pending: Vec<Pending>) -> Result<(), Failure> {
        if target == Path::new("-") {
            return pieces.iter().try_for_each(|piece| output::print_bytes(piece));
        }
        let write = |out: &mut dyn Write| pieces.iter().try_for_each(|piece| out.write_all(piece));
        if output::is_special(target) {
            return output::replace(target, write);
        }
        let failed = |error| Failure::unwritable(target, &error);
        let model = Pending::write(target, write).map_err(failed)?;
        for data in pending {
            data.keep().map_err(failed)?;
        }
        model.keep().map_err(failed)
    }
}

fn encode(model: &Model, form: Form) -> Result<Vec<Bytes>, Failure> {
    let text = match form {
        Form::Binary => return Ok(Encodable::new(model).pieces()),
        Form::OnnxText => Ok(write::text::write(model)),
        Form::Textproto => write::onnx::to_textproto(model),
        Form::Json => write::onnx::to_json(model),
    };
    text.map(|text| vec![Bytes::from(text)]).map_err(Failure::new)
}

fn copy(from: &Path, to: &Path) -> io::Result<Pending> {
    if let Some(folder) = to.parent() {
        std::fs::create_dir_all(folder)?;
    }
    let mut from = File::open(from)?;
    Pending::write(to, |out| io::copy(&mut from, out).map(drop))
}

/// Whether two files have the same content.
fn equal(one: &Path, other: &Path) -> io::Result<bool> {
    const CHUNK: u64 = 1 << 20;
    let (one, other) = (File::open(one)?, File::open(other)?);
    if one.metadata()?.len() != other.metadata()?.len() {
        return Ok(false);
    }
    loop {
        let (mut left, mut right) = (Vec::new(), Vec::new());
        (&one).take(CHUNK).read_to_end(&mut left)?;
        (&other).take(CHUNK).read_to_end(&mut right)?;
        if left != right || left.is_empty() {
            return Ok(left == right);
        }
    }
}
