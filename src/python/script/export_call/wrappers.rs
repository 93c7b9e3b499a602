//! Calls of Ultralytics, Optimum and Lightning, which wrap the exporter.
//!
//! `wrappers.py` writes `wrappers.tsv`.

use crate::diag::Level;
use crate::diag::rule_ids::{ARGUMENT_TYPE, REMOVED_ARGUMENT, UNSUPPORTED_OPSET};

use super::super::super::report::Piece;
use super::super::exporting::Argument;
use super::super::value::Value;
use super::check::{Check, Words};
use super::opset::TRACING;
use super::{is_near, signature};

const TABLE: &str = include_str!("wrappers.tsv");

const EXPORT: &str = "torch.onnx.export";
const ULTRALYTICS: &str = "ultralytics.export";
const MAIN_EXPORT: &str = "optimum.main_export";

/// An argument of a wrapper.
struct Parameter {
    name: &'static str,
    position: Option<usize>,
    /// Allowed values; empty if every value is allowed.
    values: Vec<&'static str>,
}

fn parameters(function: &str) -> impl Iterator<Item = Parameter> {
    TABLE.lines().skip(1).filter_map(move |line| {
        let mut fields = line.split('\t');
        let is_meant = fields.next() == Some(function);
        let (name, position, values) = (fields.next()?, fields.next()?, fields.next()?);
        let values = values.split_whitespace().collect();
        is_meant.then(|| Parameter { name, position: position.parse().ok(), values })
    })
}

