//! Models of torchvision, by name.

use std::rc::Rc;

use super::super::calls::Args;
use super::super::faults::Fault;
use super::super::machine::{Eval, Machine};
use super::super::tensor::{Role, shown};
use super::super::value::Value;

/// Beginnings of the names of classifiers of images with three channels.
const CLASSIFIERS: [&str; 13] = [
    "alexnet",
    "convnext",
    "densenet",
    "efficientnet",
    "mnasnet",
    "mobilenet",
    "regnet",
    "resnet",
    "resnext",
    "shufflenet",
    "squeezenet",
    "vgg",
    "wide_resnet",
];

/// Attributes of the model itself.
const OWN: [&str; 3] = ["training", "num_classes", "weight"];

/// Attributes that scripts replace by another head.
const HEADS: [&str; 4] = ["fc", "classifier", "head", "heads"];

/// Least height and width of the images of models that reduce them to nothing.
const LEAST_SIZES: [(&str, i64); 2] = [("alexnet", 63), ("vgg", 32)];

impl<'t> Machine<'t> {
    /// Constructs a model of torchvision.
    pub fn torchvision_model(&mut self, path: &str, args: &Args<'t>) -> Value<'t> {
        let classes = args.keyword("num_classes").cloned().unwrap_or(Value::Int(1000));
        let model =
            self.instance(path, vec![("training", Value::Bool(true)), ("num_classes", classes)], true);
        self.set_origin(&model, args.node);
        let device = self.creation_device();
        let mut weight = self.tensor(None, self.default_dtype, device);
        weight.role = Role::Parameter;
        self.set_attribute(&model, "weight", Value::Tensor(Rc::new(weight)));
        model
    }

    /// Runs a model of torchvision.
    pub fn torchvision_forward(&mut self, model: &Value<'t>, path: &str, args: &Args<'t>) -> Eval<'t> {
        let name = path.rsplit('.').next().unwrap_or(path);
        let is_classifier = CLASSIFIERS.iter().any(|start| name.starts_with(start))
            && path.matches('.').count() == 2
            && name.chars().all(|letter| !letter.is_ascii_uppercase());
        let instance = model.object().and_then(|object| self.heap.instance(object));
        let names: Vec<&str> = instance
            .iter()
            .flat_map(|instance| instance.attributes.iter().map(|(name, _)| &**name))
            .collect();
        let is_own = names.iter().all(|name| OWN.contains(name) || HEADS.contains(name))
            && matches!(self.attribute_of(model, "weight"), Some(Value::Tensor(_)));
        let has_head = names.iter().any(|name| HEADS.contains(name));
        let (true, true, Some(Value::Tensor(x))) = (is_classifier, is_own, args.get(0, "x").cloned()) else {
            return Ok(Value::Unknown);
        };
        if let Some(shape) = &x.shape {
            let channels = shape.len().checked_sub(3).and_then(|at| shape[at]);
            if !matches!(shape.len(), 3 | 4) || channels.is_some_and(|channels| channels != 3) {
                let message =
                    format!("`{name}` expects images [batch, 3, height, width], gets {}", shown(shape));
                let help = "correct the example, or replace the first convolution of the model";
                return Err(self.fault(args.node, Fault::shape(message, help)));
            }
        }
        let least = LEAST_SIZES.iter().find(|(start, _)| name.starts_with(start)).map(|(_, size)| *size);
        if let (Some(shape), Some(least)) = (&x.shape, least)
            && let Some(size) = shape[shape.len() - 2..].iter().flatten().find(|size| **size < least)
        {
            let message = format!(
                "`{name}` needs images of at least {least} pixels, gets {size}: shape {}",
                shown(shape)
            );
            let help = "use a larger example: the poolings leave nothing of this one";
            return Err(self.fault(args.node, Fault::shape(message, help)));
        }
        if let Some(Value::Tensor(weight)) = self.attribute_of(model, "weight") {
            self.same_dtype(name, &[&x, &weight], args.node)?;
            let (x, mut weight) = (x.clone(), (*weight).clone());
            weight.shape = Some(vec![None]);
            self.same_device(&[&x, &weight], args.node)?;
        }
        let classes = self.attribute_of(model, "num_classes").and_then(|classes| classes.int());
        let shape = x
            .shape
            .as_ref()
            .filter(|shape| shape.len() == 4 && !has_head)
            .map(|shape| vec![shape[0], classes]);
        let dtype = if self.is_autocast() { None } else { x.dtype };
        Ok(self.made(shape, dtype, &[&x]))
    }
}
