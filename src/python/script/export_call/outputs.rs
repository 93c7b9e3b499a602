//! Checks after the model ran: unused and reordered inputs; number, order and axes of outputs.

use tree_sitter::Node;

use crate::diag::Level;
use crate::diag::rule_ids::{EXAMPLE_TYPE, INPUT_ORDER, OUTPUT_ORDER, UNUSED_INPUT};

use super::super::super::syntax::{bare, children, field, string, text, within};
use super::super::exporting::EXPORT_TESTS;
use super::super::value::Value;
use super::check::{Check, Words};
use super::request::{Exporter, add_tensors};

impl<'t> Check<'_, '_, 't> {
    /// Checks the result of `forward`.
    pub fn outputs(&mut self, outputs: &Value<'t>) {
        if self.request.function != "torch.onnx.export" {
            return;
        }
        if self.machine.has_data_class(outputs, 0) {
            let (rule, node) = (EXAMPLE_TYPE, self.request.call.node);
            self.say(
                Words::new(rule, node, "`forward` returns a data class, which is no output of a model")
                    .note("the exporter raises: outputs are tensors, and tuples, lists and dictionaries of tensors")
                    .help("return a tuple of tensors, as in a module that calls the model"),
            );
            return;
        }
        if *outputs == Value::None && self.returns_nothing() {
            return;
        }
        self.unused_inputs();
        let mut tensors = vec![];
        if add_tensors(self.machine, outputs, |_| false, &mut tensors, 0).is_some() && !tensors.is_empty() {
            self.output_count(tensors.len());
            self.output_axes(&tensors);
        }
        self.output_order(outputs);
        self.input_order();
    }

