//! Interning tables for operators, attributes and constants of e-nodes.

use std::sync::Arc;

use egg::Id;
use rustc_hash::FxHashMap;

use super::enode::{AttrsId, Call, ConstId, OpId};
use crate::graph::{AttrValue, Attribute, GraphId, Id as _, Model, Tensor, TensorId};
use crate::infer;
use crate::infer::eval::Array;
use crate::schema::{self, AttrView, Schema};

/// Operator of an e-node: a range of versions with equal semantics.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct OpKey {
    /// "" for ai.onnx.
    pub domain: Arc<str>,
    pub name: Arc<str>,
    pub overload: Arc<str>,
    /// First of the versions with equal semantics; `None` if the operator has no schema.
    pub epoch: Option<u16>,
}

impl OpKey {
    /// Returns the schema of the operator at an opset.
    /// If the opset is outside of the range of versions, returns the newest schema in the range.
    pub fn schema(&self, opset: i64) -> Option<&'static Schema> {
        let epoch = self.epoch?;
        let opset = u16::try_from(opset).unwrap_or(u16::MAX);
        schema::schema_of_epoch(&self.domain, &self.name, epoch, opset).or_else(|| {
            schema::versions(&self.domain, &self.name).iter().rfind(|schema| schema.epoch == epoch)
        })
    }
}

/// Version and schema that an operator has in the graph.
#[derive(Clone, Copy, Debug)]
pub struct Meaning {
    /// Opset that determines the semantics of the operator's calls.
    ///
    /// This is the opset of the graph or, if the operator has other semantics at that opset, the nearest opset with
    /// the semantics of the operator.
    pub opset: i64,
    /// Schema of the operator at `opset`.
    pub schema: Option<&'static Schema>,
    /// First version of the range that rules mean if they name the operator without a version: the range
    /// at the graph's opset or, if the operator does not exist at that opset, the oldest range.
    pub named_plainly: Option<u16>,
    /// Whether the newest of the versions with equal semantics has exactly one output.
    pub makes_one: bool,
}

impl Meaning {
    /// Resolves an operator; `imported` is the graph's opset for the domain of the operator.
    fn of(key: &OpKey, imported: Option<i64>) -> Self {
        let own = u16::try_from(imported.unwrap_or(1)).unwrap_or(u16::MAX);
        let schema = key.schema(i64::from(own));
        let with_semantics = |schema: &'static Schema| {
            let is_newer = schema.epoch > own || schema.since > own;
            if is_newer { schema.since } else { schema::last_opset(schema).map_or(own, |last| last.min(own)) }
        };
        let most = key.schema(i64::from(u16::MAX)).map(|schema| schema.max_outputs);
        Meaning {
            opset: i64::from(schema.map_or(own, with_semantics)),
            schema,
            named_plainly: schema::meant_plainly(&key.domain, &key.name, imported).map(|schema| schema.epoch),
            makes_one: most == Some(1),
        }
    }
}

/// Interning tables of one e-graph.
pub struct Tables<'m> {
    pub model: &'m Model,
    graph: GraphId,
    ops: Vec<OpKey>,
    meanings: Vec<Meaning>,
    op_ids: FxHashMap<OpKey, OpId>,
    attrs: Vec<Arc<[Attribute]>>,
    attr_ids: FxHashMap<Vec<u8>, AttrsId>,
    consts: Vec<Arc<Array>>,
    const_ids: FxHashMap<Vec<u8>, ConstId>,
    /// Tensors in attributes that rules created; their ids follow those of the model.
    new_tensors: Vec<Tensor>,
}

impl<'m> Tables<'m> {
    /// Creates empty tables for a graph.
    pub fn new(model: &'m Model, graph: GraphId) -> Self {
        Tables {
            model,
            graph,
            ops: Vec::new(),
            meanings: Vec::new(),
            op_ids: FxHashMap::default(),
            attrs: Vec::new(),
            attr_ids: FxHashMap::default(),
            consts: Vec::new(),
            const_ids: FxHashMap::default(),
            new_tensors: Vec::new(),
        }
    }

