//! Semantic checks: turns the syntax trees of target files into profiles.
//! Names are resolved, and operators are checked against the schema.

use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::ast::{FactAst, LineAst, PatternAst, RangeAst, SectionAst, TargetAst, VersionAst};
use super::profile::{Closed, Evidence, EvidenceKind, Line, Profile, Range, Test};
use crate::diag::Finding;
use crate::graph::normal_domain;
use crate::graph::syntax::ast::Name;
use crate::graph::syntax::{Source, Span};
use crate::rules::check::{Faults, NodeTest, node_tests, pattern_tests};
use crate::rules::rule::OpPat;
use crate::rules::syntax::ast::ExprAst;

/// Target with a profile for each version.
#[derive(Clone, Debug)]
pub struct Target {
    /// Name in arguments, such as `onnxruntime`.
    pub name: Arc<str>,
    /// Name in messages, such as `ONNX Runtime`.
    pub title: Arc<str>,
    /// Aliases.
    pub aliases: Vec<Arc<str>>,
    /// Profiles by version, newest last; a target without versions has a single one.
    pub versions: Vec<Arc<Profile>>,
}

fn no_title(faults: &Faults, name: &Name) -> Finding {
    faults.at(name.span, format!("target `{}` has no title", name.text)).help("add title \"ONNX Runtime\"")
}

fn says_nothing(faults: &Faults, name: &Name) -> Finding {
    faults
        .at(name.span, format!("target `{}` has no facts about its capabilities", name.text))
        .help("add a section: measured \"how\" on \"2026-01-31\" { opset 7..=21 }")
}

fn version_twice(faults: &Faults, number: &Name, first: &Name) -> Finding {
    faults
        .at(number.span, format!("version {} is defined twice", number.text))
        .related(faults.place(first.span), "the first one is here")
}

fn no_date(faults: &Faults, date: &Name) -> Finding {
    faults.at(date.span, format!("`{}` is not a date", date.text)).help("write a date as 2026-01-31")
}

fn empty_range(faults: &Faults, span: Span) -> Finding {
    faults.at(span, "this range is empty").help("write 7..=21, 7.. or ..=21")
}

/// Checks a target; reports errors and returns `None` if the target has any.
pub(super) fn check(ast: &TargetAst, faults: &mut Faults) -> Option<Target> {
    let errors_before = faults.errors();
    if ast.title.is_none() {
        faults.push_if_whole(no_title(faults, &ast.name));
    }
    if ast.versions.is_empty() && ast.sections.is_empty() {
        faults.push_if_whole(says_nothing(faults, &ast.name));
    }
    for (index, version) in ast.versions.iter().enumerate() {
        let first = ast.versions[..index].iter().find(|other| other.number.text == version.number.text);
        if let Some(first) = first {
            faults.push(version_twice(faults, &version.number, &first.number));
        }
    }
    let title = ast.title.as_ref().map_or(&ast.name.text, |title| &title.text);
    let mut base = Profile {
        name: ast.name.text.clone(),
        title: title.clone(),
        version: "".into(),
        opset: Range::ALL,
        ir: Range::ALL,
        fixed: None,
        evidence: Vec::new(),
        domains: Vec::new(),
        lines: FxHashMap::default(),
        closed: Vec::new(),
    };
    ast.sections.iter().for_each(|section| add(&mut base, section, faults));
    let mut versions: Vec<Arc<Profile>> =
        ast.versions.iter().map(|version| Arc::new(with_version(&base, version, faults))).collect();
    versions.sort_by_key(|profile| parts(&profile.version));
    if versions.is_empty() {
        versions.push(Arc::new(base));
    }
    let aliases = ast.aliases.iter().map(|alias| alias.text.clone()).collect();
    let target = Target { name: ast.name.text.clone(), title: title.clone(), aliases, versions };
    (ast.is_whole && faults.errors() == errors_before).then_some(target)
}

fn with_version(base: &Profile, version: &VersionAst, faults: &mut Faults) -> Profile {
    let mut profile = Profile { version: version.number.text.clone(), ..base.clone() };
    version.sections.iter().for_each(|section| add(&mut profile, section, faults));
    profile
}

/// Splits a version such as `1.31.1` into numbers.
pub(super) fn parts(version: &str) -> Vec<u64> {
    version.split('.').map(|part| part.parse().unwrap_or(u64::MAX)).collect()
}

