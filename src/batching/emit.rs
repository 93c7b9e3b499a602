//! Emission of nodes and constants of the rewritten graph.

use std::sync::Arc;

use super::cx::{Cx, It};
use super::obstacle::{Kind, Obstacle, Result, unsupported};
use crate::edit::{At, Item, PatchNode, PatchOp};
use crate::graph::{AttrValue, Attribute, ElemType, NodeId, ValueId};
use crate::infer::Array;
use crate::schema::{self, AttrUse, OpUse, Operand, ValueType};

/// Returns an integer attribute.
pub(super) fn attr_int(name: &str, value: i64) -> Attribute {
    Attribute::new(name, AttrValue::Int(value))
}

/// Returns an attribute with a list of integers.
pub(super) fn attr_ints(name: &str, value: &[i64]) -> Attribute {
    Attribute::new(name, AttrValue::Ints(value.to_vec()))
}

impl Cx<'_> {
    fn code(&self) -> Arc<str> {
        Arc::from(self.samples.by.code)
    }

    /// Creates a replacement of `value`.
    pub fn new_item(&mut self, value: ValueId) -> It {
        let base = self.model.values[value].name.clone();
        let code = self.code();
        let item = self.scope.patch.new_value(base, Some(code));
        self.scope.elems.extend(self.fact(value).elem().map(|elem| (item, elem)));
        item
    }

    /// Creates an intermediate value, named after the first output of the current node, if there is one.
    fn helper_item(&mut self) -> It {
        let node = self.scope.node.map(|node| &self.model.nodes[node]);
        let base = node.and_then(|node| node.outputs.iter().flatten().next());
        let base = base.map_or_else(|| Arc::from("samples"), |&value| self.model.values[value].name.clone());
        let code = self.code();
        self.scope.patch.new_value(base, Some(code))
    }

    /// Emits a node of ai.onnx with one output, and returns that output.
    pub fn emit(&mut self, op: &str, attrs: Vec<Attribute>, inputs: &[It]) -> It {
        let output = self.helper_item();
        self.check(op, &attrs, inputs);
        let elem = match op {
            "Shape" | "Size" => Some(ElemType::Int64),
            // The first input of a Where is its condition.
            "Where" => inputs.get(1).and_then(|&item| self.elem_of(item)),
            _ => inputs.first().and_then(|&item| self.elem_of(item)),
        };
        self.scope.elems.extend(elem.map(|elem| (output, elem)));
        let inputs = inputs.iter().map(|&item| Some(item)).collect();
        self.push(
            PatchOp::New { domain: Arc::from(""), op_type: Arc::from(op), attrs },
            inputs,
            vec![Some(output)],
        );
        output
    }

    fn elem_of(&self, item: It) -> Option<ElemType> {
        match item {
            Item::Old(value) => self.fact(value).elem(),
            Item::New(_) => self.scope.elems.get(&item).copied(),
        }
    }

    /// Records an obstacle if a node is illegal at the opset of the model.
    fn check(&mut self, op: &str, attrs: &[Attribute], inputs: &[It]) {
        let Ok(opset) = u16::try_from(self.scope.opset) else { return };
        let ty = |&item: &It| self.elem_of(item).map(ValueType::Tensor);
        let operands: Vec<Operand> =
            inputs.iter().map(|item| Operand::Present { ty: ty(item), negative: false }).collect();
        let attrs: Vec<AttrUse> = attrs.iter().map(AttrUse::from).collect();
        let outputs = [Operand::Present { ty: None, negative: false }];
        let node =
            OpUse { domain: "", name: op, epoch: None, attrs: &attrs, inputs: &operands, outputs: &outputs };
        if schema::legal(&node, opset).is_err() {
            let why = format!("the rewrite needs a `{op}` node that opset {opset} does not support");
            let (node, value, kind) = (self.scope.node, None, Kind::Unsupported);
            self.obstacles.push(Obstacle { node, value, kind, why });
        }
    }

    /// Adds a node to the patch, at the position of the current node, or else at the start of the graph.
    fn push(&mut self, form: PatchOp, inputs: Vec<Option<It>>, outputs: Vec<Option<It>>) {
        let origin = self.scope.node.into_iter().collect();
        let rule = matches!(form, PatchOp::New { .. }).then(|| self.code());
        self.scope.patch.nodes.push(PatchNode { form, inputs, outputs, at: At::Origin, origin, rule });
    }

    /// Returns the inputs of a node in the rewritten graph.
    pub fn inputs(&mut self, node: NodeId) -> Vec<Option<It>> {
        let inputs = self.model.nodes[node].inputs.clone();
        inputs.into_iter().map(|input| input.map(|value| self.item(value))).collect()
    }

    /// Creates replacements of the outputs of a node.
    fn outputs(&mut self, node: NodeId) -> Vec<Option<It>> {
        let outputs = self.model.nodes[node].outputs.clone();
        outputs.into_iter().map(|output| output.map(|value| self.new_item(value))).collect()
    }

    /// Keeps a node, but replaces its inputs by `inputs`. Returns its outputs.
    pub fn keep(&mut self, node: NodeId, inputs: Vec<Option<It>>) -> Vec<Option<It>> {
        let outputs = self.outputs(node);
        self.push(PatchOp::Kept(node), inputs, outputs.clone());
        self.scope.emitted.insert(node);
        outputs
    }

    /// Keeps a node, but replaces its inputs and outputs by `inputs` and `outputs`.
    pub fn keep_as(&mut self, node: NodeId, inputs: Vec<Option<It>>, outputs: Vec<Option<It>>) {
        let before = self.scope.node.replace(node);
        self.push(PatchOp::Kept(node), inputs, outputs);
        self.scope.node = before;
        self.scope.emitted.insert(node);
    }

    /// Replaces a node by a copy with the inputs `inputs` and updated attributes; returns its outputs.
    /// Attributes in `dropped` are removed.
    pub fn remake(
        &mut self,
        node: NodeId,
        inputs: Vec<Option<It>>,
        attrs: Vec<Attribute>,
        dropped: &[&str],
    ) -> Vec<Option<It>> {
        let old = &self.model.nodes[node];
        let is_set = |name: &str| attrs.iter().any(|attr| &*attr.name == name) || dropped.contains(&name);
        let mut all: Vec<Attribute> = old.attrs.iter().filter(|attr| !is_set(&attr.name)).cloned().collect();
        all.extend(attrs);
        let domain: Arc<str> = Arc::from(old.domain());
        let form = PatchOp::New { domain, op_type: old.op_type.clone(), attrs: all };
        let outputs = self.outputs(node);
        self.push(form, inputs, outputs.clone());
        self.replace(node);
        outputs
    }

    /// Records that new nodes replace `node`.
    pub fn replace(&mut self, node: NodeId) {
        if self.scope.emitted.insert(node) {
            self.scope.patch.replaced.push(node);
        }
    }

    /// Returns an int64 vector constant.
    pub fn vector(&mut self, elements: &[i64]) -> Result<It> {
        self.ints_of(elements, false)
    }

    /// Returns an int64 scalar constant.
    pub fn scalar(&mut self, element: i64) -> Result<It> {
        self.ints_of(&[element], true)
    }

    fn ints_of(&mut self, elements: &[i64], is_scalar: bool) -> Result<It> {
        let key = (elements.to_vec(), is_scalar);
        if let Some(&item) = self.scope.ints.get(&key) {
            return Ok(item);
        }
        let shape = if is_scalar { Vec::new() } else { vec![elements.len()] };
        let Ok(array) = Array::i64s(shape, elements.to_vec()) else {
            return unsupported("a constant cannot be created");
        };
        let item = self.helper_item();
        self.scope.elems.insert(item, ElemType::Int64);
        self.scope.patch.constant(item, &array);
        self.scope.ints.insert(key, item);
        Ok(item)
    }

    /// Returns the value of an equal node that was already emitted, or else emits it.
    fn once(
        &mut self,
        key: (It, &'static str, Vec<i64>),
        make: impl FnOnce(&mut Self) -> Result<It>,
    ) -> Result<It> {
        if let Some(&item) = self.scope.converted.get(&key) {
            return Ok(item);
        }
        let item = make(self)?;
        self.scope.converted.insert(key, item);
        Ok(item)
    }

    /// Returns the number of samples at run time, an int64[1] value.
    pub fn size(&mut self) -> Result<It> {
        if let Some(size) = self.scope.size {
            return Ok(size);
        }
        let (root, axis) = self.samples.inputs[0];
        let node = self.scope.node.take();
        let shape = self.emit("Shape", Vec::new(), &[Item::Old(root)]);
        let at = self.vector(&[axis as i64])?;
        let size = self.emit("Gather", vec![attr_int("axis", 0)], &[shape, at]);
        self.scope.node = node;
        self.scope.size = Some(size);
        Ok(size)
    }

    /// Emits a Reshape to a constant shape.
    pub fn reshape(&mut self, item: It, dims: &[i64]) -> Result<It> {
        self.once((item, "Reshape", dims.to_vec()), |cx| {
            let target = cx.vector(dims)?;
            Ok(cx.emit("Reshape", Vec::new(), &[item, target]))
        })
    }

    /// Emits a Transpose, unless the permutation is the identity.
    pub fn transpose(&mut self, item: It, perm: &[usize]) -> Result<It> {
        let perm: Vec<i64> = perm.iter().map(|&axis| axis as i64).collect();
        if perm.iter().enumerate().all(|(at, &axis)| at as i64 == axis) {
            return Ok(item);
        }
        self.once((item, "Transpose", perm.clone()), |cx| {
            Ok(cx.emit("Transpose", vec![attr_ints("perm", &perm)], &[item]))
        })
    }

    /// Emits an Unsqueeze, unless there are no axes.
    pub fn unsqueeze(&mut self, item: It, axes: &[i64]) -> Result<It> {
        self.axes_op("Unsqueeze", item, axes)
    }

    /// Emits a Squeeze, unless there are no axes.
    pub fn squeeze(&mut self, item: It, axes: &[i64]) -> Result<It> {
        self.axes_op("Squeeze", item, axes)
    }

    fn axes_op(&mut self, op: &'static str, item: It, axes: &[i64]) -> Result<It> {
        if axes.is_empty() {
            return Ok(item);
        }
        self.once((item, op, axes.to_vec()), |cx| cx.axes_node(op, item, axes))
    }

    /// Emits a Squeeze or Unsqueeze; before opset 13, its axes are an attribute instead of an input.
    pub fn axes_node(&mut self, op: &'static str, item: It, axes: &[i64]) -> Result<It> {
        if self.scope.opset < 13 {
            return Ok(self.emit(op, vec![attr_ints("axes", axes)], &[item]));
        }
        let axes = self.vector(axes)?;
        Ok(self.emit(op, Vec::new(), &[item, axes]))
    }

    /// Emits an Expand to a shape that is computed at run time.
    pub fn expand(&mut self, item: It, shape: It) -> Result<It> {
        Ok(self.emit("Expand", Vec::new(), &[item, shape]))
    }

    /// Concatenates vectors.
    pub fn join(&mut self, parts: &[It]) -> It {
        match parts {
            [part] => *part,
            parts => self.emit("Concat", vec![attr_int("axis", 0)], parts),
        }
    }
}
