//! Checks that the required entries of a rule are present, none is repeated, and every word is known.

use crate::diag::{Finding, Level};
use crate::graph::syntax::Span;
use crate::graph::syntax::ast::{Name, Operand};
use crate::graph::syntax::suggest::with_suggestion;
use crate::rules::builtin;
use crate::rules::rule::{Assumed, Assumption, Phase, RuleStatus, Safety};
use crate::rules::syntax::ast::{
    AlsoAst, AssumeAst, Entry, EntryKind, ExampleAst, ExpectAst, RuleAst, Statement, TextAst, ValueAst,
    ValueAstKind,
};
use crate::schema;

use super::Faults;

fn bad_code(faults: &Faults, code: &Name) -> Finding {
    faults
        .at(code.span, format!("`{}` is not a rule code", code.text))
        .help("use three capital letters and three digits: OPT101")
}

fn bad_name(faults: &Faults, name: &Name) -> Finding {
    faults
        .at(name.span, format!("`{}` is not a rule name", name.text))
        .help("name the defect in lowercase letters, digits and `-`: double-transpose")
}

fn no_docs(faults: &Faults, header: Span) -> Finding {
    faults
        .at(header, "this rule has no documentation")
        .help("add lines that begin with `##` directly above the rule; the first is the summary")
}

fn missing(faults: &Faults, header: Span, what: &str, help: &str) -> Finding {
    faults.at(header, format!("this rule has no {what}")).help(help)
}

fn twice(faults: &Faults, entry: &Entry, first: Span) -> Finding {
    faults
        .at(entry.keyword.span, format!("`{}` is given twice", entry.keyword.text))
        .related(faults.place(first), "the first one is here")
}

fn unknown_word(faults: &Faults, entry: &str, word: &Name, known: &[&str]) -> Finding {
    let message = format!("`{}` is not a valid {entry}", word.text);
    let message = with_suggestion(message, &word.text, known.iter().copied());
    faults.at(word.span, message).help(format!("use one of {}", known.join(", ")))
}

fn not_with_detect(faults: &Faults, entry: &Entry, detect: Span) -> Finding {
    faults
        .at(entry.keyword.span, format!("`{}` is not allowed in a rule with `detect`", entry.keyword.text))
        .related(faults.place(detect), "the analysis is named here")
}

fn before_match(faults: &Faults, entry: &Entry) -> Finding {
    faults
        .at(
            entry.keyword.span,
            format!("`{}` must come after `match`, which binds the names it uses", entry.keyword.text),
        )
        .help("move it below `match`: entries are read in order")
}

fn never_shown(faults: &Faults, entry: &Entry) -> Finding {
    let word = &entry.keyword.text;
    faults
        .warning(entry.keyword.span, format!("this `{word}` is never shown: the rule reports no findings"))
        .help(format!(
            "remove `{word}`: with a `rewrite`, only rules of the phases `simplify` and `fix` report findings, \
             unless they have the entry `fixes`"
        ))
}

fn only_with_rewrite(faults: &Faults, entry: &Entry) -> Finding {
    faults.at(
        entry.keyword.span,
        format!("`{}` requires a `rewrite`, which this rule does not have", entry.keyword.text),
    )
}

const SAFETIES: [(&str, Safety); 3] =
    [("exact", Safety::Exact), ("rounding", Safety::Rounding), ("unsafe", Safety::Unsafe)];

/// Returns true for three capital letters and three digits.
fn is_code(text: &str) -> bool {
    let (letters, digits) = text.split_at_checked(3).unwrap_or(("", ""));
    letters.bytes().all(|byte| byte.is_ascii_uppercase())
        && digits.len() == 3
        && digits.bytes().all(|byte| byte.is_ascii_digit())
}

/// Checks the code, the name and the docs.
pub fn check_identity(ast: &RuleAst, faults: &mut Faults) {
    check_code(&ast.code, faults);
    let is_name_byte = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    if !ast.name.text.bytes().all(is_name_byte) {
        faults.push(bad_name(faults, &ast.name));
    }
    if ast.docs.trim().is_empty() {
        faults.push(no_docs(faults, ast.code.span.to(ast.name.span)));
    }
}

