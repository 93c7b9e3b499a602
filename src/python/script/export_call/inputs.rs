//! The example: its type, Python numbers in it, and the file that the export writes.

use tree_sitter::Node;

use crate::diag::Applicability;
use crate::diag::rule_ids::{CONSTANT_INPUT, EXAMPLE_TYPE};

use super::super::super::report::Piece;
use super::super::super::syntax::{children, field, text, within};
use super::super::binding::{Parameter, ParameterKind};
use super::super::value::Value;
use super::check::{Check, Words};
use super::request::Exporter;
use super::value_node;

impl<'t> Check<'_, '_, 't> {
    /// Checks the example.
    pub fn example(&mut self) {
        let request = self.request;
        if matches!(request.exporter, Exporter::Other | Exporter::Trace) {
            return;
        }
        let Some(args) = request.given("args").cloned() else { return };
        let node = request.node("args");
        let is_program = request.exporter == Exporter::Program;
        let is_list = args.object().is_some_and(|object| {
            matches!(self.machine.heap.get(object), super::super::heap::Object::List(_))
        });
        let is_dict = self.machine.entries(&args).is_some();
        let source = self.source();
        if is_list || is_program && matches!(args, Value::Tensor(_)) {
            let what = if is_list { "a list" } else { "a tensor" };
            let inner = value_node(node);
            let written = text(inner, source);
            let by = match inner.kind() {
                "list" => {
                    let items = written
                        .trim_start_matches('[')
                        .trim_end_matches(']')
                        .trim_end()
                        .trim_end_matches(',');
                    format!("({items},)")
                }
                _ if is_list => format!("tuple({written})"),
                _ => format!("({written},)"),
            };
            let note = match request.exporter {
                Exporter::Tracing => "the tracing exporter passes the list as one argument of `forward`",
                _ => "torch.export requires a tuple, and raises",
            };
            let count = self.machine.items(&args).map_or(0, |items| items.len());
            let takes_list = request.exporter == Exporter::Tracing && (count == 0 || self.takes_list());
            if takes_list {
                return;
            }
            self.say_raised(
                Words::new(EXAMPLE_TYPE, node, format!("the example is {what}, not a tuple"))
                    .note(note)
                    .help(format!("write `{}`", super::super::super::syntax::on_one_line(&by)))
                    .rewrite(Piece::instead(inner, &by, Applicability::Safe, source)),
            );
        } else if is_dict && request.exporter == Exporter::Dynamo {
            let by = format!("({},)", text(value_node(node), source));
            self.say_raised(
                Words::new(EXAMPLE_TYPE, node, "the example is a dictionary, not a tuple")
                    .note("the exporter raises a KeyError")
                    .help("pass `kwargs=…`, or a tuple that ends with the dictionary")
                    .rewrite(Piece::instead(value_node(node), &by, Applicability::Safe, source)),
            );
        } else if is_dict && is_program {
            self.say_raised(
                Words::new(EXAMPLE_TYPE, node, "the example is a dictionary, not a tuple")
                    .note("torch.export requires a tuple, and raises")
                    .help(format!(
                        "pass the dictionary by name: `(), kwargs={}`",
                        text(value_node(node), source)
                    )),
            );
        } else if self.is_size(&args) {
            self.say_raised(
                Words::new(EXAMPLE_TYPE, node, "the example is a tuple of numbers, not of tensors")
                    .note("the exporter passes each number as an argument of `forward`")
                    .help("pass a tensor of this size: `torch.randn(…)`"),
            );
        } else if self.is_array(&args) {
            self.array(node, &args);
        }
        self.items_of_example();
    }

