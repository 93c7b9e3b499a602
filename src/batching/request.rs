//! Requests of `--dynamic`: input axes to make dynamic, their symbolic dimensions, and their roles.

use indexmap::IndexMap;

use crate::graph::{DeclaredDim, Model, Port, TypeKind, ValueId};
use crate::infer::eval::index;

/// Request of the option `--dynamic INPUT:AXIS=NAME`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FreeDim {
    /// Name of an input of the main graph.
    pub input: String,
    /// Axis, 0-based; a negative axis counts from the end.
    pub axis: i64,
    /// Name of the symbolic dimension (`dim_param`).
    pub name: String,
    /// Requested role; if `None`, [`Group::is_of_samples`] determines it.
    pub holds: Option<AxisRole>,
}

/// Role of an axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AxisRole {
    /// Samples, each of which has its own result.
    Samples,
    /// Size along which the model may combine elements, such as height, width or sequence length.
    Size,
}

impl std::str::FromStr for FreeDim {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let parts = text.rsplit_once('=').and_then(|(place, name)| Some((place.rsplit_once(':')?, name)));
        let ((input, axis), name) = parts.ok_or("write INPUT:AXIS=NAME, as in images:0=batch")?;
        let axis = axis.parse().map_err(|_| format!("axis `{axis}` is not an integer"))?;
        let (name, holds) = match name.rsplit_once(':') {
            Some((name, "samples")) => (name, Some(AxisRole::Samples)),
            Some((name, "size")) => (name, Some(AxisRole::Size)),
            _ => (name, None),
        };
        if name.is_empty() {
            return Err("the dimension needs a name, as in images:0=batch".to_owned());
        }
        Ok(FreeDim { input: input.to_owned(), axis, name: name.to_owned(), holds })
    }
}

/// Axis of an input of the main graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InputAxis {
    /// Input that has the axis.
    pub value: ValueId,
    /// Position of the input among the inputs of the main graph.
    pub at: usize,
    /// Axis, 0-based.
    pub axis: usize,
    /// Declared static size, if there is one above 0.
    pub size: Option<i64>,
}

/// Axes that share one symbolic dimension.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Group {
    /// Name of the symbolic dimension.
    pub name: String,
    /// Axes, in the order of the request.
    pub axes: Vec<InputAxis>,
    /// Requested role, if any.
    pub holds: Option<AxisRole>,
}

impl Group {
    /// Returns the traced size; `None` if no axis of the group has a static size above 0.
    ///
    /// # Errors
    /// Returns two of the static sizes if they differ.
    pub fn traced(&self) -> Result<Option<i64>, (i64, i64)> {
        let mut found = None;
        for size in self.axes.iter().filter_map(|axis| axis.size) {
            match found {
                Some(known) if known != size => return Err((known, size)),
                _ => found = Some(size),
            }
        }
        Ok(found)
    }

    /// Returns true if the axes hold samples.
    /// By default, axes hold samples if the traced size is 1, or if each axis is the first axis of its input.
    pub fn is_of_samples(&self) -> bool {
        if let Some(holds) = self.holds {
            return holds == AxisRole::Samples;
        }
        self.traced() == Ok(Some(1)) || self.axes.iter().all(|axis| axis.axis == 0)
    }
}

/// Reason why a request does not match a model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RequestError {
    /// No input has this name.
    Input(String),
    /// The axis is out of range for the input, or the input has no declared shape.
    /// Contains the name, the axis, and the rank (`None` if the input has no declared shape).
    Axis(String, i64, Option<usize>),
    /// One request gives the dimension with this name the role `samples`, another one the role `size`.
    Roles(String),
}

/// Resolves requests to axes, grouped by symbolic dimension.
///
/// # Errors
/// Returns the requests that do not match the model.
pub fn resolve(model: &Model, requests: &[FreeDim]) -> Result<Vec<Group>, Vec<RequestError>> {
    let mut groups: IndexMap<&str, (Vec<InputAxis>, Option<AxisRole>)> = IndexMap::new();
    let mut misfits = Vec::new();
    for request in requests {
        match axis(model, request) {
            Ok(axis) => {
                let (axes, holds) = groups.entry(&request.name).or_default();
                if holds.zip(request.holds).is_some_and(|(known, other)| known != other) {
                    misfits.push(RequestError::Roles(request.name.clone()));
                }
                *holds = holds.or(request.holds);
                if !axes.contains(&axis) {
                    axes.push(axis);
                }
            }
            Err(misfit) => misfits.push(misfit),
        }
    }
    let group = |(name, (axes, holds)): (&str, _)| Group { name: name.to_owned(), axes, holds };
    if misfits.is_empty() { Ok(groups.into_iter().map(group).collect()) } else { Err(misfits) }
}

/// Resolves one request.
fn axis(model: &Model, request: &FreeDim) -> Result<InputAxis, RequestError> {
    let inputs = &model.graphs[model.main].inputs;
    let is_named = |port: &Port| *model.values[port.value].name == *request.input;
    let Some(at) = inputs.iter().position(is_named) else {
        return Err(RequestError::Input(request.input.clone()));
    };
    let kind = inputs[at].info.ty.as_ref().map(|ty| &ty.kind);
    let Some(TypeKind::Tensor { shape: Some(dims), .. }) = kind else {
        return Err(RequestError::Axis(request.input.clone(), request.axis, None));
    };
    let Some(axis) = index(request.axis, dims.len()) else {
        return Err(RequestError::Axis(request.input.clone(), request.axis, Some(dims.len())));
    };
    let size = match dims[axis].dim {
        DeclaredDim::Value(size) if size > 0 => Some(size),
        _ => None,
    };
    Ok(InputAxis { value: inputs[at].value, at, axis, size })
}
