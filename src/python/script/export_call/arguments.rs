//! Checks of an export call for arguments that the exporter lacks or ignores, and for wrong types.

use crate::diag::rule_ids::{ARGUMENT_OF_OTHER_EXPORTER, ARGUMENT_TYPE, REMOVED_ARGUMENT};
use crate::diag::{Applicability, Level};

use super::super::super::report::Piece;
use super::super::release::Release;
use super::super::value::Value;
use super::check::{Check, Words};
use super::request::Exporter;
use super::signature::{self, Reader};

/// Arguments that were removed, and the help for each.
const REPLACED: [(&str, &str); 9] = [
    ("example_outputs", "remove the argument: the exporter runs the model itself"),
    ("enable_onnx_checker", "remove the argument, and call `onnx.checker.check_model` on the file"),
    ("use_external_data_format", "remove the argument: large weights are stored beside the file by default"),
    ("strip_doc_string", "use `verbose=False`, which omits source locations"),
    ("fallback", "remove the argument, and select one exporter with `dynamo=True` or `dynamo=False`"),
    ("_retain_param_name", "remove the argument: parameters keep their names"),
    ("aten", "remove the argument: ATen operators are no longer exported"),
    ("constraints", "describe the axes with `dynamic_shapes`"),
    ("export_options", "use `torch.onnx.export(…, dynamo=True, dynamic_shapes=…)`"),
];

/// Functions of `torch.onnx` and `torch.export` that were removed, with the last release that has them.
const REMOVED_FUNCTIONS: [(&str, Release); 4] = [
    ("torch.onnx.dynamo_export", Release(2, 8)),
    ("torch.onnx.export_to_pretty_string", Release(2, 8)),
    ("torch.onnx._export", Release(2, 8)),
    ("torch.export.export_for_training", Release(2, 8)),
];

impl<'t> Check<'_, '_, 't> {
    /// Reports functions and arguments that the release does not have.
    pub fn removed(&mut self) {
        let request = self.request;
        let (call, release) = (request.call, request.release);
        let gone = REMOVED_FUNCTIONS.iter().find(|(name, last)| *name == call.exporter && *last < release);
        if let Some((name, _)) = gone {
            let help = match *name {
                "torch.export.export_for_training" => "use `torch.export.export`",
                _ => "use `torch.onnx.export(…, dynamo=True)`, which returns an `ONNXProgram`",
            };
            let was_deprecated = *name == "torch.onnx.dynamo_export";
            self.say_raised(
                Words::new(
                    REMOVED_ARGUMENT,
                    call.node,
                    format!("`{name}` does not exist in PyTorch {release}"),
                )
                .note(if was_deprecated { "PyTorch 2.6 deprecated the function" } else { "" })
                .help(help),
            );
            return;
        }
        if request.parameters.is_empty() {
            self.of_library();
            return;
        }
        for argument in &request.unknown {
            let name = argument.name.as_deref().unwrap_or("");
            let last = signature::last_release(request.function, Some(name));
            let first = signature::first_release(request.function, name);
            let function = request.function;
            let message = match (first, last) {
                (Some(first), _) if first > release => {
                    format!("`{function}` has the argument `{name}` only since PyTorch {first}")
                }
                (_, Some(last)) => format!("`{function}` has no argument `{name}` after PyTorch {last}"),
                _ => format!("`{function}` has no argument `{name}`"),
            };
            let help = REPLACED.iter().find(|(known, _)| *known == name).map(|(_, help)| (*help).to_owned());
            let similar = self.similar_parameter(name);
            let help = help.or_else(|| similar.map(|other| format!("write `{other}`")));
            let node = argument.node.unwrap_or(call.node);
            let rewrite = match similar {
                Some(other) => Piece::renamed_argument(node, other),
                None => Piece::without_argument(node),
            };
            self.say_raised(
                Words::new(REMOVED_ARGUMENT, node, message)
                    .note("the call raises a TypeError")
                    .help(help.unwrap_or_else(|| "remove the argument".to_owned()))
                    .rewrite(rewrite),
            );
        }
        if let Some(first) = request.extra.first() {
            let positional =
                request.parameters.iter().filter(|parameter| parameter.position.is_some()).count();
            let given = positional + request.extra.len();
            let node = first.node.unwrap_or(call.node);
            let old = signature::parameters(request.function, Release(2, 0));
            let name = old.iter().find(|old| old.position == Some(positional)).map(|old| old.name);
            let help =
                name.map_or("pass it by name".to_owned(), |name| format!("pass it by name: `{name}=…`"));
            self.say_raised(
                Words::new(
                    REMOVED_ARGUMENT,
                    node,
                    format!(
                        "`{}` takes {positional} positional arguments in PyTorch {release}, but gets {given}",
                        request.function
                    ),
                )
                .note("the call raises a TypeError: since PyTorch 2.5, later arguments are keyword-only")
                .help(help)
                .rewrite(
                    name.and_then(|name| Piece::named_argument(node, name))
                        .filter(|_| request.extra.len() == 1),
                ),
            );
        }
    }

