//! Commands of `click`, `typer` and `fire`, which a script runs without arguments.

use tree_sitter::Node;

use super::super::syntax::{children, field, text};
use super::binding::ParameterKind;
use super::calls::Args;
use super::machine::{Eval, Machine, Stop};
use super::value::{FunctionKind, Value};

/// Class of a command of `click`.
const COMMAND: &str = "click.Command";

/// Class of an application of `typer`.
const APPLICATION: &str = "typer.Typer";

/// Arguments of `typer.Option` that do not change the value of the option.
const TYPER_TEXTS: [&str; 8] =
    ["default", "help", "show_default", "metavar", "hidden", "rich_help_panel", "min", "max"];

impl<'t> Machine<'t> {
    /// Calls a function of a library of command lines, or returns `None` for other functions.
    pub fn command_call(&mut self, path: &str, args: &Args<'t>) -> Option<Eval<'t>> {
        if self.has_arguments(args, 1) && matches!(path, "fire.Fire" | "typer.run") {
            return Some(Ok(Value::Unknown));
        }
        match path {
            "fire.Fire" => {
                let component = args.get(0, "component").cloned()?;
                Some(self.run_command(&component, false, args))
            }
            "typer.run" => {
                let function = args.get(0, "function").cloned()?;
                Some(self.run_command(&function, true, args))
            }
            APPLICATION => Some(Ok(self.instance(APPLICATION, vec![], true))),
            "typer.Option" | "typer.Argument"
                if args.keywords.iter().any(|(name, ..)| !TYPER_TEXTS.contains(&&**name)) =>
            {
                Some(Ok(Value::Unknown))
            }
            "typer.Option" | "typer.Argument" => {
                let default = args.get(0, "default").cloned().filter(|default| *default != Value::Ellipsis);
                Some(Ok(default.unwrap_or_default()))
            }
            _ => None,
        }
    }

    /// Calls a command, whose arguments come from the command line; `None` if `object` is no command.
    pub fn call_command(&mut self, object: &Value<'t>, args: &Args<'t>) -> Option<Eval<'t>> {
        let class = self.library_class(object)?;
        let function = self.attribute_of(object, "command");
        if self.has_arguments(args, 0) && matches!(class.as_str(), COMMAND | APPLICATION) {
            return Some(Ok(Value::Unknown));
        }
        match class.as_str() {
            COMMAND => {
                let options =
                    self.attribute_of(object, "options").and_then(|options| self.entries(&options))?;
                let keywords = options.into_iter().filter_map(|(name, value)| match name {
                    Value::Str(name) => Some((name, value, None)),
                    _ => None,
                });
                let given = Args { keywords: keywords.collect(), ..Args::none(args.node) };
                self.coverage.is_partial = true;
                Some(self.invoke(&function?, &given))
            }
            APPLICATION => match function? {
                function @ Value::Function(_) => Some(self.run_command(&function, true, args)),
                _ => None,
            },
            _ => None,
        }
    }

    /// Returns true if a command may get arguments besides the first `count` of its call.
    ///
    /// They may come from the call, from `sys.argv`, from the environment and from a dictionary of defaults.
    fn has_arguments(&self, args: &Args<'t>, count: usize) -> bool {
        let sources = [
            "argv",
            "envvar",
            "default_map",
            "environ[",
            "monkeypatch",
            "callback",
            "parser=",
            "cls=",
            "context_settings",
            "no_args_is_help",
        ];
        args.open
            || args.positional.len() > count
            || args.keywords.iter().any(|(name, ..)| !["standalone_mode", "prog_name"].contains(&&**name))
            || self.mentions(&sources)
    }