    /// Returns true if the first parameter of `forward` may be a list.
    ///
    /// A parameter may be a list if `forward` indexes, iterates over or assigns the parameter, or if the
    /// parameter is unknown.
    fn takes_list(&mut self) -> bool {
        let Some(model) = self.request.model().cloned() else { return true };
        let Some(function) = self.machine.forward_function(&model) else { return false };
        let Some(parameters) = self.machine.forward_parameters(&model) else { return true };
        let Some(first) = parameters.first() else { return true };
        let source = self.machine.source(function.file);
        let Some(body) = field(function.node, "body") else { return true };
        within(body).iter().any(|node| {
            let parent = node.parent();
            let kind = parent.map_or("", |parent| parent.kind());
            let of = parent.and_then(|parent| field(parent, "value").or_else(|| field(parent, "right")));
            let is_listed = matches!(kind, "subscript" | "for_statement" | "for_in_clause" | "list_splat")
                && (of == Some(*node) || kind == "list_splat");
            node.kind() == "identifier"
                && text(*node, source) == first.name
                && (is_listed || kind == "assignment")
        })
    }

    /// Returns true if a size, such as `(1, 3, 224, 224)`, is passed in place of an example.
    fn is_size(&self, args: &Value<'t>) -> bool {
        let Value::Tuple(items) = args else { return false };
        let is_number = |item: &Value| matches!(item, Value::Int(_));
        let model = self.request.model().cloned().unwrap_or_default();
        let is_sequential = self.machine.library_class(&model).as_deref() == Some("torch.nn.Sequential")
            && self.machine.forward_function(&model).is_none();
        items.len() > 1 && items.iter().all(is_number)
            || is_sequential && items.first().is_some_and(is_number)
    }

    /// Returns true for a NumPy array or an image.
    fn is_array(&self, value: &Value<'t>) -> bool {
        let class = self.machine.library_class(value).unwrap_or_default();
        class.starts_with("numpy.") || class.starts_with("PIL.")
    }

    fn array(&mut self, node: Node<'t>, value: &Value<'t>) {
        let class = self.machine.library_class(value).unwrap_or_default();
        let (what, help) = if class.starts_with("PIL.") {
            ("an image", "convert it, as in `torchvision.transforms.functional.to_tensor(image)[None]`")
        } else {
            ("a NumPy array", "convert it: `torch.from_numpy(…)`")
        };
        self.say_raised(
            Words::new(EXAMPLE_TYPE, node, format!("the example is {what}, not a tensor"))
                .note("the exporter requires tensors, and raises")
                .help(help),
        );
    }

    /// Checks the items of the example.
    fn items_of_example(&mut self) {
        let request = self.request;
        let Some(inputs) = request.inputs.clone() else { return };
        let node = request.node("args");
        if let Some(input) = inputs.iter().find(|input| self.is_array(&input.value)) {
            self.array(node, &input.value.clone());
            return;
        }
        let model = request.model().cloned().unwrap_or_default();
        let parameters = self.machine.forward_parameters(&model);
        if request.exporter == Exporter::Tracing {
            self.keyword_only(&inputs, parameters.as_deref().unwrap_or_default());
        }
        let body = self
            .machine
            .forward_function(&model)
            .and_then(|function| Some((field(function.node, "body")?, self.machine.source(function.file))));
        if let (Exporter::Tracing, Some((body, source))) = (request.exporter, body) {
            self.default_numbers(&inputs, parameters.as_deref().unwrap_or_default(), body, source);
        }
        let is_flag = |value: &Value| matches!(value, Value::Bool(_));
        let flags = inputs.iter().filter(|input| is_flag(&input.value)).count();
        let named = self.names("input_names").map_or(0, |names| names.len());
        let shapes = request.value("dynamic_shapes").cloned().unwrap_or(Value::None);
        if !self.machine.keeps_numbers(&shapes) {
            return;
        }
        for (at, input) in inputs.iter().enumerate() {
            // Flags are meant to be constants, unless `input_names` has a name for them.
            let is_named_flag = is_flag(&input.value) && named + flags > inputs.len();
            if !matches!(input.value, Value::Int(_) | Value::Float(_)) && !is_named_flag {
                continue;
            }
            let name = input
                .name
                .as_ref()
                .map(ToString::to_string)
                .or_else(|| Some(parameters.as_ref()?.get(at)?.name.to_owned()));
            if request.exporter == Exporter::Tracing && !is_named_flag {
                // The tracing exporter makes a tensor of a number, but `range` needs a number.
                let is_count = body.zip(name.as_deref()).is_some_and(|((body, source), name)| {
                    within(body).into_iter().any(|node| is_range_of(node, name, source))
                });
                if !is_count {
                    continue;
                }
            }
            let shown = match &input.value {
                Value::Int(number) => number.to_string(),
                Value::Float(number) => number.to_string(),
                Value::Bool(true) => "True".to_owned(),
                _ => "False".to_owned(),
            };
            let kind = if is_named_flag { "flag" } else { "number" };
            let what = name.map_or_else(|| format!("argument {}", at + 1), |name| format!("`{name}`"));
            let node = if input.name.is_some() && request.argument("kwargs").is_some() {
                request.node("kwargs")
            } else {
                node
            };
            self.say(
                Words::new(
                    CONSTANT_INPUT,
                    node,
                    format!("{what} is the Python {kind} {shown}, which becomes a constant of the file"),
                )
                .note(match request.exporter {
                    Exporter::Tracing if is_named_flag => {
                        "branches on the flag are fixed, and its name is given to a parameter of the model"
                    }
                    Exporter::Tracing => "`range` converts a tensor to a number, which is not traced",
                    _ => "with `dynamo=True`, only tensors become inputs",
                })
                .help(format!("pass a tensor, such as `torch.tensor({shown})`, or accept the constant")),
            );
        }
    }

