//! Converts protobuf messages without value names: tensors, types, metadata, quantization annotations.

use std::sync::Arc;

use super::sparse::Sparse;
use crate::graph::names::Interner;
use crate::graph::{
    DeclaredDim, DeclaredShape, Dimension, Metadata, OpsetImport, QuantAnnotation, SparseTensor, Tensor,
    TensorData, Type, TypeKind, ValueInfo,
};
use crate::proto::tensor_shape_proto::dimension;
use crate::proto::{
    OperatorSetIdProto, SparseTensorProto, StringStringEntryProto, TensorAnnotation, TensorProto,
    TensorShapeProto, TypeProto, ValueInfoProto, type_proto,
};

/// Value of `data_location` for a tensor with external data.
const EXTERNAL: i32 = 1;

/// Converter of messages that shares equal strings.
#[derive(Default)]
pub struct Messages {
    names: Interner,
    /// Copy of the model with placeholders for large tensors, if it is converted instead of the file.
    pub sparse: Option<Sparse>,
}

impl Messages {
    /// Interns a string.
    pub fn text(&mut self, text: &str) -> Arc<str> {
        self.names.intern(text)
    }

    /// Interns a string if it is present.
    pub fn optional(&mut self, text: Option<String>) -> Option<Arc<str>> {
        text.map(|text| self.text(&text))
    }

    /// Converts key-value entries, such as those of `metadata_props`.
    pub fn metadata(&mut self, entries: Vec<StringStringEntryProto>) -> Metadata {
        entries.into_iter().map(|entry| (self.text(entry.key()), self.text(entry.value()))).collect()
    }

    /// Converts opset imports.
    pub fn opsets(&mut self, imports: Vec<OperatorSetIdProto>) -> Vec<OpsetImport> {
        let import = |import: OperatorSetIdProto| OpsetImport {
            domain: self.optional(import.domain),
            version: import.version,
        };
        imports.into_iter().map(import).collect()
    }

    /// Converts a quantization annotation.
    pub fn annotation(&mut self, annotation: TensorAnnotation) -> QuantAnnotation {
        QuantAnnotation {
            tensor_name: self.optional(annotation.tensor_name),
            parameters: self.metadata(annotation.quant_parameter_tensor_names),
        }
    }

    /// Converts a tensor; `raw_data` is shared, not copied.
    pub fn tensor(&mut self, tensor: TensorProto) -> Tensor {
        Tensor {
            name: tensor.name.as_deref().map(|name| self.text(name)),
            data_type: tensor.data_type,
            dims: tensor.dims.clone(),
            doc: tensor.doc_string.as_deref().map(|doc| self.text(doc)),
            segment: tensor.segment.as_ref().map(|segment| (segment.begin, segment.end)),
            location: tensor.data_location,
            metadata: self.metadata(tensor.metadata_props.clone()),
            data: self.tensor_data(tensor),
        }
    }

    fn tensor_data(&mut self, tensor: TensorProto) -> TensorData {
        if tensor.data_location == Some(EXTERNAL) || !tensor.external_data.is_empty() {
            TensorData::External(self.metadata(tensor.external_data))
        } else if let Some(raw) = tensor.raw_data {
            let deferred = self.sparse.as_ref().and_then(|sparse| sparse.deferred(&raw));
            deferred.map_or(TensorData::Raw(raw), TensorData::Deferred)
        } else if !tensor.float_data.is_empty() {
            TensorData::Floats(tensor.float_data)
        } else if !tensor.int32_data.is_empty() {
            TensorData::Int32s(tensor.int32_data)
        } else if !tensor.int64_data.is_empty() {
            TensorData::Int64s(tensor.int64_data)
        } else if !tensor.double_data.is_empty() {
            TensorData::Doubles(tensor.double_data)
        } else if !tensor.uint64_data.is_empty() {
            TensorData::Uint64s(tensor.uint64_data)
        } else if !tensor.string_data.is_empty() {
            TensorData::Strings(tensor.string_data)
        } else {
            TensorData::Absent
        }
    }

    /// Converts a sparse tensor.
    pub fn sparse(&mut self, sparse: SparseTensorProto) -> SparseTensor {
        SparseTensor {
            values: sparse.values.map(|values| self.tensor(values)),
            indices: sparse.indices.map(|indices| self.tensor(indices)),
            dims: sparse.dims,
        }
    }

    /// Converts the type, documentation and metadata of a value, without its name.
    pub fn value_info(&mut self, info: ValueInfoProto) -> ValueInfo {
        ValueInfo {
            ty: info.r#type.map(|ty| self.ty(ty)),
            doc: self.optional(info.doc_string),
            metadata: self.metadata(info.metadata_props),
        }
    }

    /// Converts a type.
    pub fn ty(&mut self, ty: TypeProto) -> Type {
        let kind = match ty.value {
            None => TypeKind::Undefined,
            Some(type_proto::Value::TensorType(tensor)) => {
                TypeKind::Tensor { elem: tensor.elem_type, shape: self.shape(tensor.shape) }
            }
            Some(type_proto::Value::SparseTensorType(tensor)) => {
                TypeKind::SparseTensor { elem: tensor.elem_type, shape: self.shape(tensor.shape) }
            }
            Some(type_proto::Value::SequenceType(sequence)) => {
                TypeKind::Sequence(self.boxed(sequence.elem_type))
            }
            Some(type_proto::Value::OptionalType(optional)) => {
                TypeKind::Optional(self.boxed(optional.elem_type))
            }
            Some(type_proto::Value::MapType(map)) => {
                TypeKind::Map { key: map.key_type, value: self.boxed(map.value_type) }
            }
            Some(type_proto::Value::OpaqueType(opaque)) => {
                TypeKind::Opaque { domain: self.optional(opaque.domain), name: self.optional(opaque.name) }
            }
        };
        Type { kind, denotation: self.optional(ty.denotation) }
    }

    fn boxed(&mut self, ty: Option<Box<TypeProto>>) -> Option<Box<Type>> {
        ty.map(|ty| Box::new(self.ty(*ty)))
    }

    fn shape(&mut self, shape: Option<TensorShapeProto>) -> DeclaredShape {
        let mut dimension = |dimension: crate::proto::tensor_shape_proto::Dimension| Dimension {
            dim: match dimension.value {
                None => DeclaredDim::Absent,
                Some(dimension::Value::DimValue(value)) => DeclaredDim::Value(value),
                Some(dimension::Value::DimParam(name)) => DeclaredDim::Param(self.text(&name)),
            },
            denotation: self.optional(dimension.denotation),
        };
        Some(shape?.dim.into_iter().map(&mut dimension).collect())
    }
}
