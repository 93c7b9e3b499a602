//! `--dynamic`: which axes of which inputs are to be dynamic, and as what.

use indexmap::IndexMap;

use crate::graph::{DeclaredDim, Model, Port, TypeKind, ValueId};

/// `--dynamic INPUT:AXIS=NAME`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FreeDim {
    /// The name of the input, of the main graph.
    pub input: String,
    /// 0-based; negative ones count from the end.
    pub axis: i64,
    /// The `dim_param` it gets.
    pub name: String,
    /// The requested role. `None` means samples for the first axis and for axes of size 1, and a size for others.
    pub holds: Option<AxisRole>,
}

/// The role of an axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AxisRole {
    /// Samples: each has a result of its own.
    Samples,
    /// A size, along which the model may combine elements: height, width, the length of a sequence.
    Size,
}

impl std::str::FromStr for FreeDim {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let parts = text.rsplit_once('=').and_then(|(place, name)| Some((place.rsplit_once(':')?, name)));
        let ((input, axis), name) = parts.ok_or("write INPUT:AXIS=NAME, as in images:0=batch")?;
        let axis = axis.parse().map_err(|_| format!("axis `{axis}` is not a number"))?;
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

/// An axis of an input of the main graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InputAxis {
    /// The input.
    pub value: ValueId,
    /// Its position among the inputs.
    pub at: usize,
    /// The axis, from 0.
    pub axis: usize,
    /// The size that the model declares, where it is a number.
    pub size: Option<i64>,
}

/// Axes that are to get one size.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Group {
    /// The name of the size.
    pub name: String,
    /// The axes, in the order of the request.
    pub axes: Vec<InputAxis>,
    /// The role that the request names.
    pub holds: Option<AxisRole>,
}

impl Group {
    /// The size that the model was traced with; `None` if no axis of the group is static.
    ///
    /// # Errors
    /// Two axes are static and differ.
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

    /// Whether the axes hold samples: one traced sample, or the first axis of each input. Other axes are sizes, along
    /// which a model may combine elements.
    pub fn is_of_samples(&self) -> bool {
        if let Some(holds) = self.holds {
            return holds == AxisRole::Samples;
        }
        self.traced() == Ok(Some(1)) || self.axes.iter().all(|axis| axis.axis == 0)
    }
}

/// Why a request does not fit a model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RequestError {
    /// There is no such input.
    Input(String),
    /// There is an input, and it has so many axes, or declares no shape.
    Axis(String, i64, Option<usize>),
}

/// Finds the axes, those of one name together.
///
/// # Errors
/// The requests that do not fit.
pub fn resolve(model: &Model, requests: &[FreeDim]) -> Result<Vec<Group>, Vec<RequestError>> {
    let mut groups: IndexMap<&str, (Vec<InputAxis>, Option<AxisRole>)> = IndexMap::new();
    let mut misfits = Vec::new();
    for request in requests {
        match axis(model, request) {
            Ok(axis) => {
                let (axes, holds) = groups.entry(&request.name).or_default();
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
    let Some(axis) = super::cx::index(request.axis, dims.len()) else {
        return Err(RequestError::Axis(request.input.clone(), request.axis, Some(dims.len())));
    };
    let size = match dims[axis].dim {
        DeclaredDim::Value(size) if size > 0 => Some(size),
        _ => None,
    };
    Ok(InputAxis { value: inputs[at].value, at, axis, size })
}
