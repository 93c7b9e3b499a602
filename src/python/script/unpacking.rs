//! Assignments to several targets: the number of targets, and that of the values.

use tree_sitter::Node;

use crate::diag::{Place, counted, rule_ids};

use super::super::syntax::field;
use super::faults::{Fault, LINE_RAISES};
use super::machine::{Machine, Stop};
use super::value::Value;

impl<'t> Machine<'t> {
    /// Reports an assignment of a tuple, tensor or session result to another number of targets.
    pub fn check_unpacked(
        &self,
        whole: Node<'t>,
        targets: &[Node<'t>],
        value: &Value<'t>,
    ) -> Result<(), Stop> {
        let results = value.object().and_then(|list| self.session_results.get(&list));
        let is_exact = match value {
            Value::Tuple(_) => true,
            Value::Tensor(_) => self.keeps_tensor(whole) && !self.may_replace_forward(),
            _ => results.is_some(),
        };
        let Some(count) = self.length(value).filter(|_| is_exact && self.is_unconditional()) else {
            return Ok(());
        };
        let rest = targets.iter().filter(|target| target.kind() == "list_splat_pattern").count();
        let least = i64::try_from(targets.len() - rest).unwrap_or(0);
        if if rest == 0 { count == least } else { count >= least } {
            return Ok(());
        }
        let (message, help) = match (value, results) {
            (_, Some(_)) => (
                format!("the file has {}, but {} unpacked", counted(count, "output"), is_or_are(least)),
                "unpack one name for each output of the file",
            ),
            (Value::Tensor(_), _) => (
                format!("axis 0 of the tensor has size {count}, but {} unpacked", is_or_are(least)),
                "unpack one name for each row, or unpack the shape or another axis",
            ),
            _ => (
                format!("{} cannot be unpacked into {}", counted(count, "value"), counted(least, "name")),
                "unpack one name for each value, or index the tuple",
            ),
        };
        let rule = if results.is_some() { rule_ids::NAME_COUNT } else { rule_ids::SHAPE_MISMATCH };
        let fault = Fault { rule, kind: "ValueError", note: LINE_RAISES, ..Fault::shape(message, help) };
        let mut stop = self.fault(whole, fault);
        if let (Stop::Raised(raised), Some((file, export))) = (&mut stop, results) {
            let export = Place::Source(self.place(*file, *export));
            raised.finding = raised.finding.take().map(|finding| finding.related(export, "the export"));
        }
        Err(stop)
    }

    /// Returns true if the unpacked expression is certainly one tensor.
    ///
    /// Many functions return one tensor or several, depending on their arguments.
    fn keeps_tensor(&self, targets: Node<'t>) -> bool {
        let value = targets.parent().and_then(|assignment| field(assignment, "right"));
        value.is_some_and(|value| match value.kind() {
            "identifier" | "subscript" => true,
            "call" => field(value, "function")
                .and_then(|function| field(function, "attribute"))
                .is_some_and(|name| matches!(self.text(name), "permute" | "transpose" | "view" | "reshape")),
            _ => false,
        })
    }

    /// Reports an index beyond the outputs of a session.
    pub fn check_result_index(
        &self,
        results: &Value<'t>,
        index: &Value<'t>,
        node: Node<'t>,
    ) -> Result<(), Stop> {
        let export = results.object().and_then(|list| self.session_results.get(&list));
        let (Some((file, export)), Some(count), Value::Int(at)) = (export, self.length(results), index)
        else {
            return Ok(());
        };
        if (-count..count).contains(at) || !self.is_unconditional() {
            return Ok(());
        }
        let fault = Fault {
            rule: rule_ids::NAME_COUNT,
            kind: "IndexError",
            note: LINE_RAISES,
            ..Fault::shape(
                format!("the session returns {}, but the index is {at}", counted(count, "output")),
                "use an index below the number of outputs",
            )
        };
        let mut stop = self.fault(node, fault);
        if let Stop::Raised(raised) = &mut stop {
            let export = Place::Source(self.place(*file, *export));
            raised.finding = raised.finding.take().map(|finding| finding.related(export, "the export"));
        }
        Err(stop)
    }
}

/// Returns a number with the verb of a passive: `1 is`, `2 are`.
fn is_or_are(count: i64) -> String {
    format!("{count} {}", if count == 1 { "is" } else { "are" })
}
