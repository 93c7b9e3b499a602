//! Images of PIL and the transforms of torchvision, as far as examples are made of them.

use std::rc::Rc;

use super::super::calls::Args;
use super::super::machine::Machine;
use super::super::tensor::{DType, Dim, Tensor};
use super::super::value::Value;
use super::methods::ARRAY;
use super::numpy::numpy_dtype;

/// Class of images, whose attribute `tensor` has the shape [channels, height, width].
pub const IMAGE: &str = "PIL.Image.Image";

/// Prefix of the transforms of torchvision.
const TRANSFORMS: &str = "torchvision.transforms.";

/// Transforms that keep the size of an image.
const KEEPING: [&str; 12] = [
    "Normalize",
    "RandomHorizontalFlip",
    "RandomVerticalFlip",
    "ColorJitter",
    "RandomRotation",
    "RandomAffine",
    "GaussianBlur",
    "RandomErasing",
    "RandAugment",
    "AutoAugment",
    "TrivialAugmentWide",
    "ToImage",
];

impl<'t> Machine<'t> {
    /// Creates an image or a transform, or returns `None` if `path` names neither.
    pub fn image_call(&mut self, path: &str, args: &Args<'t>) -> Option<Value<'t>> {
        if let Some(name) = path.strip_prefix(TRANSFORMS) {
            let name = name.strip_prefix("v2.").unwrap_or(name);
            let (function, first) = (name.strip_prefix("functional."), args.positional.first());
            if let (Some("to_tensor" | "pil_to_tensor"), Some((image, _))) = (function, first) {
                return Some(self.tensor_of_image(&image.clone()));
            }
            let own = args.get(0, "size").or(args.keyword("transforms")).cloned().unwrap_or_default();
            let is_class = name.starts_with(|first: char| first.is_ascii_uppercase());
            return is_class
                .then(|| self.instance(&format!("{TRANSFORMS}{name}"), vec![("first", own)], false));
        }
        let shape = match path {
            "PIL.Image.open" => vec![None; 3],
            "PIL.Image.new" => {
                let channels = args.get(0, "mode").and_then(Value::text).and_then(channels_of);
                let size = args.get(1, "size").and_then(|size| self.shape_of(size));
                match size.as_deref() {
                    Some([width, height]) => vec![channels, *height, *width],
                    _ => vec![channels, None, None],
                }
            }
            "PIL.Image.fromarray" => {
                let array = args.get(0, "obj").and_then(|array| self.array_tensor(array));
                match array.and_then(|array| array.shape.clone()).as_deref() {
                    Some([height, width, channels]) => vec![*channels, *height, *width],
                    Some([height, width]) => vec![Some(1), *height, *width],
                    _ => vec![None; 3],
                }
            }
            _ => return None,
        };
        Some(self.image(shape))
    }

    fn image(&mut self, shape: Vec<Dim>) -> Value<'t> {
        let tensor = self.tensor(Some(shape), Some(DType::UInt8), Some(Rc::from("cpu")));
        self.instance(IMAGE, vec![("tensor", Value::Tensor(Rc::new(tensor)))], true)
    }

    /// Returns the tensor with the shape of an image.
    fn image_tensor(&self, value: &Value<'t>) -> Option<Rc<Tensor<'t>>> {
        self.wrapped_tensor(value, IMAGE)
    }

    /// Calls a method of an image; `None` if `object` is not an image.
    pub fn image_method(&mut self, object: &Value<'t>, name: &str, args: &Args<'t>) -> Option<Value<'t>> {
        let image = self.image_tensor(object)?;
        let mut shape = image.shape.clone().unwrap_or(vec![None; 3]);
        match name {
            "convert" => shape[0] = args.get(0, "mode").and_then(Value::text).and_then(channels_of),
            "resize" => {
                let size = args.get(0, "size").and_then(|size| self.shape_of(size));
                let [width, height] = size.as_deref()? else { return Some(Value::Unknown) };
                shape = vec![shape[0], *height, *width];
            }
            "copy" => {}
            "crop" | "rotate" | "transpose" => shape = vec![shape[0], None, None],
            _ => return Some(Value::Unknown),
        }
        Some(self.image(shape))
    }