    /// Reports a `forward` of the script without `return`, whose file has no output.
    fn returns_nothing(&mut self) -> bool {
        let function = self.request.model().cloned().and_then(|model| self.machine.forward_function(&model));
        let Some(body) = function.as_ref().and_then(|function| field(function.node, "body")) else {
            return false;
        };
        let ends = |node: &Node<'t>| match node.kind() {
            "return_statement" => children(*node).first().is_some_and(|value| value.kind() != "none"),
            kind => matches!(kind, "yield" | "raise_statement"),
        };
        if within(body).iter().any(ends) {
            return false;
        }
        let is_refused = self.request.exporter == Exporter::Tracing
            && self.names("output_names").is_some_and(|names| !names.is_empty());
        let note = match is_refused {
            true => "the exporter raises a RuntimeError: there are more `output_names` than outputs",
            false => "a model without outputs computes nothing",
        };
        let node = self.request.call.node;
        self.say(
            Words::new(EXAMPLE_TYPE, node, "`forward` returns nothing, so the model has no output")
                .note(note)
                .help("end `forward` with `return` and the result"),
        );
        true
    }

    /// Reports `input_names` that give a parameter of `forward` the name of another parameter.
    fn input_order(&mut self) {
        let request = self.request;
        let Some(names) = self.names("input_names").filter(|names| names.len() > 1) else { return };
        let Some(model) = request.model().cloned() else { return };
        let (Some(inputs), Some(parameters)) =
            (request.inputs.clone(), self.machine.forward_parameters(&model))
        else {
            return;
        };
        let positional = inputs.iter().filter(|input| input.name.is_none()).count();
        let mut own: Vec<String> =
            parameters.iter().take(positional).map(|parameter| parameter.name.to_owned()).collect();
        let keywords: Vec<String> =
            inputs.iter().filter_map(|input| input.name.as_ref().map(ToString::to_string)).collect();
        match request.exporter {
            // Keyword arguments keep the order of their dictionary.
            Exporter::Dynamo => own.extend(keywords),
            Exporter::Tracing => own.extend(
                parameters
                    .iter()
                    .skip(positional)
                    .filter(|parameter| keywords.iter().any(|name| name == parameter.name))
                    .map(|parameter| parameter.name.to_owned()),
            ),
            _ => return,
        }
        let own: Vec<Option<String>> = own.into_iter().map(Some).collect();
        if let Some((own_name, given)) = crossed(&own, &names) {
            let node = request.node("input_names");
            let (note, help) = match request.exporter {
                Exporter::Dynamo => (
                    "names are assigned to the inputs in the order of the example",
                    "list the names in the order of the example",
                ),
                _ => (
                    "names are assigned to the inputs in the order of the parameters of `forward`",
                    "list the names in the order of the parameters",
                ),
            };
            self.say(
                Words::new(
                    INPUT_ORDER,
                    node,
                    format!("the input `{own_name}` of `forward` gets the name `{given}`"),
                )
                .note(note)
                .help(help),
            );
        }
    }

    /// Reports tensors that `forward` does not use.
    fn unused_inputs(&mut self) {
        let request = self.request;
        // `dynamo=True` keeps unused inputs.
        if request.exporter != Exporter::Tracing {
            return;
        }
        let Some(model) = request.model().cloned() else { return };
        // A traced module computes what the module computed.
        let is_traced =
            self.machine.library_class(&model).as_deref() == Some("torch.jit.TopLevelTracedModule");
        let original = self.machine.attribute_of(&model, "original").filter(|_| is_traced);
        let model = original.unwrap_or(model);
        let (Some(function), Some(inputs)) = (self.machine.forward_function(&model), request.inputs.clone())
        else {
            return;
        };
        let Some(parameters) = self.machine.forward_parameters(&model) else { return };
        let Some(body) = field(function.node, "body") else { return };
        let source = self.machine.source(function.file);
        let nodes = all_within(body);
        if nodes
            .iter()
            .any(|node| node.kind() == "call" && matches!(callee(*node, source), "locals" | "vars" | "eval"))
        {
            return;
        }
        let names = self.names("input_names").unwrap_or_default();
        for (at, parameter) in parameters.iter().enumerate() {
            let given = inputs.iter().enumerate().find(|(place, input)| match &input.name {
                Some(name) => **name == *parameter.name,
                None => *place == at,
            });
            let Some((place, input)) = given else { continue };
            let uses: Vec<Node> =
                nodes.iter().copied().filter(|node| is_use(*node, parameter.name, source)).collect();
            let is_used = !uses.is_empty()
                && !is_overwritten(body, parameter.name, source)
                && self.machine.may_read(parameter.name);
            let is_converted = names.get(place).is_some()
                && !uses.is_empty()
                && uses.iter().all(|node| is_conversion(*node, source))
                && !self.mentions_here(&EXPORT_TESTS);
            if input.value.tensor().is_none() || is_used && !is_converted {
                continue;
            }
            self.dropped.push(place);
            let words = match is_converted {
                true => {
                    self.converted_input(parameter.name).related(function.file, uses[0], "converted here")
                }
                false => {
                    let shown = names.get(place).map_or(parameter.name, String::as_str);
                    let definition = definition_of(function.node, parameter.name, source);
                    self.unused_input(parameter.name, shown).related(
                        function.file,
                        definition,
                        "the parameter",
                    )
                }
            };
            self.say(words);
        }
    }

    fn converted_input(&self, parameter: &str) -> Words<'t> {
        let message = format!("`forward` takes only Python numbers from `{parameter}`");
        Words::new(UNUSED_INPUT, self.request.node("args"), message)
            .at(Level::Error)
            .note(
                "the tracing exporter drops the input: its elements are those of the example for all inputs",
            )
            .help("compute with the tensor itself, or pass the numbers to `__init__`")
    }

    fn unused_input(&self, parameter: &str, shown: &str) -> Words<'t> {
        let message = format!("`forward` does not use `{parameter}`");
        Words::new(UNUSED_INPUT, self.request.node("args"), message)
            .note("the tracing exporter drops the input: feeding it to a runtime fails")
            .help(format!("use the input in `forward`, or remove `{shown}` from the example and the names"))
    }

    /// Returns the keys of a dictionary of tensors.
    fn output_keys(&self, outputs: &Value<'t>) -> Option<Vec<Option<String>>> {
        let key = |(key, value): &(Value<'t>, Value<'t>)| {
            Some(Some(key.text().filter(|_| value.tensor().is_some())?.to_owned()))
        };
        self.machine.entries(outputs)?.iter().map(key).collect()
    }

    /// Returns the names of the variables in the only `return` statement of `forward`.
    fn returned_variables(&self, outputs: &Value<'t>) -> Option<Vec<Option<String>>> {
        let function = self.machine.forward_function(self.request.model()?)?;
        let body = field(function.node, "body")?;
        let returned: Vec<Node> =
            within(body).into_iter().filter(|node| node.kind() == "return_statement").collect();
        let [only] = returned.as_slice() else { return None };
        let value = children(*only).first().copied()?;
        let source = self.machine.source(function.file);
        let fields = self.field_names(bare(value), outputs, source);
        Some(fields.unwrap_or_else(|| returned_names(bare(value), source)))
    }

    /// Returns the fields of a `NamedTuple` or dataclass that `forward` constructs.
    fn field_names(&self, value: Node<'t>, outputs: &Value<'t>, source: &str) -> Option<Vec<Option<String>>> {
        let class = field(value, "function").filter(|class| class.kind() == "identifier")?;
        let class = self.machine.variable(text(class, source)).object()?;
        let fields = self.machine.heap.class(class)?.fields.as_ref()?;
        let given = field(value, "arguments").map(children)?;
        let is_plain = given.iter().all(|one| !matches!(one.kind(), "dictionary_splat" | "list_splat"));
        // A field without a tensor is no output, and a tuple is several.
        let is_output = |name: &str| {
            self.machine.attribute_of(outputs, name).is_some_and(|field| field.tensor().is_some())
        };
        let are_outputs = fields.len() == given.len() && fields.iter().all(|(name, _)| is_output(name));
        let named = fields.iter().map(|(name, _)| Some((*name).to_owned()));
        (is_plain && are_outputs).then(|| named.collect())
    }

    /// Reports `output_names` that give an output of `forward` the name of another output.
    fn output_order(&mut self, outputs: &Value<'t>) {
        let request = self.request;
        let Some(names) = self.names("output_names").filter(|names| names.len() > 1) else { return };
        let keys = self.output_keys(outputs);
        // Keys are names of outputs; variables may have any name.
        let level = if keys.is_some() { Level::Error } else { OUTPUT_ORDER.level };
        let own = keys.or_else(|| self.returned_variables(outputs));
        let Some((own_name, given)) = own.and_then(|own| crossed(&own, &names)) else { return };
        let node = request.node("output_names");
        self.say(
            Words::new(
                OUTPUT_ORDER,
                node,
                format!("the output `{own_name}` of `forward` gets the name `{given}`"),
            )
            .at(level)
            .note("names are assigned to the outputs in their order")
            .help("list the names in the order in which `forward` returns the tensors"),
        );
    }
}