    /// Reports float parameters of `forward` that get no example.
    ///
    /// The tracing exporter makes the defaults of these parameters inputs of the file.
    fn default_numbers(
        &mut self,
        inputs: &[super::request::Input<'t>],
        parameters: &[Parameter<'t>],
        body: Node<'t>,
        source: &str,
    ) {
        for (at, parameter) in parameters.iter().enumerate() {
            let is_given = at < inputs.iter().filter(|input| input.name.is_none()).count()
                || inputs.iter().any(|input| input.name.as_deref() == Some(parameter.name));
            let is_float = parameter.default.is_some_and(|default| default.kind() == "float");
            let in_arithmetic = within(body).into_iter().any(|node| {
                let parent = node.parent().map_or("", |parent| parent.kind());
                node.kind() == "identifier"
                    && text(node, source) == parameter.name
                    && matches!(parent, "binary_operator" | "augmented_assignment")
            });
            if is_given || !is_float || !in_arithmetic || parameter.kind != ParameterKind::Positional {
                continue;
            }
            let node = self.request.node("args");
            self.say(
                Words::new(
                    CONSTANT_INPUT,
                    node,
                    format!("the default of `{}` is a number, which becomes an input of the file", parameter.name),
                )
                .note("the tracing exporter passes the defaults of `forward`, too, and makes float64 tensors of numbers")
                .help("store the number in `__init__`, or pass a tensor"),
            );
        }
    }

    /// Reports keyword-only parameters, to which the tracing exporter passes positional arguments.
    fn keyword_only(&mut self, inputs: &[super::request::Input<'t>], parameters: &[Parameter<'t>]) {
        let is_only = |name: &str| {
            parameters.iter().any(|one| one.name == name && one.kind == ParameterKind::KeywordOnly)
        };
        let name = inputs.iter().filter_map(|input| input.name.clone()).find(|name| is_only(name));
        let Some(name) = name else { return };
        let node = match self.request.argument("kwargs") {
            Some(_) => self.request.node("kwargs"),
            None => self.request.node("args"),
        };
        self.say_raised(
            Words::new(EXAMPLE_TYPE, node, format!("`{name}` is a keyword-only parameter of `forward`"))
                .note("the tracing exporter passes all examples by position, and raises a TypeError")
                .help("remove the `*` from the parameters of `forward`, or export with `dynamo=True`"),
        );
    }
}

/// Returns true for a call of `range` with an argument `name`.
fn is_range_of(node: Node, name: &str, source: &str) -> bool {
    let callee = if node.kind() == "call" { field(node, "function") } else { None };
    callee.is_some_and(|callee| text(callee, source) == "range")
        && field(node, "arguments").is_some_and(|arguments| {
            children(arguments).iter().any(|argument| text(*argument, source) == name)
        })
}
