//! EXP010: code that enables training mode despite `model.eval()`.

use tree_sitter::Node;

use super::calls::Call;
use super::interpreter::Interpreter;
use super::program::ClassKind;
use super::report::{self, Help, Piece};
use super::syntax::{field, text};
use super::torch_names;
use super::value::{Layer, Value};

/// The training flag of a function. Positions are 0-based.
struct Flag {
    position: usize,
    keyword: &'static str,
    /// Default value of the flag.
    default: bool,
    /// Condition under which the flag has no effect.
    moot: NoOpCondition,
}

/// Condition under which a function computes the same in training and in inference.
enum NoOpCondition {
    Never,
    /// A dropout probability of 0; position and keyword of its argument.
    Zero(usize, &'static str),
    /// Absent running statistics; position and keyword of their argument.
    Absent(usize, &'static str),
}

impl Flag {
    const fn new(position: usize, keyword: &'static str, default: bool, moot: NoOpCondition) -> Self {
        Flag { position, keyword, default, moot }
    }
}

/// Returns the training flag of a function of `torch.nn.functional` or of `torch`.
///
/// A function of `torch` can have another signature than that of the same name in `torch.nn.functional`.
fn flag(name: &str, is_functional: bool) -> Option<Flag> {
    let mean = "running_mean";
    Some(match (name, is_functional) {
        ("batch_norm", true) => Flag::new(5, "training", false, NoOpCondition::Absent(1, mean)),
        ("batch_norm" | "native_batch_norm", false) => {
            Flag::new(5, "training", false, NoOpCondition::Absent(3, mean))
        }
        ("multi_head_attention_forward", true) => {
            Flag::new(13, "training", true, NoOpCondition::Zero(10, "dropout_p"))
        }
        ("rrelu" | "rrelu_", _) => Flag::new(3, "training", false, NoOpCondition::Never),
        (_, true) if torch_names::is_dropout(name) => {
            Flag::new(2, "training", torch_names::trains_by_default(name), NoOpCondition::Zero(1, "p"))
        }
        (_, false) if torch_names::is_dropout(name) => {
            Flag::new(2, "train", false, NoOpCondition::Zero(1, "p"))
        }
        _ => return None,
    })
}

impl<'t> Interpreter<'t> {
    /// Reports calls that enable training mode, by a flag or by a dropout that is always on.
    pub fn ask_training(&mut self, name: &str, is_functional: bool, call: &Call<'t>) {
        let path = field(call.node, "function").map_or("", |function| text(function, self.source));
        if name == "scaled_dot_product_attention" {
            if matches!(call.value(4, "dropout_p"), Some(Value::Real(rate)) if *rate > 0.0) {
                let rate = call.arguments.get(4, "dropout_p").map_or("", |rate| text(rate, self.source));
                let rate = format!("{rate} if self.training else 0.0");
                let piece = self.by_training(call, 4, "dropout_p", &rate);
                let help = Help::new(format!("pass `dropout_p={rate}`"), piece);
                self.say(call.node, report::training(path, "a `dropout_p` above 0 always drops", help));
            }
            return;
        }
        let Some(Flag { position, keyword, default, moot }) = flag(name, is_functional) else { return };
        let is_moot = match moot {
            NoOpCondition::Never => false,
            NoOpCondition::Zero(position, keyword) => self.is_zero(call.value(position, keyword)),
            NoOpCondition::Absent(position, keyword) => {
                matches!(call.value(position, keyword), None | Some(Value::None))
            }
        };
        let why = match call.value(position, keyword) {
            _ if is_moot => return,
            Some(given) if given.truth() == Some(true) => format!("`{keyword}=True` is passed"),
            None if default && call.arguments.spreads.is_empty() => {
                format!("`{keyword}` is True by default")
            }
            _ => return,
        };
        let piece = self.by_training(call, position, keyword, "self.training");
        let help = Help::new(format!("pass `{keyword}=self.training`"), piece);
        self.say(call.node, report::training(path, &why, help));
    }

    /// Returns a fix that makes an argument depend on `self.training`, in methods of a module.
    fn by_training(&self, call: &Call<'t>, position: usize, name: &str, value: &str) -> Option<Piece> {
        let piece = || Piece::argument(call.node, position, name, value, self.source);
        self.is_module(&self.lookup("self")).then(piece).flatten()
    }

    /// Reports `self.train()` and `self.norm.train(True)`, which undo `model.eval()`.
    /// Returns the module, which is the result of the call, or `None` for any other call.
    pub fn train(&mut self, value: &Value, name: &str, object: Node<'t>, call: &Call<'t>) -> Option<Value> {
        if name != "train" || !self.is_module(value) {
            return None;
        }
        if call.value(0, "mode").is_none_or(|mode| mode.truth() == Some(true)) {
            let object = text(object, self.source);
            let help = "remove the call of `train()`".into();
            self.say(call.node, report::training(object, "`train()` enables it", help));
        }
        Some(value.clone())
    }

    /// Reports an assignment that enables training mode, such as `self.norm.training = True`.
    pub fn set_training(&mut self, module: &Value, object: Node<'t>, name: &str, value: &Value) {
        if name == "training"
            && value.truth() == Some(true)
            && self.is_module(module)
            && let Some(target) = object.parent()
        {
            let why = format!("`{}` is set", text(target, self.source));
            let help = "remove the assignment".into();
            self.say(target, report::training(text(object, self.source), &why, help));
        }
    }

    fn is_module(&self, value: &Value) -> bool {
        match value {
            Value::Instance(class) => self.program.classes[*class].kind == ClassKind::Module,
            Value::Layer(Layer::Tensor { .. } | Layer::Tuple | Layer::List(_)) => true,
            _ => false,
        }
    }
}