/// Reports an invalid code.
pub fn check_code(code: &Name, faults: &mut Faults) {
    if !is_code(&code.text) {
        faults.push(bad_code(faults, code));
    }
}

/// Entries of a rule by kind.
#[derive(Default)]
pub struct Entries {
    pub status: RuleStatus,
    pub severity: Option<Level>,
    pub phase: Option<Phase>,
    pub safety: Option<Safety>,
    /// Opset that determines the versions of operators that the rewrite writes without a version.
    pub at: Option<i64>,
    /// First opset at which the rule applies without a target.
    pub since: Option<i64>,
    pub fixes: Option<Name>,
    pub message: Option<TextAst>,
    pub help: Option<TextAst>,
    /// Nodes of the pattern, and its span.
    pub matched: Option<(Vec<Statement>, Span)>,
    /// `where` and `let`, in the order written.
    pub steps: Vec<EntryKind>,
    /// Whether the rewrite is bidirectional, its statements, and its span.
    pub rewrite: Option<(bool, Vec<Statement>, Span)>,
    /// Assumptions, each with its value as written.
    pub assumptions: Vec<(Assumed, Name)>,
    pub detect: Option<Name>,
    pub also: Vec<AlsoAst>,
    pub examples: Vec<ExampleAst>,
}

impl Entries {
    /// Collects the entries of a rule, completed by the defaults of its file.
    pub fn collect(
        mut entries: Vec<Entry>,
        defaults: &[Entry],
        header: Span,
        faults: &mut Faults,
    ) -> Entries {
        check_repeats(&entries, faults);
        let says = |entries: &[Entry], word: &str| entries.iter().any(|entry| *entry.keyword.text == *word);
        let speaks_of_rewrites = ["phase", "safety", "at", "since"];
        for default in defaults {
            let word = &default.keyword.text;
            let has_meaning = says(&entries, "rewrite") || !speaks_of_rewrites.contains(&&**word);
            if has_meaning && !says(&entries, word) {
                entries.push(default.clone());
            }
        }
        check_combinations(&entries, header, faults);
        let mut collected = Entries::default();
        for Entry { kind, span, .. } in entries {
            match kind {
                EntryKind::Status(word, successor) => {
                    collected.status = status(&word, successor, faults).unwrap_or_default();
                }
                EntryKind::Severity(word) => collected.severity = severity(&word, faults),
                EntryKind::Phase(word) => collected.phase = one_of("phase", &word, &Phase::WORDS, faults),
                EntryKind::Safety(word) => collected.safety = one_of("safety", &word, &SAFETIES, faults),
                EntryKind::At(opset, span) => collected.at = known_opset(opset, span, faults),
                EntryKind::Since(opset, span) => collected.since = known_opset(opset, span, faults),
                EntryKind::Assume(all) => {
                    collected.assumptions.extend(all.into_iter().filter_map(|one| assumed(one, faults)));
                }
                EntryKind::Fixes(code) => collected.fixes = fixed(code, faults),
                EntryKind::Message(text) => collected.message = Some(text),
                EntryKind::Help(text) => collected.help = Some(text),
                EntryKind::Match(statements) => collected.matched = Some((statements, span)),
                EntryKind::Where(_) | EntryKind::Let { .. } => collected.steps.push(kind),
                EntryKind::Rewrite { both, statements } => collected.rewrite = Some((both, statements, span)),
                EntryKind::Detect(name) => collected.detect = Some(name),
                EntryKind::Also(also) => collected.also.push(*also),
                EntryKind::Example(example) => collected.examples.push(*example),
            }
        }
        collected.check_assumptions(faults);
        // Findings of conversions, lowerings and proofs are not shown, so their severity does not matter.
        if matches!(collected.phase, Some(Phase::Convert | Phase::Lower | Phase::Prove)) {
            collected.severity.get_or_insert(Level::Hint);
        }
        collected.check_examples(header, faults);
        collected
    }

    /// Returns the statements of `match`, or an empty slice if the rule has no `match`.
    pub fn pattern(&self) -> &[Statement] {
        self.matched.as_ref().map_or(&[], |(statements, _)| statements)
    }

