//! Configurations: parsed JSON and YAML, and dictionaries with attributes.

use super::calls::Args;
use super::machine::Machine;
use super::value::Value;
use super::yaml;

/// Class of a dictionary whose entries are attributes, too.
pub const ATTRIBUTE_DICT: &str = "omegaconf.DictConfig";

/// Maximum depth of nested dictionaries.
const MAX_DEPTH: u32 = 8;

impl<'t> Machine<'t> {
    /// Calls a function that creates a configuration, or returns `None` for other functions.
    pub fn config_call(&mut self, path: &str, args: &Args<'t>) -> Option<Value<'t>> {
        let first = args.positional.first().map(|(value, _)| value.clone());
        let text = first.as_ref().and_then(Value::text).filter(|_| !args.open);
        Some(match path {
            "json.loads" if args.keywords.is_empty() => {
                let json = text.and_then(|text| serde_json::from_str(text).ok());
                json.map_or(Value::Unknown, |json: serde_json::Value| self.parsed(&json))
            }
            "yaml.safe_load" | "yaml.full_load" | "yaml.load" if self.resolves_plain_yaml(args) => {
                let yaml = text.and_then(yaml::parse);
                yaml.map_or(Value::Unknown, |yaml| self.parsed(&yaml))
            }
            "omegaconf.OmegaConf.create" => {
                let yaml = text.and_then(yaml::parse).map(|yaml| self.parsed(&yaml));
                let given = yaml.or(first).unwrap_or_default();
                self.attribute_dict(&given, 0)
            }
            "easydict.EasyDict" | "addict.Dict" | "munch.munchify" if first.is_some() => {
                match args.positional.len() + args.keywords.len() {
                    1 => self.attribute_dict(&first.unwrap_or_default(), 0),
                    _ => Value::Unknown,
                }
            }
            "types.SimpleNamespace" | "argparse.Namespace" | "easydict.EasyDict" => {
                let values = args.keywords.iter();
                let values = values.map(|(name, value, _)| (&**name, value.clone())).collect();
                self.instance("types.SimpleNamespace", values, true)
            }
            _ => return None,
        })
    }

    /// Returns true if a call of PyYAML resolves scalars by the rules of YAML 1.1 alone.
    fn resolves_plain_yaml(&self, args: &Args<'t>) -> bool {
        let extends = ["add_constructor", "add_implicit_resolver", "add_multi_constructor", "YAMLObject"];
        let loader = args.get(1, "Loader").map(Value::path);
        let is_plain = loader.is_none_or(|loader| {
            let name = loader.and_then(|path| path.strip_prefix("yaml.")).unwrap_or("");
            matches!(name, "SafeLoader" | "FullLoader" | "Loader" | "UnsafeLoader" | "CSafeLoader")
        });
        is_plain && !self.mentions(&extends)
    }

    /// Returns a dictionary whose entries are attributes, too; inner dictionaries are converted, as well.
    fn attribute_dict(&mut self, value: &Value<'t>, depth: u32) -> Value<'t> {
        if let Some(entries) = self.entries(value).filter(|_| depth < MAX_DEPTH) {
            let mut attributes = vec![];
            for (key, value) in entries {
                let Value::Str(key) = key else { return Value::Unknown };
                attributes.push((key, self.attribute_dict(&value, depth + 1)));
            }
            let attributes = attributes.iter().map(|(key, value)| (&**key, value.clone())).collect();
            return self.instance(ATTRIBUTE_DICT, attributes, true);
        }
        match value {
            Value::Str(text) if text.contains("${") => Value::Unknown,
            Value::Object(_) if self.items(value).is_some() => {
                let items = self.items(value).unwrap_or_default();
                let items = items.iter().map(|item| self.attribute_dict(item, depth + 1)).collect();
                self.list(items)
            }
            Value::Object(_) => Value::Unknown,
            plain => plain.clone(),
        }
    }

    /// Returns the value of parsed JSON or YAML.
    fn parsed(&mut self, json: &serde_json::Value) -> Value<'t> {
        match json {
            serde_json::Value::Null => Value::None,
            serde_json::Value::Bool(flag) => Value::Bool(*flag),
            serde_json::Value::Number(number) => match (number.as_i64(), number.as_f64()) {
                (Some(number), _) => Value::Int(number),
                (None, number) => number.map_or(Value::Unknown, Value::Float),
            },
            serde_json::Value::String(text) => Value::str(text),
            serde_json::Value::Array(items) => {
                let items = items.iter().map(|item| self.parsed(item)).collect();
                self.list(items)
            }
            serde_json::Value::Object(entries) => {
                let entries = entries.iter().map(|(key, value)| (Value::str(key), self.parsed(value)));
                let entries = entries.collect();
                self.dict(entries, false)
            }
        }
    }
}