    fn similar_parameter(&self, name: &str) -> Option<&'static str> {
        let near = |parameter: &&signature::Parameter| {
            parameter.name != name && super::is_near(parameter.name, name)
        };
        self.request.parameters.iter().find(near).map(|parameter| parameter.name)
    }

    /// Reports arguments that the called exporter ignores and the other exporter reads.
    pub fn other_exporter(&mut self) {
        let request = self.request;
        let reader = match request.exporter {
            Exporter::Tracing => Reader::Dynamo,
            Exporter::Dynamo => Reader::Tracing,
            _ => return,
        };
        let foreign = request.parameters.iter().filter(|parameter| parameter.reader == reader);
        for parameter in foreign.collect::<Vec<_>>() {
            let Some(value) = request.given(parameter.name) else { continue };
            if self.is_harmless(parameter.name, value) {
                continue;
            }
            let node = request.node(parameter.name);
            let name = parameter.name;
            if name == "dynamic_shapes" {
                self.say_raised(
                    Words::new(ARGUMENT_OF_OTHER_EXPORTER, node, "`dynamic_shapes` requires `dynamo=True`")
                        .at(Level::Error)
                        .note("the tracing exporter raises a ValueError")
                        .help("use `dynamic_axes` with `input_names`, or export with `dynamo=True`"),
                );
                continue;
            }
            let (own, other) = match reader {
                Reader::Dynamo => ("the tracing exporter", "export with `dynamo=True`"),
                _ => ("the exporter of `dynamo=True`", "export with `dynamo=False`"),
            };
            let help = match name {
                "training" => "set the mode with `model.eval()` or `model.train()`".to_owned(),
                _ => format!("remove the argument, or {other}"),
            };
            self.say(
                Words::new(ARGUMENT_OF_OTHER_EXPORTER, node, format!("{own} ignores `{name}`"))
                    .help(help)
                    .rewrite(Piece::without_argument(node)),
            );
        }
    }

    /// Returns true if an ignored argument has little or no effect even in the exporter that reads it.
    fn is_harmless(&self, name: &str, value: &Value<'t>) -> bool {
        match name {
            "external_data"
            | "optimize"
            | "artifacts_dir"
            | "do_constant_folding"
            | "autograd_inlining"
            | "profile" => true,
            "training" => !matches!(value.path(), Some(path) if path.ends_with("TrainingMode.TRAINING")),
            "operator_export_type" => match value.path() {
                Some(path) => path.ends_with("OperatorExportTypes.ONNX"),
                None => true,
            },
            "dynamic_shapes" => self.machine.truth(value) != Some(true),
            _ => self.machine.truth(value) == Some(false) || *value == Value::Unknown,
        }
    }

    /// Reports arguments of a wrong type.
    pub fn types(&mut self) {
        let request = self.request;
        if request.function != "torch.onnx.export" {
            return;
        }
        let is_tracing = request.exporter == Exporter::Tracing;
        if let Some(opset) = request.given("opset_version") {
            let node = request.node("opset_version");
            let (kind, whole) = match opset {
                Value::Str(text) => ("a string", text.trim().parse::<i64>().ok()),
                Value::Float(number) => ("a float", Some(*number as i64)),
                Value::Tuple(_) => ("a tuple", None),
                Value::Tensor(_) => ("a tensor", None),
                _ => ("", None),
            };
            if !kind.is_empty() && (is_tracing || !matches!(opset, Value::Float(_))) {
                let is_literal = matches!(node.kind(), "string" | "float");
                let by = whole.filter(|_| is_literal).map(|whole| whole.to_string());
                let piece = by.and_then(|by| {
                    Piece::instead(super::value_node(node), &by, Applicability::Safe, self.source())
                });
                self.say_raised(
                    Words::new(ARGUMENT_TYPE, node, format!("`opset_version` is {kind}, not an integer"))
                        .note("the exporter compares it with integers and raises a TypeError")
                        .help("pass an integer, such as `opset_version=17`")
                        .rewrite(piece),
                );
            }
        }
        for name in ["input_names", "output_names"] {
            if let Some(Value::Str(text)) = request.given(name)
                && text.chars().count() > 1
            {
                let node = request.node(name);
                let source = self.source();
                let inner = super::value_node(node);
                let by = format!("[{}]", super::super::super::syntax::text(inner, source));
                self.say(
                    Words::new(ARGUMENT_TYPE, node, format!("`{name}` is a string, not a list of strings"))
                        .note("each character becomes a name, or the exporter raises")
                        .help(format!("write `{name}={by}`"))
                        .rewrite(Piece::instead(inner, &by, Applicability::Safe, source)),
                );
            }
        }
        if let Some(training) = request.given("training")
            && is_tracing
            && matches!(training, Value::Bool(_))
        {
            let node = request.node("training");
            let mode = if *training == Value::Bool(true) { "TRAINING" } else { "EVAL" };
            let by = format!("torch.onnx.TrainingMode.{mode}");
            let source = self.source();
            let piece = Piece::instead(super::value_node(node), &by, Applicability::Safe, source);
            self.say_raised(
                Words::new(ARGUMENT_TYPE, node, "`training` is a boolean, not a `TrainingMode`")
                    .note("the tracing exporter raises a TypeError")
                    .help(format!("write `training={by}`"))
                    .rewrite(piece),
            );
        }
        self.swapped();
    }

    /// Reports arguments in the wrong place, and a missing path.
    ///
    /// A string in place of the example is reported, and so is an example or a module in place of the path.
    fn swapped(&mut self) {
        let request = self.request;
        let is_path = |value: &Value| matches!(value, Value::Str(_));
        let is_example = |value: &Value| matches!(value, Value::Tensor(_) | Value::Tuple(_));
        let (args, file) = (request.given("args"), request.given("f"));
        if args.is_some_and(is_path) {
            let node = request.node("args");
            let order =
                if file.is_some_and(is_example) { "swap both arguments" } else { "pass a tuple of tensors" };
            self.say_raised(
                Words::new(ARGUMENT_TYPE, node, format!("the example `{}` is a string", self.shown(node)))
                    .note("the arguments are the model, the example, and the path of the file, in this order")
                    .help(order),
            );
        } else if let Some(file) =
            file.filter(|file| is_example(file) || self.machine.is_module(file) == Some(true))
        {
            let node = request.node("f");
            let what = if is_example(file) { "an example" } else { "a module" };
            self.say_raised(
                Words::new(
                    ARGUMENT_TYPE,
                    node,
                    format!("`{}` is {what}, not the path of a file", self.shown(node)),
                )
                .note("the arguments are the model, the example, and the path of the file, in this order")
                .help("pass the path of the file as the third argument"),
            );
        } else if request.exporter == Exporter::Tracing && request.is_default("f") && request.call.is_complete
        {
            let node = request.node("f");
            self.say_raised(
                Words::new(ARGUMENT_TYPE, node, "the tracing exporter requires the path of a file")
                    .note("only `dynamo=True` returns a program instead of writing a file")
                    .help("pass the path as `f`"),
            );
        }
    }
}