impl<'c, 't> Check<'c, '_, 't> {
    /// Checks a call of a wrapper.
    pub fn of_library(&mut self) {
        let call = self.request.call;
        let class = call.receiver.as_ref().and_then(|receiver| self.machine.library_class(receiver));
        if call.exporter.ends_with("to_onnx") {
            self.lightning();
        } else if call.exporter.ends_with("main_export") {
            self.main_export();
        } else if class.is_some_and(|class| class.starts_with("ultralytics.")) {
            self.ultralytics();
        } else if self.source().contains("ultralytics")
            && self.wrapped_text(ULTRALYTICS, "format") == Some("onnx")
        {
            let is_foreign = |name: &str| signature::last_release(EXPORT, Some(name)).is_some();
            self.unknown_argument(ULTRALYTICS, "`export` of Ultralytics", is_foreign);
        }
    }

    /// Reports an argument that Lightning passes on to an exporter that does not have it.
    fn lightning(&mut self) {
        let release = self.request.release;
        let is_gone =
            |name: &str| signature::last_release(EXPORT, Some(name)).is_some_and(|last| last < release);
        self.unknown_argument("", "`torch.onnx.export`, which gets the arguments of `to_onnx`,", is_gone);
    }

    /// Checks `YOLO(…).export(format="onnx")`.
    fn ultralytics(&mut self) {
        let call = self.request.call;
        if let Some(first) = call.arguments.iter().find(|argument| argument.name.is_none()) {
            let node = first.node.unwrap_or(call.node);
            let is_format = parameters(ULTRALYTICS).any(|one| {
                one.name == "format" && first.value.text().is_some_and(|text| one.values.contains(&text))
            });
            let name = if is_format { "format" } else { "…" };
            self.say_raised(
                Words::new(REMOVED_ARGUMENT, node, "`export` of Ultralytics takes no positional arguments")
                    .note("the call raises a TypeError")
                    .help(format!("pass the argument by name: `{name}=…`"))
                    .rewrite(Piece::named_argument(node, "format").filter(|_| is_format)),
            );
            return;
        }
        self.unknown_argument(ULTRALYTICS, "`export` of Ultralytics", |_| true);
        self.value_of_wrapper(ULTRALYTICS);
        if self.wrapped_text(ULTRALYTICS, "format") != Some("onnx") {
            return;
        }
        for parameter in parameters("ultralytics.not_for_onnx") {
            let Some(argument) = self.wrapped(ULTRALYTICS, parameter.name) else { continue };
            if matches!(argument.value, Value::Unknown | Value::None | Value::Bool(false)) {
                continue;
            }
            let node = argument.node.unwrap_or(call.node);
            let message = format!("`{}` has no effect for `format=\"onnx\"`", parameter.name);
            self.say(
                Words::new(ARGUMENT_TYPE, node, message)
                    .at(Level::Warning)
                    .note("newer releases of Ultralytics raise an AssertionError, older releases ignore the argument")
                    .help("remove the argument")
                    .rewrite(Piece::without_argument(node)),
            );
        }
        self.opset_of_wrapper(ULTRALYTICS);
    }

    /// Checks a call of `main_export` of Optimum.
    fn main_export(&mut self) {
        let call = self.request.call;
        for argument in &call.arguments {
            let Some(name) = argument.name.as_deref() else { continue };
            if parameters(MAIN_EXPORT).any(|one| one.name == name) {
                continue;
            }
            let node = argument.node.unwrap_or(call.node);
            let near = parameters(MAIN_EXPORT).find(|one| is_near(one.name, name)).map(|one| one.name);
            self.say(
                Words::new(REMOVED_ARGUMENT, node, format!("`main_export` ignores the argument `{name}`"))
                    .at(Level::Warning)
                    .note("`main_export` takes unknown arguments as example sizes, and ignores unknown sizes")
                    .help(near.map_or("remove the argument".to_owned(), |near| format!("write `{near}`")))
                    .rewrite(near.and_then(|near| Piece::renamed_argument(node, near))),
            );
        }
        self.value_of_wrapper(MAIN_EXPORT);
        self.opset_of_wrapper(MAIN_EXPORT);
        let fault = if self.wrapped_text(MAIN_EXPORT, "optimize") == Some("O4")
            && call.is_complete
            && self.wrapped(MAIN_EXPORT, "device").is_none_or(|device| device.value.text() == Some("cpu"))
        {
            Some((
                "optimize",
                "`optimize=\"O4\"` requires `device=\"cuda\"`",
                "use `optimize=\"O3\"`, or a GPU",
            ))
        } else if self.wrapped_text(MAIN_EXPORT, "task").is_some_and(|task| task.ends_with("-with-past"))
            && self
                .wrapped(MAIN_EXPORT, "monolith")
                .is_some_and(|argument| argument.value == Value::Bool(true))
        {
            let message = "`monolith=True` excludes a task that ends with `-with-past`";
            Some(("monolith", message, "remove `monolith`, or use the task without `-with-past`"))
        } else {
            None
        };
        if let Some((name, message, help)) = fault {
            let node =
                self.wrapped(MAIN_EXPORT, name).and_then(|argument| argument.node).unwrap_or(call.node);
            let words = Words::new(ARGUMENT_TYPE, node, message);
            self.say_raised(words.note("the call raises a ValueError").help(help));
        }
    }

    /// Reports an opset that the tracing exporter, which wrappers use, does not support.
    fn opset_of_wrapper(&mut self, function: &'static str) {
        let Some(argument) = self.wrapped(function, "opset") else { return };
        let Value::Int(opset) = argument.value else { return };
        if !(TRACING.lowest..=TRACING.highest).contains(&opset) {
            let node = argument.node.unwrap_or(self.request.call.node);
            let message = format!("the tracing exporter does not support opset {opset}");
            self.say(
                Words::new(UNSUPPORTED_OPSET, node, message)
                    .note("the library exports with `dynamo=False`")
                    .help(format!("use an opset from 17 to {}", TRACING.supported)),
            );
        }
    }

    /// Reports an argument with a value that the wrapper does not allow.
    fn value_of_wrapper(&mut self, function: &'static str) {
        for parameter in parameters(function).filter(|parameter| !parameter.values.is_empty()) {
            let Some(argument) = self.wrapped(function, parameter.name) else { continue };
            let Some(text) = argument.value.text() else { continue };
            if parameter.values.iter().any(|value| value.eq_ignore_ascii_case(text)) {
                continue;
            }
            let node = argument.node.unwrap_or(self.request.call.node);
            let is_long = text.len() > 3;
            let near = parameter.values.iter().find(|value| is_long && is_near(value, text));
            let message = format!("`{}` does not accept \"{text}\"", parameter.name);
            let all = || format!("use one of {}", parameter.values.join(", "));
            self.say(
                Words::new(ARGUMENT_TYPE, node, message)
                    .at(Level::Warning)
                    .help(near.map_or_else(all, |near| format!("write \"{near}\""))),
            );
        }
    }

    /// Reports the first argument that `is_wrong` and that is no parameter of a wrapper.
    fn unknown_argument(&mut self, function: &'static str, of: &str, is_wrong: impl Fn(&str) -> bool) {
        let call = self.request.call;
        let named = call.arguments.iter().filter_map(|argument| Some((argument.name.as_deref()?, argument)));
        let has = |name: &str| parameters(function).any(|one| one.name == name);
        let Some((name, argument)) = named.clone().find(|(name, _)| is_wrong(name) && !has(name)) else {
            return;
        };
        let node = argument.node.unwrap_or(call.node);
        let other = match name {
            "opset_version" => Some("opset"),
            _ => parameters(function).find(|one| is_near(one.name, name)).map(|one| one.name),
        };
        let other =
            other.filter(|other| !function.is_empty() && !named.clone().any(|(given, _)| given == *other));
        let (help, rewrite) = match (name, other) {
            ("dynamic_axes" | "dynamic_shapes", _) if function == ULTRALYTICS => {
                ("write `dynamic=True`".to_owned(), Piece::without_argument(node))
            }
            (_, Some(other)) => (format!("write `{other}`"), Piece::renamed_argument(node, other)),
            _ => ("remove the argument".to_owned(), Piece::without_argument(node)),
        };
        let words = Words::new(REMOVED_ARGUMENT, node, format!("{of} has no argument `{name}`"));
        self.say_raised(words.note("the call raises").help(help).rewrite(rewrite));
    }

    /// Returns an argument of a wrapper, by name or by position.
    fn wrapped(&self, function: &str, name: &str) -> Option<&'c Argument<'t>> {
        let call = self.request.call;
        match parameters(function).find(|one| one.name == name).and_then(|one| one.position) {
            Some(position) => call.argument(position, name),
            None => call.named(name),
        }
    }

    /// Returns the text of an argument of a wrapper.
    fn wrapped_text(&self, function: &str, name: &str) -> Option<&'c str> {
        self.wrapped(function, name)?.value.text()
    }
}