    /// Returns an operator.
    pub fn op(&self, id: OpId) -> &OpKey {
        &self.ops[id.0 as usize]
    }

    /// Returns the resolved meaning of an operator.
    pub fn meaning(&self, id: OpId) -> &Meaning {
        &self.meanings[id.0 as usize]
    }

    /// Returns the opset that determines the meaning of a call: that of its operator, raised to the
    /// first opset that has all attributes of the call.
    pub fn opset_of(&self, call: &Call) -> i64 {
        let meaning = self.meaning(call.op);
        let names = self.attrs(call.attrs).iter().map(|attr| &*attr.name);
        let with = meaning.schema.map(|schema| schema::with_attributes(schema, names));
        with.map_or(meaning.opset, |schema| meaning.opset.max(i64::from(schema.since)))
    }

    /// Returns true if the class of a call is its output value rather than a tuple of outputs.
    /// The class is the output if the operator never has more than one output.
    pub fn is_single(&self, call: &Call) -> bool {
        call.outputs == 1 && self.meaning(call.op).makes_one
    }

    /// Returns a set of attributes.
    pub fn attrs(&self, id: AttrsId) -> &[Attribute] {
        &self.attrs[id.0 as usize]
    }

    /// Returns an attribute by name.
    pub fn attr(&self, id: AttrsId, name: &str) -> Option<&AttrValue> {
        self.attrs(id).iter().find(|attr| &*attr.name == name).map(|attr| &attr.value)
    }

    /// Returns a constant.
    pub fn constant(&self, id: ConstId) -> &Arc<Array> {
        &self.consts[id.0 as usize]
    }

    /// Returns a tensor of the model, or one that rules created.
    pub fn tensor(&self, id: TensorId) -> &Tensor {
        match id.index().checked_sub(self.model.tensors.len()) {
            None => &self.model.tensors[id],
            Some(index) => &self.new_tensors[index],
        }
    }

    /// Returns the tensors that rules created, in the order of their ids.
    pub fn new_tensors(&self) -> &[Tensor] {
        &self.new_tensors
    }

    /// Adds a tensor.
    pub fn add_tensor(&mut self, tensor: Tensor) -> TensorId {
        self.new_tensors.push(tensor);
        TensorId::from_index(self.model.tensors.len() + self.new_tensors.len() - 1)
    }

    /// Creates a call of the newest version of an ai.onnx operator, within `epoch` if it is given.
    pub fn call_of(
        &mut self,
        name: &str,
        epoch: Option<u16>,
        attrs: Vec<Attribute>,
        children: Vec<Id>,
        outputs: u16,
    ) -> Option<Call> {
        let versions = schema::versions("", name);
        let schema = versions.iter().rfind(|schema| epoch.is_none_or(|epoch| schema.epoch == epoch))?;
        let key = OpKey {
            domain: Arc::from(""),
            name: Arc::from(name),
            overload: Arc::from(""),
            epoch: Some(schema.epoch),
        };
        Some(Call {
            op: self.intern_op(key),
            attrs: self.intern_attrs(attrs, Some(schema)),
            outputs,
            inputs: children.len() as u16,
            token: None,
            children: children.into(),
        })
    }

    /// Interns an operator.
    pub fn intern_op(&mut self, key: OpKey) -> OpId {
        if let Some(&id) = self.op_ids.get(&key) {
            return id;
        }
        let id = OpId(self.ops.len() as u32);
        self.meanings.push(Meaning::of(&key, self.model.opset(self.graph, &key.domain)));
        self.ops.push(key.clone());
        self.op_ids.insert(key, id);
        id
    }

    /// Interns attributes, sorted by name and without defaults, so that equivalent nodes are identical.
    pub fn intern_attrs(&mut self, attrs: Vec<Attribute>, schema: Option<&'static Schema>) -> AttrsId {
        let at_default = |attr: &Attribute| {
            let spec = schema.and_then(|schema| schema.attrs.iter().find(|spec| spec.name == &*attr.name));
            spec.is_some_and(|spec| spec.is_default(AttrView::from(&attr.value)))
        };
        let mut attrs: Vec<Attribute> = attrs.into_iter().filter(|attr| !at_default(attr)).collect();
        attrs.sort_by(|a, b| a.name.cmp(&b.name));
        let mut key = Vec::new();
        for attr in &attrs {
            self.attr_key(attr, &mut key);
        }
        if let Some(&id) = self.attr_ids.get(&key) {
            return id;
        }
        let id = AttrsId(self.attrs.len() as u32);
        self.attrs.push(attrs.into());
        self.attr_ids.insert(key, id);
        id
    }