    /// Returns the span of `match`, or an empty span if the rule has no `match`.
    pub fn match_span(&self) -> Span {
        self.matched.as_ref().map_or(Span::default(), |(_, span)| *span)
    }

    /// Returns the statements of `rewrite`, if the rule has one.
    pub fn rewritten(&self) -> Option<&[Statement]> {
        self.rewrite.as_ref().map(|(_, statements, _)| statements.as_slice())
    }

    /// Returns the span of `rewrite`, or an empty span if the rule has no `rewrite`.
    pub fn rewrite_span(&self) -> Span {
        self.rewrite.as_ref().map_or(Span::default(), |(_, _, span)| *span)
    }

    /// Reports assumptions about names that are not values of the pattern.
    fn check_assumptions(&self, faults: &mut Faults) {
        let known = |name: &Name| {
            let named = |operand: &Operand| operand.name.text == name.text;
            self.pattern().iter().any(|statement| {
                let is_input =
                    |value: &ValueAst| matches!(&value.kind, ValueAstKind::Name(one) if named(one));
                let taken = statement.calls().into_iter().flat_map(|call| &call.inputs).any(is_input);
                taken || statement.targets().iter().any(named)
            })
        };
        for (_, name) in self.assumptions.iter().filter(|(_, name)| !known(name)) {
            faults.push_if_whole(
                faults.at(name.span, format!("`{}` is not a value of the pattern", name.text)),
            );
        }
    }

    /// Requires an example on which the rule fires and, except for conversions, one on which it does not.
    /// Lowerings are exempt, as are analyses for which ONNX text cannot express an example.
    fn check_examples(&self, header: Span, faults: &mut Faults) {
        // Examples cannot express PyTorch semantics: lowerings are tested against PyTorch itself.
        let is_lowering = self.phase == Some(Phase::Lower);
        if is_lowering || self.detect.as_ref().is_some_and(|name| builtin::is_without_example(&name.text)) {
            return;
        }
        let expects = || self.examples.iter().map(|example| &example.expect);
        let speaks = |expect: &ExpectAst| match expect {
            ExpectAst::RewritesTo(_) | ExpectAst::Equivalent => true,
            ExpectAst::Reports(messages) => !messages.is_empty(),
            ExpectAst::NoMatch => false,
        };
        let is_fix = self.rewrite.is_some();
        if !expects().any(speaks) {
            let help = if is_fix {
                "add an example with `equivalent` or `rewrites_to`"
            } else if self.detect.is_some() {
                "add an example with `reports`, or list the analysis in `WITHOUT_EXAMPLE` of `src/rules/builtin.rs`"
            } else {
                "add an example with `reports`"
            };
            faults.push_if_whole(missing(faults, header, "example on which it fires", help));
        }
        // A conversion is exempt: mutation tests require a negative example for each of its conditions.
        if expects().all(speaks) && self.phase != Some(Phase::Convert) {
            let help = "add an example that looks alike but must not match: `no_match`, or `reports nothing`";
            faults.push_if_whole(missing(faults, header, "example on which it must not fire", help));
        }
    }
}

/// Returns `opset` if it exists in ai.onnx; reports an opset that does not exist.
fn known_opset(opset: i64, span: Span, faults: &mut Faults) -> Option<i64> {
    let newest = schema::latest("").map_or(0, i64::from);
    if !(1..=newest).contains(&opset) {
        faults.push(super::example::unknown_opset(faults, span, opset, newest));
        return None;
    }
    Some(opset)
}

fn assumed(ast: AssumeAst, faults: &mut Faults) -> Option<(Assumed, Name)> {
    let known: Vec<_> = Assumption::ALL.into_iter().map(|what| (what.name(), what)).collect();
    let what = one_of("assumption", &ast.what, &known, faults)?;
    Some((Assumed { what, value: ast.value.text.clone() }, ast.value))
}

/// Returns the code of another rule, as in `fixes`; reports an invalid code.
///
/// The existence of the other rule is checked once all files are read.
fn fixed(code: Name, faults: &mut Faults) -> Option<Name> {
    if !is_code(&code.text) {
        faults.push(bad_code(faults, &code));
        return None;
    }
    Some(code)
}

