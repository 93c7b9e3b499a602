//! `--calibrate`: measures value ranges on data from files.
//!
//! The model runs in ONNX Runtime if it is found and loads the model, else in our evaluator.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::verify::arrays;
use crate::cli::Failure;
use crate::fix::precision::Measure;
use crate::graph::{Model, ValueId};
use crate::infer::eval::{Array, Val};
use crate::infer::{self};
use crate::read::{file, npz};
use crate::rule_tests::run::{Failure as Unfit, run};

/// The inputs of one run, by name.
type Inputs = FxHashMap<Arc<str>, Array>;

/// Returns a measurement with one run for each file; `None` if `files` is empty.
///
/// # Errors
/// A file cannot be read as arrays.
pub fn measure(files: &[PathBuf]) -> Result<Option<Measure>, Failure> {
    let sets: Vec<Inputs> = files.iter().map(|path| inputs(path)).collect::<Result<_, _>>()?;
    Ok((!sets.is_empty()).then(|| Measure::new(move |model| greatest(model, &sets))))
}

fn inputs(path: &Path) -> Result<Inputs, Failure> {
    let bytes = file::read(path).map_err(|error| Failure::unreadable(path, &error))?;
    let tensors = npz::read(&bytes).map_err(|why| Failure::at(path, why))?;
    let array = |(name, tensor): (String, _)| {
        let array = infer::array(&tensor).ok_or_else(|| Failure::at(path, format!("`{name}` is damaged")))?;
        Ok((Arc::from(name), array))
    };
    tensors.into_iter().map(array).collect()
}

/// Returns the largest finite magnitude of each input and output over all runs.
fn greatest(model: &Model, sets: &[Inputs]) -> Result<FxHashMap<Arc<str>, f64>, String> {
    let mut found: FxHashMap<Arc<str>, f64> = FxHashMap::default();
    let main = &model.graphs[model.main];
    let name = |value: ValueId| model.values[value].name.clone();
    let mut note = |value: ValueId, array: &Array| {
        let numbers = array.f64s().unwrap_or_default();
        let most = numbers.into_iter().map(f64::abs).filter(|x| x.is_finite()).fold(0.0, f64::max);
        let known = found.entry(name(value)).or_default();
        *known = known.max(most);
    };
    let mut loaded = arrays::load(model).ok();
    for set in sets {
        let wanted = main.inputs.iter().filter(|port| model.values[port.value].initial.is_none());
        if let Some(port) = wanted.clone().find(|port| !set.contains_key(&name(port.value))) {
            return Err(format!("the calibration data have no array for input `{}`", name(port.value)));
        }
        let given: Inputs = main
            .inputs
            .iter()
            .filter_map(|port| set.get_key_value(&name(port.value)))
            .map(|(name, array)| (name.clone(), array.clone()))
            .collect();
        let outputs = match &mut loaded {
            Some(loaded) => loaded(&given)?,
            None => run(model, &given).map_err(|unfit| match unfit {
                Unfit::BadInput(why) => why,
                Unfit::Unrunnable(why) => why.to_string(),
            })?,
        };
        for (port, output) in main.outputs.iter().zip(&outputs) {
            if let Val::Tensor(array) = output {
                note(port.value, array);
            }
        }
        for port in &main.inputs {
            if let Some(array) = given.get(&name(port.value)) {
                note(port.value, array);
            }
        }
    }
    Ok(found)
}
