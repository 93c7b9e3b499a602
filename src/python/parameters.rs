//! Guessing of the kind of a parameter from its annotation, its default, and its uses.

use tree_sitter::Node;

use super::syntax::{children, field, fields, text, within};
use super::torch_names;

/// A parameter of a function.
#[derive(Clone, Copy, Debug)]
pub struct Parameter<'t> {
    /// Name.
    pub name: &'t str,
    /// Type annotation.
    pub annotation: Option<Node<'t>>,
    /// Default value.
    pub default: Option<Node<'t>>,
    /// True for `*args` and `**kwargs`.
    pub spread: bool,
    /// True for `**kwargs`.
    pub by_name: bool,
}

/// Returns the parameters of a function or lambda, including `self`.
pub fn parameters<'t>(function: Node<'t>, source: &'t str) -> Vec<Parameter<'t>> {
    let list = field(function, "parameters").map(children).unwrap_or_default();
    list.into_iter().filter_map(|node| parameter(node, source)).collect()
}

fn parameter<'t>(node: Node<'t>, source: &'t str) -> Option<Parameter<'t>> {
    let plain = |name| Parameter { name, annotation: None, default: None, spread: false, by_name: false };
    let annotation = field(node, "type");
    let default = field(node, "value");
    match node.kind() {
        "identifier" => Some(plain(text(node, source))),
        "default_parameter" | "typed_default_parameter" => {
            let name = text(field(node, "name")?, source);
            Some(Parameter { annotation, default, ..plain(name) })
        }
        "typed_parameter" => {
            let name = children(node).into_iter().next()?;
            let spread = name.kind() != "identifier";
            let by_name = name.kind() == "dictionary_splat_pattern";
            let name = text(name, source).trim_start_matches('*');
            Some(Parameter { annotation, spread, by_name, ..plain(name) })
        }
        "list_splat_pattern" | "dictionary_splat_pattern" => {
            let name = text(node, source).trim_start_matches('*');
            let by_name = node.kind() == "dictionary_splat_pattern";
            Some(Parameter { spread: true, by_name, ..plain(name) })
        }
        _ => None,
    }
}

/// Guessed kind of a parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Guess {
    /// Annotated as a tensor, or used like one.
    Tensor,
    /// Presumed to be a tensor, like most inputs of `forward`, without evidence.
    Presumed,
    /// A list or tuple of tensors.
    Tensors,
    /// A dictionary of tensors.
    Mapping,
    Number,
    Bool,
    Str,
    Unknown,
}

/// Guesses the kind of `parameter` of `function`.
pub fn guess(parameter: &Parameter, function: Node, source: &str) -> Guess {
    if parameter.spread {
        let of_tensors =
            parameter.annotation.is_some_and(|annotation| text(annotation, source).ends_with("Tensor"));
        return if of_tensors && !parameter.by_name { Guess::Tensors } else { Guess::Unknown };
    }
    let default = parameter.default.map(|default| default.kind());
    match parameter.annotation.map(|annotation| annotated(text(annotation, source))) {
        // The default of `flag: Tensor | None = False` shows that the annotation is wrong.
        Some(Guess::Tensor) if matches!(default, Some("true" | "false")) => {}
        Some(guess) => return guess,
        None => {}
    }
    match default {
        Some("true" | "false") => return Guess::Bool,
        Some("integer" | "float" | "unary_operator") => return Guess::Number,
        Some("string" | "concatenated_string") => return Guess::Str,
        Some("none" | "call") | None => {}
        Some(_) => return Guess::Unknown,
    }
    used(parameter.name, function, source)
}

fn annotated(annotation: &str) -> Guess {
    let tensor = annotation.contains("Tensor");
    let container =
        ["List", "list", "Tuple", "tuple", "Sequence", "Iterable", "Dict", "dict", "Union", "Callable"];
    let contained = container.iter().any(|name| annotation.contains(&format!("{name}[")));
    let mapping = ["Dict", "dict", "Mapping", "TensorDict", "PackedSequence", "NestedTensor", "SparseTensor"];
    let mut numbers = annotation.split(|c: char| !c.is_alphanumeric());
    match annotation.trim_matches(['"', '\'']) {
        annotation if is_mapping_of_tensors(annotation) => Guess::Mapping,
        _ if mapping.iter().any(|name| annotation.contains(name)) => Guess::Unknown,
        // `int | torch.Tensor` may be either.
        _ if tensor && numbers.any(|part| matches!(part, "int" | "float" | "bool" | "str")) => Guess::Unknown,
        _ if tensor && contained => {
            let union = annotation.contains("Union[") || annotation.contains("Callable[");
            if union { Guess::Unknown } else { Guess::Tensors }
        }
        _ if tensor => Guess::Tensor,
        "int" | "float" | "Optional[int]" | "Optional[float]" | "int | None" | "float | None" => {
            Guess::Number
        }
        "bool" | "Optional[bool]" | "bool | None" => Guess::Bool,
        "str" | "Optional[str]" | "str | None" => Guess::Str,
        _ => Guess::Unknown,
    }
}

