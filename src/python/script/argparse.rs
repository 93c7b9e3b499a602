//! Command-line arguments: the defaults of `argparse`.

use super::calls::Args;
use super::heap::Object;
use super::machine::{Eval, Machine};
use super::value::Value;

/// Class of a parser.
pub const PARSER: &str = "argparse.ArgumentParser";

impl<'t> Machine<'t> {
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
                for (name, value, _) in &args.keywords {
                    self.set_attribute(parser, &format!("default {name}"), value.clone());
                }
                Value::None
            }
            "parse_args" => self.namespace(parser),
            "parse_known_args" => {
                let namespace = self.namespace(parser);
                Value::tuple(vec![namespace, Value::Unknown])
            }
            _ => {
                if let Some(instance) = parser.object().and_then(|object| self.heap.instance_mut(object)) {
                    instance.open = true;
                }
                Value::Unknown
            }
        })
    }

    /// Records the default of an argument, as the attribute `default NAME` of the parser.
    fn add_argument(&mut self, parser: &Value<'t>, args: &Args<'t>) -> Result<(), super::machine::Stop> {
        let flags: Vec<&str> = args.positional.iter().filter_map(|(value, _)| value.text()).collect();
        let long = flags.iter().find(|flag| flag.starts_with("--")).or(flags.first()).copied();
        let name = args.keyword("dest").and_then(Value::text).or(long);
        let Some(name) = name.map(|name| name.trim_start_matches('-').replace('-', "_")) else {
            return Ok(());
        };
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

    fn namespace(&mut self, parser: &Value<'t>) -> Value<'t> {
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
        self.instance("argparse.Namespace", defaults, true)
    }
}
