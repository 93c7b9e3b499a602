//! `rewrite`: what is equal to the match.

use crate::diag::Finding;
use crate::graph::syntax::Span;
use crate::graph::syntax::ast::{Many, Name, Node, Operand};
use crate::rules::rule::{Alias, Count, InPat, NewAttr, NewNode, PatNode, Pattern, Rewrite, VarId};
use crate::rules::syntax::ast::{ExprAst, Statement};

use super::pattern::{check_call, in_pat};
use super::scope::Scope;
use super::{Faults, expr, op};

fn defines_no_output(faults: &Faults, span: Span, root: &PatNode, names: &str) -> Finding {
    faults
        .at(span, format!("the rewrite does not say what is equal to {names}"))
        .related(faults.place(root.span), "the last node of the pattern makes it")
        .help("a value that both the pattern and the rewrite make is the same one")
}

fn from_outside(faults: &Faults, name: &Name, first: Span) -> Finding {
    faults
        .at(name.span, format!("`{}` comes into the pattern from outside and cannot be made anew", name.text))
        .related(faults.place(first), "the pattern takes it here")
}

fn made_twice(faults: &Faults, name: &Name) -> Finding {
    faults.at(name.span, format!("the rewrite makes `{}` twice", name.text))
}

fn made_from_itself(faults: &Faults, name: &Name) -> Finding {
    faults.at(name.span, format!("the rewrite makes `{}` from itself", name.text))
}

fn made_later(faults: &Faults, name: &Name, below: Span) -> Finding {
    faults
        .at(name.span, format!("`{}` is not made yet", name.text))
        .related(faults.place(below), "it is made here, below")
}

fn ignored_rest(faults: &Faults, span: Span) -> Finding {
    faults
        .at(span, "a node of a rewrite has the attributes that are written, and the others at their defaults")
        .help("to keep those of a matched node, bind them there with `..@rest`, and write `..@rest` here")
}

fn not_one(faults: &Faults, name: &Name) -> Finding {
    faults.at(name.span, format!("`{}` does not stand for one value", name.text))
}

/// Checks the statements against the pattern that `scope` has bound.
pub fn rewrite(
    statements: &[Statement],
    pattern: &Pattern,
    scope: &mut Scope,
    span: Span,
    faults: &mut Faults,
) -> Option<Rewrite> {
    let mut checker = Checker { pattern, statements, made: Vec::new(), scope, faults };
    let mut rewrite =
        Rewrite { nodes: Vec::new(), aliases: Vec::new(), fresh: Vec::new(), outputs: Vec::new(), span };
    for statement in statements {
        match statement {
            Statement::Node(node) => rewrite.nodes.extend(checker.node(node, rewrite.nodes.len())),
            Statement::Alias { target, source, span } => {
                rewrite.aliases.extend(checker.alias(target, source, *span));
            }
        }
    }
    let bound = pattern.values.len();
    rewrite.outputs = checker.made.iter().copied().filter(|id| usize::from(id.0) < bound).collect();
    rewrite.outputs.sort_unstable();
    rewrite.fresh = scope.values()[bound..].to_vec();
    check_root(&rewrite, pattern, span, faults)?;
    check_cycles(&rewrite, statements, scope, faults);
    Some(rewrite)
}

struct Checker<'r, 'a, 'f> {
    pattern: &'r Pattern,
    statements: &'r [Statement],
    /// What the statements so far have made.
    made: Vec<VarId>,
    scope: &'r mut Scope<'a>,
    faults: &'r mut Faults<'f>,
}