fn add(profile: &mut Profile, section: &SectionAst, faults: &mut Faults) {
    let known = EvidenceKind::ALL.into_iter().find(|known| known.name() == &*section.known.text);
    let Some(known) = known else { return };
    if !is_day(&section.date.text) {
        faults.push(no_date(faults, &section.date));
    }
    let (source, date) = (section.source.text.clone(), section.date.text.clone());
    let evidence = Arc::new(Evidence { kind: known, source, date });
    profile.evidence.push(evidence.clone());
    for fact in &section.facts {
        match fact {
            FactAst::Opset(range) => profile.opset = profile.opset.meet(checked(range, faults)),
            FactAst::Ir(range) => profile.ir = profile.ir.meet(checked(range, faults)),
            FactAst::Static { free } => profile.fixed = Some(free.clone()),
            FactAst::Domains(domains) => {
                let names = domains.iter().map(|name| normal_domain(Some(&*name.text)).into());
                profile.domains.extend(names.map(|name| (name, evidence.clone())));
            }
            FactAst::NothingElse { because } => {
                let because = because.as_ref().map(|name| name.text.clone());
                profile.closed.push(Closed { evidence: evidence.clone(), because });
            }
            FactAst::Op(line) => add_line(profile, line, &evidence, faults),
            FactAst::Match(pattern) => add_pattern(profile, pattern, &evidence, faults),
        }
    }
}

fn checked(range: &RangeAst, faults: &mut Faults) -> Range {
    let Range { from, to } = Range::ALL;
    let checked = Range { from: range.from.unwrap_or(from), to: range.to.unwrap_or(to) };
    if checked.from > checked.to {
        faults.push(empty_range(faults, range.span));
    }
    checked
}

fn add_line(profile: &mut Profile, line: &LineAst, evidence: &Arc<Evidence>, faults: &mut Faults) {
    let text = one_line(&line.conditions, faults.source());
    let because = line.because.as_ref().map(|name| name.text.clone());
    for op in &line.ops {
        for test in node_tests(op, &line.conditions, faults).unwrap_or_default() {
            let said = said(&test, line.is_taken, evidence, because.clone());
            let has_conditions = !test.conditions.is_empty();
            add_test(profile, test, has_conditions.then(|| text.clone()), said);
        }
    }
}

fn add_pattern(profile: &mut Profile, pattern: &PatternAst, evidence: &Arc<Evidence>, faults: &mut Faults) {
    let nodes = words(faults.source().slice(pattern.span));
    let because = pattern.because.as_ref().map(|name| name.text.clone());
    let because = because.unwrap_or_else(|| format!("is not supported as the last node of {nodes}").into());
    let text = one_line(&pattern.conditions, faults.source());
    for test in pattern_tests(&pattern.nodes, pattern.span, &pattern.conditions, faults) {
        let said = said(&test, false, evidence, Some(because.clone()));
        add_test(profile, test, Some(text.clone()), said);
    }
}

/// Creates a line of a profile, without a test.
fn said(test: &NodeTest, is_taken: bool, evidence: &Arc<Evidence>, because: Option<Arc<str>>) -> Line {
    Line { is_taken, evidence: evidence.clone(), epoch: test.epoch, test: None, because }
}

/// Adds `line`, with `test`, to the lines about the operator of the last node of `test`.
/// `text` has the conditions as written; if it is `None`, the line gets no test and always applies.
fn add_test(profile: &mut Profile, test: NodeTest, text: Option<Arc<str>>, mut line: Line) {
    let NodeTest { direction, conditions, .. } = test;
    let Some(OpPat { domain, name, .. }) = direction.pattern.nodes.last().map(|node| node.op.clone()) else {
        return;
    };
    line.test = text.map(|text| Arc::new(Test { direction, conditions, text }));
    profile.lines.entry(domain).or_default().entry(name).or_default().push(line);
}

/// Formats conditions for a message.
fn one_line(conditions: &[ExprAst], source: &Source) -> Arc<str> {
    let conditions = conditions.iter().map(|condition| words(source.slice(condition.span)));
    conditions.collect::<Vec<_>>().join(" and ").into()
}

/// Normalizes whitespace to single spaces.
fn words(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Returns true for a date such as `2026-01-31`.
fn is_day(text: &str) -> bool {
    let is_number =
        |part: &str, length| part.len() == length && part.bytes().all(|byte| byte.is_ascii_digit());
    let parts: Vec<&str> = text.split('-').collect();
    matches!(parts[..], [year, month, day] if is_number(year, 4) && is_number(month, 2) && is_number(day, 2))
}