    /// Runs a function with its defaults; parameters without a default are unknown.
    ///
    /// `typer`, which `converts` defaults to the types of the parameters, may change them.
    fn run_command(&mut self, function: &Value<'t>, converts: bool, args: &Args<'t>) -> Eval<'t> {
        let Value::Function(known) = function else { return Ok(Value::Unknown) };
        self.coverage.is_partial = true;
        let parameters = self.parameters_in(known).unwrap_or_default();
        let mut given = Args::none(args.node);
        for parameter in parameters {
            let is_named = matches!(parameter.kind, ParameterKind::Positional | ParameterKind::KeywordOnly);
            let kept = known.defaults.iter().find(|(name, _)| *name == parameter.name);
            let is_kept = match (parameter.annotation.filter(|_| converts), kept) {
                (Some(annotation), Some((_, value))) => {
                    is_of_type(value, text(annotation, self.source(known.file)))
                }
                (_, kept) => kept.is_some(),
            };
            if is_named && !(is_kept && parameter.default.is_some()) {
                given.keywords.push((parameter.name.into(), Value::Unknown, None));
            }
        }
        self.invoke(function, &given)
    }

    /// Returns the command that decorators of `click` make of a function; `None` if there is none.
    pub fn command(
        &mut self,
        function: &Value<'t>,
        decorators: &[Node<'t>],
    ) -> Result<Option<Value<'t>>, Stop> {
        if !matches!(function, Value::Function(plain) if plain.kind == FunctionKind::Plain) {
            return Ok(None);
        }
        let mut options = vec![];
        let mut is_command = false;
        for decorator in decorators {
            let Some(call) = children(*decorator).first().copied() else { return Ok(None) };
            let name = field(call, "function").unwrap_or(call);
            let callee = self.evaluate(name)?;
            match callee.path() {
                Some("click.command") => is_command = true,
                Some("click.option" | "click.argument") if call.kind() == "call" => {
                    let args = self.arguments(call)?;
                    let is_option = callee.path() == Some("click.option");
                    let Some(option) = option(&args, is_option) else { return Ok(Some(Value::Unknown)) };
                    options.push(option);
                }
                _ => {
                    self.note_application(name, function);
                    // Another decorator may add options to a command.
                    let is_command = decorators.iter().any(|one| self.text(*one).contains("click."));
                    return Ok(is_command.then_some(Value::Unknown));
                }
            }
        }
        if !is_command {
            return Ok(None);
        }
        let options = self.dict(options, false);
        let attributes = vec![("command", function.clone()), ("options", options)];
        Ok(Some(self.instance(COMMAND, attributes, true)))
    }

    /// Records the command of an application of `typer`, for `@app.command()`.
    fn note_application(&mut self, name: Node<'t>, function: &Value<'t>) {
        let object = field(name, "object").filter(|_| name.kind() == "attribute");
        let Some(Ok(object)) = object.map(|object| self.evaluate(object)) else { return };
        if self.library_class(&object).as_deref() != Some(APPLICATION) {
            return;
        }
        // One of several commands runs.
        let command = match self.attribute_of(&object, "command") {
            None => function.clone(),
            Some(_) => Value::Unknown,
        };
        self.set_attribute(&object, "command", command);
    }
}

/// Returns true if a value has the type of an annotation, which may be `Annotated`.
fn is_of_type(value: &Value, annotation: &str) -> bool {
    let inner = annotation.rsplit("Annotated[").next().unwrap_or(annotation);
    let name = inner.split(',').next().unwrap_or(inner).trim();
    matches!(
        (name, value),
        ("int", Value::Int(_))
            | ("float", Value::Float(_))
            | ("bool", Value::Bool(_))
            | ("str", Value::Str(_))
    )
}

/// Returns true if the type of an option keeps a value.
fn keeps(kind: &Value, value: &Value) -> bool {
    matches!(
        (kind.path(), value),
        (Some("int"), Value::Int(_)) | (Some("float"), Value::Float(_)) | (Some("bool"), Value::Bool(_))
    )
}

/// Returns the name and the default of an option or argument; `None` if its name is unknown.
fn option<'t>(args: &Args<'t>, is_option: bool) -> Option<(Value<'t>, Value<'t>)> {
    let names: Option<Vec<&str>> = args.positional.iter().map(|(name, _)| name.text()).collect();
    let names = names.filter(|_| !args.open)?;
    // A name without dashes is that of the parameter; otherwise the first long name is.
    let plain = names.iter().find(|name| !name.starts_with('-'));
    let long = names.iter().find(|name| name.starts_with("--"));
    let name = plain.or(long).or(names.first())?;
    if name.contains('/') || names.iter().any(|name| name.contains('/')) {
        return None;
    }
    let name = name.trim_start_matches('-').replace('-', "_").to_lowercase();
    let has = |name: &str| args.keyword(name).is_some();
    let is_flag = args.keyword("is_flag") == Some(&Value::Bool(true));
    let is_other =
        ["multiple", "callback", "required", "count", "nargs", "flag_value", "cls", "expose_value"]
            .iter()
            .any(|name| has(name));
    let value = match args.keyword("default") {
        _ if is_other || !is_option => Value::Unknown,
        // The type of an option converts its default.
        Some(value) if args.keyword("type").is_some_and(|kind| !keeps(kind, value)) => Value::Unknown,
        Some(value) => value.clone(),
        None if is_flag => Value::Bool(false),
        None => Value::Unknown,
    };
    Some((Value::str(&name), value))
}