    /// Returns the array of an image.
    pub fn array_of_image(&mut self, image: &Value<'t>, args: &Args<'t>) -> Option<Value<'t>> {
        let image = self.image_tensor(image)?;
        let shape = image.shape.as_ref().and_then(|shape| match shape[..] {
            [Some(1), height, width] => Some(vec![height, width]),
            [Some(channels), height, width] => Some(vec![height, width, Some(channels)]),
            _ => None,
        });
        let dtype = args.get(1, "dtype").map_or(image.dtype, numpy_dtype);
        let tensor = self.tensor(shape, dtype, image.device.clone());
        Some(self.instance(ARRAY, vec![("tensor", Value::Tensor(Rc::new(tensor)))], true))
    }

    fn tensor_of_image(&mut self, image: &Value<'t>) -> Value<'t> {
        let Some(image) = self.image_tensor(image) else { return Value::Unknown };
        Value::Tensor(Rc::new(self.tensor(image.shape.clone(), Some(DType::Float32), image.device.clone())))
    }

    /// Applies a transform; `None` if `object` is not a transform.
    pub fn transformed(&mut self, object: &Value<'t>, args: &Args<'t>) -> Option<Value<'t>> {
        let class = self.library_class(object)?;
        let name = class.strip_prefix(TRANSFORMS)?.to_owned();
        let first = self.attribute_of(object, "first").unwrap_or_default();
        let Some((given, _)) = args.positional.first().cloned() else { return Some(Value::Unknown) };
        if name == "Compose" || name == "Sequential" {
            let steps = self.items(&first);
            let Some(steps) = steps else { return Some(Value::Unknown) };
            let mut value = given;
            for step in steps {
                let next = Args::of(args.node, vec![value]);
                value = self.transformed(&step, &next).unwrap_or_default();
            }
            return Some(value);
        }
        let image = self.image_tensor(&given);
        let tensor = match (&image, &given) {
            (Some(image), _) => image.clone(),
            (None, Value::Tensor(tensor)) => tensor.clone(),
            _ => return Some(Value::Unknown),
        };
        let mut shape = tensor.shape.clone();
        match name.as_str() {
            "ToTensor" => return Some(self.tensor_of_image(&given)),
            "Resize" | "CenterCrop" | "RandomCrop" | "RandomResizedCrop" => {
                let sizes = self.shape_of(&first);
                let (height, width) = match (sizes.as_deref(), name.as_str()) {
                    (Some([height, width]), _) => (*height, *width),
                    // A single size is that of the shorter side, so height and width are unknown.
                    (_, "Resize") => (None, None),
                    (Some([size]), _) => (*size, *size),
                    _ => (None, None),
                };
                if let Some([.., last, wide]) = shape.as_deref_mut() {
                    (*last, *wide) = (height, width);
                }
            }
            "Grayscale" => match shape.as_deref_mut() {
                Some([channels, ..]) if first == Value::Unknown => *channels = Some(1),
                Some([channels, ..]) => *channels = first.int(),
                _ => {}
            },
            name if KEEPING.contains(&name) => {}
            _ => return Some(Value::Unknown),
        }
        Some(match image {
            Some(_) => self.image(shape.unwrap_or(vec![None; 3])),
            None => Value::Tensor(Rc::new(self.tensor(shape, tensor.dtype, tensor.device.clone()))),
        })
    }
}

/// Returns the number of channels of a mode of PIL.
fn channels_of(mode: &str) -> Dim {
    match mode {
        "L" | "1" | "P" | "I" | "F" => Some(1),
        "RGB" | "YCbCr" | "HSV" | "LAB" => Some(3),
        "RGBA" | "CMYK" => Some(4),
        _ => None,
    }
}