    /// Interns a constant by content; `None` for strings, which are not interned.
    pub fn intern_const(&mut self, array: &Arc<Array>) -> Option<ConstId> {
        let mut key = vec![array.elem() as u8];
        for &dim in array.shape() {
            key.extend((dim as u64).to_le_bytes());
        }
        key.push(u8::MAX);
        key.extend(array.to_raw()?);
        if let Some(&id) = self.const_ids.get(&key) {
            return Some(id);
        }
        let id = ConstId(self.consts.len() as u32);
        self.consts.push(array.clone());
        self.const_ids.insert(key, id);
        Some(id)
    }

    /// Appends a key that identifies an attribute: floats by bits, graphs by id.
    fn attr_key(&self, attr: &Attribute, key: &mut Vec<u8>) {
        let text = |bytes: &[u8], key: &mut Vec<u8>| {
            key.extend((bytes.len() as u64).to_le_bytes());
            key.extend(bytes);
        };
        text(attr.name.as_bytes(), key);
        key.push(attr.value.kind().map_or(0, |kind| kind as u8));
        match &attr.value {
            AttrValue::Float(float) => key.extend(float.to_bits().to_le_bytes()),
            AttrValue::Int(int) => key.extend(int.to_le_bytes()),
            AttrValue::String(string) => text(string, key),
            AttrValue::Floats(floats) => {
                key.extend((floats.len() as u64).to_le_bytes());
                key.extend(floats.iter().flat_map(|float| float.to_bits().to_le_bytes()));
            }
            AttrValue::Ints(ints) => {
                key.extend((ints.len() as u64).to_le_bytes());
                key.extend(ints.iter().flat_map(|int| int.to_le_bytes()));
            }
            AttrValue::Strings(strings) => {
                key.extend((strings.len() as u64).to_le_bytes());
                strings.iter().for_each(|string| text(string, key));
            }
            AttrValue::Tensor(id) => self.tensor_key(*id, key),
            // Other types of attributes are rare, and their debug representations are unique.
            other => text(format!("{other:?}").as_bytes(), key),
        }
    }

    /// Appends the key of a tensor attribute: the content of a small numeric tensor, or else the id.
    fn tensor_key(&self, id: TensorId, key: &mut Vec<u8>) {
        const BY_CONTENT: usize = 256;
        let tensor = self.tensor(id);
        let content = tensor.byte_len().filter(|&len| len <= BY_CONTENT).and_then(|_| infer::array(tensor));
        match content.as_ref().and_then(Array::to_raw) {
            Some(raw) => {
                key.extend(tensor.data_type.unwrap_or(0).to_le_bytes());
                key.extend(tensor.dims.iter().flat_map(|dim| dim.to_le_bytes()));
                key.push(u8::MAX);
                key.extend(raw);
            }
            None => key.extend((id.index() as u64).to_le_bytes()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the opset of the meaning of an operator in a graph of an opset.
    fn opset(name: &str, epoch: u16, imported: i64) -> i64 {
        let key = OpKey { domain: "".into(), name: name.into(), overload: "".into(), epoch: Some(epoch) };
        Meaning::of(&key, Some(imported)).opset
    }

    #[test]
    fn calls_keep_the_semantics_of_their_epoch() {
        // Softmax flattens its input before opset 13.
        assert_eq!([9, 12, 13, 21].map(|imported| opset("Softmax", 1, imported)), [9, 12, 12, 12]);
        assert_eq!([9, 12, 13, 21].map(|imported| opset("Softmax", 13, imported)), [13, 13, 13, 21]);
        assert_eq!(opset("Shape", 1, 21), 21, "later versions support more types");
    }
}
