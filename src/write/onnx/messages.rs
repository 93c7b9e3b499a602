//! Converts model parts without values and nodes: tensors, types, metadata, quantization annotations.

use std::sync::Arc;

use crate::graph::{
    DeclaredDim, DeclaredShape, Dimension, Metadata, OpsetImport, QuantAnnotation, SparseTensor, Tensor,
    TensorData, Type, TypeKind, ValueInfo,
};
use crate::proto::tensor_shape_proto::{self, dimension};
use crate::proto::{
    OperatorSetIdProto, SparseTensorProto, StringStringEntryProto, TensorAnnotation, TensorProto,
    TensorShapeProto, TypeProto, ValueInfoProto, tensor_proto, type_proto,
};

/// Copies a string if it is present.
pub fn optional(text: &Option<Arc<str>>) -> Option<String> {
    text.as_deref().map(str::to_owned)
}

/// Converts key-value entries, such as those of `metadata_props`.
pub fn metadata(entries: &Metadata) -> Vec<StringStringEntryProto> {
    let entry = |(key, value): &(Arc<str>, Arc<str>)| StringStringEntryProto {
        key: Some(key.to_string()),
        value: Some(value.to_string()),
    };
    entries.iter().map(entry).collect()
}

/// Converts opset imports.
pub fn opsets(imports: &[OpsetImport]) -> Vec<OperatorSetIdProto> {
    let import = |import: &OpsetImport| OperatorSetIdProto {
        domain: optional(&import.domain),
        version: import.version,
    };
    imports.iter().map(import).collect()
}

/// Converts a quantization annotation.
pub fn annotation(annotation: &QuantAnnotation) -> TensorAnnotation {
    TensorAnnotation {
        tensor_name: optional(&annotation.tensor_name),
        quant_parameter_tensor_names: metadata(&annotation.parameters),
    }
}

/// Converts a tensor; raw data is shared, not copied.
pub fn tensor(tensor: &Tensor) -> TensorProto {
    let mut proto = TensorProto {
        name: optional(&tensor.name),
        dims: tensor.dims.clone(),
        data_type: tensor.data_type,
        doc_string: optional(&tensor.doc),
        segment: tensor.segment.map(|(begin, end)| tensor_proto::Segment { begin, end }),
        data_location: tensor.location,
        metadata_props: metadata(&tensor.metadata),
        ..TensorProto::default()
    };
    match &tensor.data {
        TensorData::Absent => {}
        TensorData::Raw(raw) => proto.raw_data = Some(raw.clone()),
        TensorData::Deferred(_) => proto.raw_data = tensor.packed(),
        TensorData::Floats(floats) => proto.float_data = floats.clone(),
        TensorData::Int32s(ints) => proto.int32_data = ints.clone(),
        TensorData::Int64s(ints) => proto.int64_data = ints.clone(),
        TensorData::Doubles(floats) => proto.double_data = floats.clone(),
        TensorData::Uint64s(ints) => proto.uint64_data = ints.clone(),
        TensorData::Strings(strings) => proto.string_data = strings.clone(),
        TensorData::External(entries) => proto.external_data = metadata(entries),
    }
    proto
}

/// Converts a sparse tensor.
pub fn sparse(sparse: &SparseTensor) -> SparseTensorProto {
    SparseTensorProto {
        values: sparse.values.as_ref().map(tensor),
        indices: sparse.indices.as_ref().map(tensor),
        dims: sparse.dims.clone(),
    }
}

/// Converts the name, type, documentation and metadata of a value.
pub fn value_info(name: &str, info: &ValueInfo) -> ValueInfoProto {
    ValueInfoProto {
        name: Some(name.to_owned()),
        r#type: info.ty.as_ref().map(ty),
        doc_string: optional(&info.doc),
        metadata_props: metadata(&info.metadata),
    }
}

/// Converts a type.
pub fn ty(ty: &Type) -> TypeProto {
    let value = match &ty.kind {
        TypeKind::Undefined => None,
        TypeKind::Tensor { elem, shape } => Some(type_proto::Value::TensorType(type_proto::Tensor {
            elem_type: *elem,
            shape: shape_proto(shape),
        })),
        TypeKind::SparseTensor { elem, shape } => {
            let shape = shape_proto(shape);
            Some(type_proto::Value::SparseTensorType(type_proto::SparseTensor { elem_type: *elem, shape }))
        }
        TypeKind::Sequence(elem) => {
            Some(type_proto::Value::SequenceType(Box::new(type_proto::Sequence { elem_type: boxed(elem) })))
        }
        TypeKind::Optional(elem) => {
            Some(type_proto::Value::OptionalType(Box::new(type_proto::Optional { elem_type: boxed(elem) })))
        }
        TypeKind::Map { key, value } => Some(type_proto::Value::MapType(Box::new(type_proto::Map {
            key_type: *key,
            value_type: boxed(value),
        }))),
        TypeKind::Opaque { domain, name } => Some(type_proto::Value::OpaqueType(type_proto::Opaque {
            domain: optional(domain),
            name: optional(name),
        })),
    };
    TypeProto { value, denotation: optional(&ty.denotation) }
}

fn boxed(elem: &Option<Box<Type>>) -> Option<Box<TypeProto>> {
    elem.as_deref().map(|elem| Box::new(ty(elem)))
}

fn shape_proto(shape: &DeclaredShape) -> Option<TensorShapeProto> {
    let dimension = |dimension: &Dimension| tensor_shape_proto::Dimension {
        value: match &dimension.dim {
            DeclaredDim::Absent => None,
            DeclaredDim::Value(value) => Some(dimension::Value::DimValue(*value)),
            DeclaredDim::Param(name) => Some(dimension::Value::DimParam(name.to_string())),
        },
        denotation: optional(&dimension.denotation),
    };
    shape.as_ref().map(|dims| TensorShapeProto { dim: dims.iter().map(dimension).collect() })
}
