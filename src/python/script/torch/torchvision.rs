//! Models of torchvision, by name.

use std::rc::Rc;

use super::super::calls::Args;
use super::super::faults::Fault;
use super::super::machine::{Eval, Machine};
use super::super::tensor::{Dim, Role, shown};
use super::super::value::Value;

/// Classifiers of images with three channels, one a line.
///
/// The script `generate` writes `torchvision.txt`.
const CLASSIFIERS: &str = include_str!("torchvision.txt");

/// Attributes of models, by names of models. The script `generate` writes the file.
const ATTRIBUTES: &str = include_str!("torchvision_attributes.txt");

/// Attributes that the interpreter sets on each model, besides the head.
const OWN: [&str; 2] = ["training", "weight"];

/// A classifier of images with three channels: a backbone, and a head that scripts replace.
pub struct Classifier {
    /// Whether the backbone has a BatchNorm.
    pub has_norm: bool,
    /// Name of the attribute that holds the head.
    head: &'static str,
    /// Shape of the features that the head receives, without the batch axis.
    features: Vec<Dim>,
    /// Layers of the head.
    layers: Vec<&'static str>,
}

/// Returns the classifier of a path of torchvision.
pub fn classifier(path: &str) -> Option<Classifier> {
    let name = path.strip_prefix("torchvision.models.")?;
    let mut line =
        CLASSIFIERS.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '))?.split(' ');
    let (norm, head, features) = (line.next()?, line.next()?, line.next()?);
    let features = features.split('x').map(|size| size.parse().ok()).collect();
    Some(Classifier { has_norm: norm == "norm", head, features, layers: line.collect() })
}

/// Returns true if a model of torchvision certainly has no attribute `name` of its own.
pub fn lacks(path: &str, name: &str) -> bool {
    let Some(model) = path.strip_prefix("torchvision.models.") else { return false };
    let rows = ATTRIBUTES.lines().filter_map(|row| row.split_once(" | "));
    let mut rows = rows.filter(|(models, _)| models.split(' ').any(|known| known == model));
    rows.next().is_some_and(|(_, attributes)| !attributes.split(' ').any(|known| known == name))
}

/// Minimum height and width of images, for models whose poolings make smaller images empty.
const LEAST_SIZES: [(&str, i64); 6] = [
    ("alexnet", 63),
    ("googlenet", 15),
    ("inception_v3", 75),
    ("squeezenet1_0", 21),
    ("squeezenet1_1", 17),
    ("vgg", 32),
];

/// Returns the attribute that holds the first layer of a model, a convolution that scripts replace.
fn stem(model: &str) -> Option<&'static str> {
    let is_residual = ["resnet", "resnext", "wide_resnet"].iter().any(|start| model.starts_with(start));
    is_residual.then_some("conv1")
}