/// Returns the status. A successor may be in another file, so whether it exists is not checked here.
fn status(word: &Name, successor: Option<Name>, faults: &mut Faults) -> Option<RuleStatus> {
    let known = RuleStatus::NAMES.map(|name| (name, name));
    let name = one_of("status", word, &known, faults)?;
    let successor = successor.and_then(|code| fixed(code, faults));
    RuleStatus::of_words(name, successor.as_ref().map(|code| &*code.text))
}

fn severity(word: &Name, faults: &mut Faults) -> Option<Level> {
    let known: Vec<_> = Level::ALL.into_iter().map(|level| (level.name(), level)).collect();
    one_of("severity", word, &known, faults)
}

fn one_of<T: Copy>(entry: &str, word: &Name, known: &[(&str, T)], faults: &mut Faults) -> Option<T> {
    let found = known.iter().find(|(name, _)| *name == &*word.text);
    if found.is_none() {
        let names: Vec<&str> = known.iter().map(|(name, _)| *name).collect();
        faults.push(unknown_word(faults, entry, word, &names));
    }
    found.map(|(_, value)| *value)
}

/// Reports repeated entries, unless a rule may have several of the kind, such as `where`.
fn check_repeats(entries: &[Entry], faults: &mut Faults) {
    for (index, entry) in entries.iter().enumerate() {
        let first = entries[..index].iter().find(|other| other.keyword.text == entry.keyword.text);
        if let Some(first) = first
            && !["where", "let", "assume", "also", "example", "but"].contains(&&*entry.keyword.text)
        {
            faults.push(twice(faults, entry, first.keyword.span));
        }
    }
}

fn check_combinations(entries: &[Entry], header: Span, faults: &mut Faults) {
    let find = |word: &str| entries.iter().find(|entry| &*entry.keyword.text == word);
    let mut require = |word: &str, help: &str| {
        if find(word).is_none() {
            faults.push_if_whole(missing(faults, header, &format!("`{word}`"), help));
        }
    };
    let (detect, rewrite) = (find("detect"), find("rewrite"));
    let is_phase =
        |entry: &Entry, phase: &str| matches!(&entry.kind, EntryKind::Phase(word) if *word.text == *phase);
    let is_conversion = find("phase")
        .is_some_and(|entry| ["convert", "lower", "prove"].iter().any(|phase| is_phase(entry, phase)));
    if !is_conversion {
        require("severity", "add `severity` with one of hint, info, warning, error");
    }
    let reports = !is_conversion
        && (rewrite.is_none()
            || find("fixes").is_none() && !find("phase").is_some_and(|entry| is_phase(entry, "explore")));
    if detect.is_none() {
        if reports {
            require("message", "add `message` with a text that states the problem and names the values");
        }
        require("match", "add `match` with the nodes to find, or name an analysis with `detect builtin::…`");
    }
    if rewrite.is_some() {
        require("phase", "add `phase` with one of simplify, explore, convert, fix, lower, prove");
        require("safety", "add `safety` with one of exact, rounding, unsafe");
    }
    let matched = entries.iter().position(|entry| &*entry.keyword.text == "match");
    for (index, entry) in entries.iter().enumerate() {
        match &*entry.keyword.text {
            "phase" | "safety" | "at" | "since" | "fixes" | "message" | "help" | "match" | "where"
            | "let" | "assume" | "rewrite"
                if detect.is_some() =>
            {
                let detect = detect.map_or(header, |detect| detect.span);
                faults.push(not_with_detect(faults, entry, detect));
            }
            "where" | "let" | "rewrite" if matched.is_some_and(|matched| index < matched) => {
                faults.push(before_match(faults, entry));
            }
            "fixes" if rewrite.is_none() => faults.push(only_with_rewrite(faults, entry)),
            "message" | "help" if !reports => faults.push(never_shown(faults, entry)),
            "phase" | "safety" | "at" | "since" | "assume" if rewrite.is_none() => {
                faults.push_if_whole(only_with_rewrite(faults, entry));
            }
            _ => {}
        }
    }
}