impl Checker<'_, '_, '_> {
    fn node(&mut self, node: &Node<ExprAst>, index: usize) -> Option<NewNode> {
        let call = &node.call;
        let versions = op::versions(&call.op, self.faults);
        if let Some(versions) = &versions {
            check_call(versions, call, node.outputs.len(), self.faults);
        }
        let inputs: Vec<_> = call.inputs.iter().map(|operand| self.input(operand)).collect();
        let attrs: Vec<_> = call
            .attrs
            .iter()
            .map(|attr| {
                let value = expr::expr(&attr.value, self.scope, self.faults)?;
                Some(NewAttr { name: attr.name.text.clone(), value, span: attr.span })
            })
            .collect();
        let rest = match &call.rest {
            None => None,
            Some(rest) => match &rest.keep {
                Some(name) => self.scope.attr(name, self.faults),
                None => {
                    self.faults.push(ignored_rest(self.faults, rest.span));
                    None
                }
            },
        };
        let outputs: Vec<_> = node
            .outputs
            .iter()
            .enumerate()
            .map(|(at, operand)| self.output(operand, (index as u16, at as u16)))
            .collect();
        Some(NewNode {
            op: versions?.op,
            inputs: inputs.into_iter().collect::<Option<_>>()?,
            outputs,
            attrs: attrs.into_iter().collect::<Option<_>>()?,
            rest,
            span: node.span,
        })
    }

    fn input(&mut self, operand: &Operand) -> Option<InPat> {
        if operand.name.text.is_empty() {
            return Some(InPat::Absent);
        }
        let id = self.used(&operand.name)?;
        self.scope.same_count(operand, id, self.faults).then(|| in_pat(self.scope, id))
    }

    /// A value of the pattern, or one that the rewrite has made; reported where it is neither.
    fn used(&mut self, name: &Name) -> Option<VarId> {
        if self.scope.find(&name.text).is_none()
            && let Some(below) = self.made_below(name)
        {
            self.faults.push(made_later(self.faults, name, below));
            return None;
        }
        self.scope.value(name, self.faults)
    }

    fn made_below(&self, name: &Name) -> Option<Span> {
        let outputs = self.statements.iter().flat_map(|statement| match statement {
            Statement::Node(node) => node.outputs.as_slice(),
            Statement::Alias { target, .. } => std::slice::from_ref(target),
        });
        outputs.into_iter().find(|output| output.name.text == name.text).map(|output| output.name.span)
    }

    fn output(&mut self, operand: &Operand, def: (u16, u16)) -> Option<VarId> {
        let name = &operand.name;
        if name.text.is_empty() {
            return None;
        }
        if operand.many != Many::One {
            self.faults.push(not_one(self.faults, name));
            return None;
        }
        let id = match self.scope.find(&name.text) {
            Some(id) => self.redefined(id, name)?,
            None => self.scope.add(&name.text, Count::One, Some(def), name.span),
        };
        self.made.push(id);
        Some(id)
    }

    fn redefined(&mut self, id: VarId, name: &Name) -> Option<VarId> {
        if self.made.contains(&id) {
            self.faults.push(made_twice(self.faults, name));
            return None;
        }
        let var = self.scope.var(id);
        if var.def.is_none() || usize::from(id.0) >= self.pattern.values.len() {
            self.faults.push(from_outside(self.faults, name, var.span));
            return None;
        }
        Some(id)
    }

    fn alias(&mut self, target: &Operand, source: &Name, span: Span) -> Option<Alias> {
        let source_id = self.used(source)?;
        if self.scope.var(source_id).count != Count::One {
            self.faults.push(not_one(self.faults, source));
            return None;
        }
        let target_id = self.scope.value(&target.name, self.faults)?;
        let target_id = self.redefined(target_id, &target.name)?;
        self.made.push(target_id);
        Some(Alias { target: target_id, source: source_id, span })
    }
}

/// The rewrite says something of an output of the root.
fn check_root(rewrite: &Rewrite, pattern: &Pattern, span: Span, faults: &mut Faults) -> Option<()> {
    let root = pattern.nodes.last()?;
    let outputs: Vec<VarId> = root.outputs.iter().flatten().copied().collect();
    if !outputs.iter().any(|output| rewrite.outputs.contains(output)) {
        let names = outputs.iter().map(|id| format!("`{}`", pattern.values[usize::from(id.0)].name));
        let names = names.collect::<Vec<_>>().join(" or ");
        faults.push_if_whole(defines_no_output(faults, span, root, &names));
    }
    Some(())
}

/// No value is made from itself, through whatever nodes.
fn check_cycles(rewrite: &Rewrite, statements: &[Statement], scope: &Scope, faults: &mut Faults) {
    // What each value is made from, closed over the nodes above it.
    let mut sources: Vec<(VarId, Vec<VarId>)> = Vec::new();
    let mut closed = |outputs: Vec<VarId>, direct: Vec<VarId>| {
        let through = |id: &VarId| {
            sources
                .iter()
                .filter(|(made, _)| made == id)
                .flat_map(|(_, from)| from.clone())
                .collect::<Vec<_>>()
        };
        let all: Vec<VarId> = direct.iter().flat_map(|id| through(id).into_iter().chain([*id])).collect();
        sources.extend(outputs.into_iter().map(|output| (output, all.clone())));
    };
    for node in &rewrite.nodes {
        let inputs = node.inputs.iter().filter_map(|input| input.var()).collect();
        closed(node.outputs.iter().flatten().copied().collect(), inputs);
    }
    for alias in &rewrite.aliases {
        closed(vec![alias.target], vec![alias.source]);
    }
    for (made, from) in sources {
        if from.contains(&made)
            && let Some(name) = place_of(statements, &scope.var(made).name)
        {
            faults.push(made_from_itself(faults, name));
        }
    }
}

fn place_of<'s>(statements: &'s [Statement], name: &str) -> Option<&'s Name> {
    let outputs = statements.iter().flat_map(|statement| match statement {
        Statement::Node(node) => node.outputs.as_slice(),
        Statement::Alias { target, .. } => std::slice::from_ref(target),
    });
    outputs.into_iter().map(|output| &output.name).find(|output| &*output.text == name)
}