impl<'t> Machine<'t> {
    /// Constructs a model of torchvision.
    pub fn torchvision_model(&mut self, path: &str, args: &Args<'t>) -> Value<'t> {
        if path == "torchvision.models.get_model" {
            let name = args.get(0, "name").and_then(Value::text);
            let Some(path) = name.map(|name| format!("torchvision.models.{name}")) else {
                return Value::Unknown;
            };
            return self.torchvision_model(&path, args);
        }
        let model = self.instance(path, vec![("training", Value::Bool(true))], true);
        self.set_origin(&model, args.node);
        self.add_head(&model, path, args);
        let device = self.creation_device();
        let mut weight = self.tensor(None, self.default_dtype, device);
        weight.role = Role::Parameter;
        self.set_attribute(&model, "weight", Value::Tensor(Rc::new(weight)));
        model
    }

    /// Adds the head of a classifier, unless an argument may change its features.
    fn add_head(&mut self, model: &Value<'t>, path: &str, args: &Args<'t>) {
        let is_plain = |name: &str| matches!(name, "weights" | "progress" | "num_classes" | "pretrained");
        let Some(classifier) = classifier(path).filter(|_| !args.open) else { return };
        if args.keywords.iter().any(|(name, ..)| !is_plain(name)) {
            return;
        }
        let classes = args.keyword("num_classes").cloned().unwrap_or(Value::Int(1000));
        let count = classifier.layers.len();
        let mut layers = vec![];
        for (at, layer) in classifier.layers.into_iter().enumerate() {
            let mut parts = layer.split(':');
            let name = parts.next().unwrap_or("");
            let mut numbers: Vec<Value<'t>> = parts.map(super::layers::literal).collect();
            if matches!(name, "Linear" | "Conv2d") && (at + 1 == count || name == "Conv2d") {
                numbers[1] = classes.clone();
            }
            layers.push(self.construct(name, &Args::of(args.node, numbers)).unwrap_or_default());
        }
        let head = match (layers.pop(), layers.is_empty()) {
            (Some(only), true) => only,
            (last, _) => {
                layers.extend(last);
                self.container("torch.nn.Sequential", layers, args.node)
            }
        };
        self.set_attribute(model, classifier.head, head);
    }

    /// Runs a model of torchvision.
    pub fn torchvision_forward(&mut self, model: &Value<'t>, path: &str, args: &Args<'t>) -> Eval<'t> {
        let name = path.rsplit('.').next().unwrap_or(path);
        let classifier = classifier(path);
        let head = classifier.as_ref().map_or("fc", |classifier| classifier.head);
        let instance = model.object().and_then(|object| self.heap.instance(object));
        let names: Vec<&str> = instance
            .iter()
            .flat_map(|instance| instance.attributes.iter().map(|(name, _)| &**name))
            .collect();
        let stem = stem(name);
        let is_own = names.iter().all(|name| OWN.contains(name) || *name == head || Some(*name) == stem)
            && !self.mentions(&["get_submodule", "setattr("])
            && matches!(self.attribute_of(model, "weight"), Some(Value::Tensor(_)));
        let (true, Some(Value::Tensor(x))) = (is_own, args.get(0, "x").cloned()) else {
            return Ok(Value::Unknown);
        };
        let least = LEAST_SIZES.iter().find(|(start, _)| name.starts_with(start)).map(|(_, size)| *size);
        // Other code may change the poolings.
        let least = least.filter(|_| !self.mentions(&[".modules(", ".apply(", ".features"]));
        if classifier.is_none() && least.is_none() {
            return Ok(Value::Unknown);
        }
        let first = stem.and_then(|stem| self.attribute_of(model, stem));
        if let Some(layer) = &first {
            self.invoke(layer, &Args::of(args.node, vec![Value::Tensor(x.clone())]))?;
        }
        if let Some(shape) = x.shape.as_ref().filter(|_| first.is_none()) {
            let channels = shape.len().checked_sub(3).and_then(|at| shape[at]);
            if !matches!(shape.len(), 3 | 4) || channels.is_some_and(|channels| channels != 3) {
                let message =
                    format!("`{name}` expects images [batch, 3, height, width], gets {}", shown(shape));
                let help = "correct the example, or replace the first convolution of the model";
                return Err(self.fault(args.node, Fault::shape(message, help)));
            }
        }
        if let (Some(shape), Some(least)) = (&x.shape, least)
            && let Some(size) = shape[shape.len() - 2..].iter().flatten().find(|size| **size < least)
        {
            let message = format!(
                "`{name}` needs a height and width of at least {least}, gets {size}: shape {}",
                shown(shape)
            );
            let help = "use a larger example: the poolings make this example empty";
            return Err(self.fault(args.node, Fault::shape(message, help)));
        }
        if let Some(Value::Tensor(weight)) = self.attribute_of(model, "weight") {
            self.same_dtype(name, &[&x, &weight], args.node)?;
            let (x, mut weight) = (x.clone(), (*weight).clone());
            weight.shape = Some(vec![None]);
            self.same_device(&[&x, &weight], args.node)?;
        }
        let Some(classifier) = classifier else { return Ok(Value::Unknown) };
        let dtype = if self.is_autocast() { None } else { x.dtype };
        let shape = x.shape.as_ref().filter(|shape| shape.len() == 4);
        let features = shape.map(|shape| std::iter::once(shape[0]).chain(classifier.features).collect());
        let features = self.made(features, dtype, &[&x]);
        match self.attribute_of(model, classifier.head) {
            Some(head) if self.is_module(&head) == Some(true) => {
                let result = self.invoke(&head, &Args::of(args.node, vec![features]))?;
                // A convolutional head ends with a pooling to one pixel, and the model flattens its result.
                Ok(match &result {
                    Value::Tensor(tensor) if tensor.rank() == Some(4) => {
                        let shape = tensor.shape.as_ref().map(|shape| shape[..2].to_vec());
                        self.made(shape, tensor.dtype, &[tensor])
                    }
                    _ => result,
                })
            }
            _ => Ok(self.made(None, dtype, &[&x])),
        }
    }
}
