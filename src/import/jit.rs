//! Conversion of TorchScript archives to programs.
//!
//! An interpreter runs the code of the archive (`interpreter`): it folds everything that depends only on
//! constants and shapes, inlines all calls, unrolls loops, and records the operators on tensors (`recorder`).
//! The code has no types: the types of the inputs are declared or recorded (`inputs`), the dtypes of results
//! follow from PyTorch's rules (`dtype`), and their shapes from the operators (`shapes`, `oracle`).

mod branch;
mod conversion;
mod decomposed;
mod dtype;
mod expression;
mod fault;
mod inputs;
mod interpreter;
mod item;
mod lists;
mod loops;
mod numbers;
mod operator;
mod oracle;
mod preserving;
mod properties;
mod recorder;
mod resolve;
mod shapes;
mod subgraphs;

pub use inputs::InputShape;

use crate::diag::{Finding, Place, rule_ids};
use crate::read::jit::Archive;
use crate::read::pt2::Exported;
use crate::rules::registry::RuleSet;
use crate::torch::Argument;
use fault::Fault;
use interpreter::Interpreter;
use item::Item;
use oracle::Oracle;

/// Converts an archive to a program. Inputs have the declared shapes, or those of the examples.
///
/// # Errors
/// Returns one finding for each construct that is unsupported.
pub fn program(archive: &Archive, shapes: &[InputShape], rules: &RuleSet) -> Result<Exported, Vec<Finding>> {
    run(archive, shapes, rules, false)
}

/// Converts an archive to a program for linting: sizes are not folded, and types may be unknown.
///
/// # Errors
/// Returns one finding for each construct that is unsupported.
pub fn outline(archive: &Archive, rules: &RuleSet) -> Result<Exported, Vec<Finding>> {
    run(archive, &[], rules, true)
}

fn run(
    archive: &Archive,
    shapes: &[InputShape],
    rules: &RuleSet,
    lenient: bool,
) -> Result<Exported, Vec<Finding>> {
    let Some((file, forward)) = archive.forward() else {
        let message = "the program is not supported: its module has no method `forward`";
        return Err(vec![rule_ids::NOT_CONVERTIBLE.finding(message, Place::File)]);
    };
    let mut interpreter = Interpreter::new(archive, Oracle::new(rules));
    interpreter.lenient = lenient;
    interpreter.recorder.keeps_sizes = lenient;
    let names = shapes.iter().flat_map(|shape| shape.dims.iter().flat_map(|dim| dim.symbols()));
    interpreter.recorder.taken = names.map(ToString::to_string).collect();
    let made = interpreter.inputs(forward, shapes).and_then(|given| {
        let arguments = [Item::Object(archive.modules.root)].into_iter().chain(given).collect();
        interpreter.function((file, forward), arguments, Vec::new())
    });
    let outputs = made.and_then(|result| {
        let mut outputs = Vec::new();
        flatten(&mut interpreter, &result, &mut outputs)?;
        Ok(outputs)
    });
    let outputs = outputs.map_err(|fault| interpreter.findings(fault))?;
    let mut recorder = interpreter.recorder;
    recorder.finish(outputs);
    Ok(Exported {
        trace: recorder.trace,
        weights: recorder.weights,
        state: recorder.state,
        updates: Vec::new(),
    })
}

/// Collects the tensors and numbers of a result.
fn flatten(interpreter: &mut Interpreter, result: &Item, into: &mut Vec<Argument>) -> Result<(), Fault> {
    interpreter.members += 1;
    if interpreter.members > interpreter::MAX_MEMBERS {
        return Err("its result has too many members".into());
    }
    if let Some(members) = result.members() {
        return members.iter().try_for_each(|member| flatten(interpreter, member, into));
    }
    if let Item::Dict(dict) = result {
        let items = dict.items.borrow().clone();
        return items.iter().try_for_each(|(_, value)| flatten(interpreter, value, into));
    }
    into.push(match result {
        // A constant number is an output, too: the others keep their positions.
        Item::Bool(_) | Item::Int(_) | Item::Float(_) if !interpreter.lenient => {
            Argument::Value(interpreter.as_value(result)?)
        }
        Item::Str(_) | Item::Other(_) | Item::None => Argument::None,
        other => interpreter.argument(other)?,
    });
    Ok(())
}
