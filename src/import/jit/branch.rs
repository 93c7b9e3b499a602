//! Branches and loops whose conditions depend on data.

use std::sync::Arc;

use super::fault::Fault;
use super::interpreter::{Flow, Interpreter, Variables};
use super::item::Item;
use crate::read::jit::ast::{Expression, Statement};

impl<'a> Interpreter<'a> {
    /// Records a branch whose condition is computed.
    pub fn branch(
        &mut self,
        _condition: &Item,
        _yes: &'a [Statement],
        _no: &'a [Statement],
        _variables: &mut Variables,
    ) -> Result<Flow, Fault> {
        Err("its branch depends on data".into())
    }

    /// Records a loop whose number of rounds is computed.
    pub fn counted_loop(
        &mut self,
        _variable: &Arc<str>,
        _count: &Item,
        _body: &'a [Statement],
        _variables: &mut Variables,
    ) -> Result<Flow, Fault> {
        Err("its loop depends on data".into())
    }

    /// Records a loop whose condition is computed.
    pub fn computed_loop(
        &mut self,
        _condition: &'a Expression,
        _body: &'a [Statement],
        _variables: &mut Variables,
    ) -> Result<Flow, Fault> {
        Err("its loop depends on data".into())
    }
}
