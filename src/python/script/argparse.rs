//! Command-line arguments: the defaults of `argparse`.

use super::calls::Args;
use super::containers::ARGUMENTS;
use super::heap::Object;
use super::machine::{Eval, Machine};
use super::value::Value;

/// Class of a parser.
pub const PARSER: &str = "argparse.ArgumentParser";

/// Class of the parsed arguments.
pub const NAMESPACE: &str = "argparse.Namespace";

/// Keyword arguments of a parser that add no arguments.
const PLAIN: [&str; 7] =
    ["prog", "usage", "description", "epilog", "formatter_class", "add_help", "allow_abbrev"];

impl<'t> Machine<'t> {
    /// Returns a parser, which is open if other code may add arguments to it.
    pub fn parser(&mut self, args: &Args<'t>) -> Value<'t> {
        let is_open = args.open || args.keywords.iter().any(|(name, ..)| !PLAIN.contains(&&**name));
        self.instance(PARSER, vec![], is_open)
    }

    /// Calls a method of an argument parser or group.
    pub fn parser_method(&mut self, parser: &Value<'t>, name: &str, args: &Args<'t>) -> Eval<'t> {
        // Other arguments than the defaults may run other branches of the exported model.
        self.coverage.is_partial |= name.starts_with("parse_");
        Ok(match name {
            "add_argument" => {
                self.add_argument(parser, args)?;
                Value::Unknown
            }
            "add_argument_group" | "add_mutually_exclusive_group" => parser.clone(),
            "set_defaults" => {
                self.open_parser(parser, args.open);
                for (name, value, _) in &args.keywords {
                    self.set_attribute(parser, &format!("default {name}"), value.clone());
                }
                Value::None
            }
            "parse_args" => self.namespace(parser, args),
            "parse_known_args" => {
                let namespace = self.namespace(parser, args);
                Value::tuple(vec![namespace, Value::Unknown])
            }
            "print_help" | "print_usage" | "format_help" | "format_usage" | "error" | "exit" => {
                Value::Unknown
            }
            _ => {
                self.open_parser(parser, true);
                Value::Unknown
            }
        })
    }

    /// Marks a parser as one with unknown arguments, if `is_open`.
    fn open_parser(&mut self, parser: &Value<'t>, is_open: bool) {
        if let Some(instance) = parser.object().and_then(|object| self.heap.instance_mut(object)) {
            instance.open |= is_open;
        }
    }

    /// Records the default of an argument, as the attribute `default NAME` of the parser.
    fn add_argument(&mut self, parser: &Value<'t>, args: &Args<'t>) -> Result<(), super::machine::Stop> {
        let flags: Vec<&str> = args.positional.iter().filter_map(|(value, _)| value.text()).collect();
        let long = flags.iter().find(|flag| flag.starts_with("--")).or(flags.first()).copied();
        let name = args.keyword("dest").and_then(Value::text).or(long);
        let is_known = !args.open && flags.len() == args.positional.len();
        let Some(name) = name.map(|name| name.trim_start_matches('-').replace('-', "_")) else {
            self.open_parser(parser, true);
            return Ok(());
        };
        let is_named = args.keyword("dest").is_none_or(|dest| dest.text().is_some());
        self.open_parser(parser, !is_known || !is_named);
        let is_flag = flags.iter().any(|flag| flag.starts_with('-'));
        let action = args.keyword("action").map(|action| action.text().unwrap_or("unknown"));
        let implied = match action {
            Some("store_true") => Value::Bool(false),
            Some("store_false") => Value::Bool(true),
            _ if is_flag => Value::None,
            _ => Value::Unknown,
        };
        let required = args.keyword("required").is_some_and(|value| *value != Value::Bool(false));
        let value = match args.keyword("default") {
            Some(Value::Str(text)) => match args.keyword("type").cloned() {
                // Only defaults that are strings are converted.
                Some(convert) => {
                    let text = Value::Str(text.clone());
                    self.invoke(&convert, &Args::of(args.node, vec![text]))?
                }
                None => Value::Str(text.clone()),
            },
            Some(value) => value.clone(),
            None if args.open => Value::Unknown,
            None => implied,
        };
        let value = if required { Value::Unknown } else { value };
        self.set_attribute(parser, &format!("default {name}"), value);
        Ok(())
    }

    /// Returns true if a call of `parse_args` gets arguments besides those of the script, or unknown ones.
    fn has_command_line(&self, args: &Args<'t>) -> bool {
        let sets = ["sys.argv = ", "sys.argv=", "sys.argv +=", "sys.argv.", "sys.argv[1:] =", "\"argv\""];
        if self.mentions(&sets) || self.changes_arguments {
            return true;
        }
        match args.get(0, "args") {
            None | Some(Value::None) => false,
            // A script is linted as if it was called without arguments.
            Some(Value::Name(path)) if &**path == ARGUMENTS => false,
            Some(given) => self.items(given).is_none_or(|items| !items.is_empty()),
        }
    }

    /// Returns the namespace that a parser fills with its defaults.
    fn namespace(&mut self, parser: &Value<'t>, args: &Args<'t>) -> Value<'t> {
        let parser = parser.object().and_then(|object| match self.heap.get(object) {
            Object::Instance(instance) => Some(instance.clone()),
            _ => None,
        });
        let Some(parser) = parser else { return Value::Unknown };
        let defaults = parser
            .attributes
            .iter()
            .filter_map(|(name, value)| Some((name.strip_prefix("default ")?, value.clone())));
        let defaults: Vec<(&str, Value<'t>)> = defaults.collect();
        if let Some(given) = args.get(1, "namespace").cloned() {
            self.forget(&given);
            return Value::Unknown;
        }
        if self.has_command_line(args) {
            return Value::Unknown;
        }
        let is_open = parser.open || args.open;
        self.instance(NAMESPACE, defaults, is_open)
    }
}