/// Returns true for the annotation of a list or tuple without tensors, such as `list[tuple]`.
pub fn is_list_of_others(parameter: &Parameter, source: &str) -> bool {
    let Some(annotation) = parameter.annotation.map(|annotation| text(annotation, source)) else {
        return false;
    };
    matches!(container(annotation), "List" | "list" | "Tuple" | "tuple" | "Sequence")
        && !annotation.contains("Tensor")
}

/// Returns the name of a container type, such as `List` of `typing.List[int]`.
fn container(annotation: &str) -> &str {
    let path = annotation.split('[').next().unwrap_or(annotation);
    path.rsplit('.').next().unwrap_or(path)
}

/// Returns true for `Dict[str, torch.Tensor]` and similar annotations.
fn is_mapping_of_tensors(annotation: &str) -> bool {
    let inside = annotation.strip_suffix(']').and_then(|of| of.split_once('['));
    let values = inside.and_then(|(_, of)| of.strip_prefix("str,")).map_or("", str::trim);
    matches!(container(annotation), "Dict" | "dict" | "Mapping")
        && matches!(values, "Tensor" | "torch.Tensor")
}

/// Guesses the kind of a parameter from its uses in the function body.
fn used(name: &str, function: Node, source: &str) -> Guess {
    let Some(body) = field(function, "body") else { return Guess::Presumed };
    let mut guess = Guess::Presumed;
    for node in within(body) {
        if node.kind() != "identifier" || text(node, source) != name {
            continue;
        }
        match use_of(node, source) {
            Some(false) => return Guess::Unknown,
            Some(true) => guess = Guess::Tensor,
            None => {}
        }
    }
    guess
}

/// Returns whether a use implies a tensor (`true`), another type (`false`), or neither (`None`).
fn use_of(name: Node, source: &str) -> Option<bool> {
    let parent = name.parent()?;
    let is = |field_name| field(parent, field_name).is_some_and(|child| child == name);
    match parent.kind() {
        "attribute" if is("object") => {
            let attribute = text(field(parent, "attribute")?, source);
            // Objects that are no tensors may also have these attributes.
            let either = matches!(attribute, "sort" | "data" | "to" | "device" | "type" | "split");
            if either { None } else { Some(torch_names::is_tensor_attribute(attribute)) }
        }
        // An assignment or a keyword argument does not indicate the type of the name.
        "keyword_argument" | "assignment" => None,
        "subscript" if is("value") => {
            let keys = fields(parent, "subscript");
            match keys.as_slice() {
                [key] if key.kind() == "string" => Some(false),
                [_, _, ..] => Some(true),
                _ => None,
            }
        }
        "argument_list" => argument_use(parent.parent()?, name, source),
        "list" | "tuple" => joined(parent, source).then_some(true),
        _ => None,
    }
}

/// Returns true if a list is joined by `torch.cat`, `torch.stack` or similar, and so contains tensors.
fn joined(list: Node, source: &str) -> bool {
    let arguments = list.parent().filter(|parent| parent.kind() == "argument_list");
    let function = arguments.and_then(|arguments| field(arguments.parent()?, "function"));
    let name = function.map_or("", |function| text(function, source));
    let joins = ["cat", "concat", "stack", "hstack", "vstack", "dstack"];
    name.strip_prefix("torch.").is_some_and(|name| joins.contains(&name))
}

/// Like `use_of`, for an argument of a call.
/// `torch.relu(x)` implies a tensor, and `isinstance(x, list)` implies another type.
fn argument_use(call: Node, name: Node, source: &str) -> Option<bool> {
    let function = text(field(call, "function")?, source);
    let (module, last) = function.rsplit_once('.').unwrap_or(("", function));
    let first = field(call, "arguments").map(children)?.first() == Some(&name);
    if matches!(function, "isinstance" | "hasattr" | "getattr") {
        return Some(false);
    }
    let of_torch = matches!(module, "torch" | "F" | "nn.functional" | "torch.nn.functional");
    let takes_lists =
        matches!(last, "cat" | "stack" | "concat" | "hstack" | "vstack" | "tensor" | "as_tensor");
    let makes = torch_names::factory(last).is_some() || takes_lists || !torch_names::is_tensor_function(last);
    (of_torch && first && !makes).then_some(true)
}