/// Returns the first name of `own` that `names` has at another position, and the name that replaces it.
///
/// Both names are in `own`: `names` lists the outputs in a different order.
fn crossed(own: &[Option<String>], names: &[String]) -> Option<(String, String)> {
    own.iter().enumerate().find_map(|(at, name)| {
        let name = name.as_ref()?;
        let place = names.iter().position(|other| other == name)?;
        let other = names.get(at)?;
        let is_crossed = place != at && own.iter().flatten().any(|own| own == other);
        is_crossed.then(|| (name.clone(), other.clone()))
    })
}

/// Returns names of returned values: variables, attributes, methods of `self`, or dictionary keys.
fn returned_names(value: Node, source: &str) -> Vec<Option<String>> {
    let name = |node: Node| match bare(node).kind() {
        "identifier" => Some(text(bare(node), source).to_owned()),
        "attribute" => field(bare(node), "attribute").map(|name| text(name, source).to_owned()),
        // The result of `self.boxes(x)` gets the name `boxes`.
        "call" => {
            let method = field(bare(node), "function").filter(|function| function.kind() == "attribute")?;
            let object = field(method, "object").map_or("", |object| text(object, source));
            (object == "self").then(|| field(method, "attribute"))?.map(|name| text(name, source).to_owned())
        }
        _ => None,
    };
    match value.kind() {
        "tuple" | "expression_list" | "list" => children(value).into_iter().map(name).collect(),
        "dictionary" => {
            let pairs = children(value).into_iter();
            pairs.map(|pair| string(field(pair, "key")?, source).map(str::to_owned)).collect()
        }
        _ => vec![],
    }
}

/// Returns all nodes of a body, including those of nested functions.
fn all_within(body: Node) -> Vec<Node> {
    let mut found = vec![];
    let mut todo = vec![body];
    while let Some(node) = todo.pop() {
        found.push(node);
        todo.extend(children(node));
    }
    found
}

fn callee<'s>(call: Node, source: &'s str) -> &'s str {
    field(call, "function").map_or("", |function| text(function, source))
}

/// Returns true if the first statement that mentions a variable assigns it without reading it.
fn is_overwritten(body: Node, name: &str, source: &str) -> bool {
    let mentions = |node: Node| {
        all_within(node).into_iter().any(|node| node.kind() == "identifier" && text(node, source) == name)
    };
    let Some(first) = children(body).into_iter().find(|statement| mentions(*statement)) else { return false };
    let assignment = children(first).first().copied().filter(|node| node.kind() == "assignment");
    assignment.is_some_and(|assignment| {
        let left = field(assignment, "left").is_some_and(|left| text(left, source) == name);
        left && field(assignment, "right").is_some_and(|right| !mentions(right))
    })
}

/// Returns true if a read of a variable converts its tensor to Python numbers.
fn is_conversion(node: Node, source: &str) -> bool {
    let Some(parent) = node.parent().filter(|parent| field(*parent, "object") == Some(node)) else {
        return false;
    };
    let is_called = parent.parent().is_some_and(|call| {
        call.kind() == "call"
            && field(call, "function") == Some(parent)
            && field(call, "arguments").is_some_and(|list| list.named_child_count() == 0)
    });
    let name = field(parent, "attribute").map_or("", |name| text(name, source));
    is_called && matches!(name, "tolist" | "item")
}

/// Returns true if a node reads a variable.
fn is_use(node: Node, name: &str, source: &str) -> bool {
    if node.kind() != "identifier" || text(node, source) != name {
        return false;
    }
    node.parent().is_none_or(|parent| match parent.kind() {
        "attribute" => field(parent, "object") == Some(node),
        "keyword_argument" => field(parent, "value") == Some(node),
        "assignment" => field(parent, "left") != Some(node),
        "delete_statement" => false,
        _ => true,
    })
}

/// Returns the node that defines a parameter, or else the function.
fn definition_of<'t>(function: Node<'t>, parameter: &str, source: &str) -> Node<'t> {
    let defined = field(function, "parameters").map(children).unwrap_or_default();
    let named = defined.into_iter().find(|node| {
        let name = field(*node, "name").or_else(|| children(*node).first().copied()).unwrap_or(*node);
        text(name, source) == parameter
    });
    named.unwrap_or(function)
}
