//! Words of the rule language and their meanings.

use crate::rules::func::{Arg, Func};
use crate::rules::rule::Assumption;

/// A word, and its meaning in one line.
pub type Word = (&'static str, &'static str);

/// Words that begin an item of a file.
pub const ITEMS: [Word; 5] = [
    ("language", "version of the rule language: `language 3`, in the first line"),
    ("defaults", "entries for all rules of the file"),
    ("fn", "a function: `fn name(x, @a) = value`, or statements and a value in braces"),
    ("pattern", "a pattern with a name, which `match` can use; it can have alternatives"),
    ("rule", "a rule: `rule CODE name { … }`, with its documentation in `##` lines above"),
];

/// Words that begin an entry of a rule.
pub const ENTRIES: [Word; 18] = [
    ("also", "matches for which a condition holds have another code: `also CODE name if condition`"),
    ("status", "`preview`, `stable` (the default), `deprecated`, or `deprecated by CODE`"),
    ("severity", "level of the finding: `hint`, `info`, `warning` or `error`"),
    ("phase", "when the rewrite runs: `simplify`, `explore`, `convert`, `fix`, `lower` or `prove`"),
    ("safety", "how results can change: `exact`, `rounding` or `unsafe`"),
    ("at", "opset of operators that the rewrite names without a version"),
    ("since", "first opset at which the rule applies without a target"),
    ("fixes", "code of the rule whose findings the rewrite fixes"),
    ("message", "text of the finding; `{x}` is the name of a value, `{@r}` an expression"),
    ("help", "advice of the finding, as an imperative"),
    ("match", "the pattern of nodes"),
    ("where", "conditions, which must all be true"),
    ("let", "a name for an expression: `let @r = …`"),
    ("assume", "an assumption about a value that inference cannot prove: `assume finite(x)`"),
    ("rewrite", "the replacement; with `both`, the equivalence applies in both directions"),
    ("detect", "the built-in analysis that finds the fault: `detect builtin::NAME`"),
    ("example", "a model with the expected outcome: `equivalent`, `rewrites_to`, `no_match` or `reports`"),
    ("but", "a variant of the previous `example`, with changes and another outcome"),
];

/// Statuses of rules.
pub const STATUSES: [Word; 3] = [
    ("preview", "applied only with `--preview`"),
    ("stable", "applied by default"),
    ("deprecated", "applied by default, but to be removed; selecting the rule gives a warning"),
];

/// Levels of findings.
pub const SEVERITIES: [Word; 4] = [
    ("hint", "a possible improvement"),
    ("info", "a remark"),
    ("warning", "a likely fault"),
    ("error", "a fault"),
];

/// Phases of rewrites.
pub const PHASES: [Word; 6] = [
    ("simplify", "directed rewrite, to a fixpoint"),
    ("explore", "equivalent alternative, bounded"),
    ("prove", "equivalence that only proofs of onnx-diff use"),
    ("convert", "conversion between opsets"),
    ("fix", "repair of a fault"),
    ("lower", "lowering of an operator of PyTorch"),
];

/// Degrees of safety.
pub const SAFETIES: [Word; 3] = [
    ("exact", "results are equal in every bit"),
    ("rounding", "results are equal up to rounding"),
    ("unsafe", "results may differ; applied only on request"),
];

/// Outcomes of examples.
pub const OUTCOMES: [Word; 4] = [
    ("equivalent", "the rule matches, and the rewritten model computes equal results"),
    ("rewrites_to", "the rule produces these nodes, except for their names"),
    ("no_match", "the rule does not match"),
    ("reports", "the messages that the rule reports"),
];

/// Returns the meaning of a word.
pub fn meaning(word: &str) -> Option<&'static str> {
    let lists: [&[Word]; 7] = [&ITEMS, &ENTRIES, &STATUSES, &SEVERITIES, &PHASES, &SAFETIES, &OUTCOMES];
    let known = lists.into_iter().flatten().find(|(one, _)| *one == word).map(|(_, meaning)| *meaning);
    let assumed = || Assumption::ALL.into_iter().find(|one| one.name() == word).map(Assumption::meaning);
    known.or_else(assumed)
}

/// Returns the signature and documentation of a function that can be called in rule expressions.
pub fn function(func: Func) -> String {
    format!("```onnx-rule\n{}\n```\n{}", signature(func), func.docs().trim())
}

/// Returns the signature of a function that can be called in rule expressions.
pub fn signature(func: Func) -> String {
    let (least, _) = func.arity();
    let argument = |(at, arg): (usize, &Arg)| {
        let kind = match arg {
            Arg::Value => "value",
            Arg::Values => "values...",
            Arg::Expr => "expression",
        };
        format!("{kind}{}", if at < least { "" } else { "?" })
    };
    let arguments: Vec<String> = func.args().iter().enumerate().map(argument).collect();
    format!("{}({})", func.name(), arguments.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::outline;

    #[test]
    fn every_keyword_has_a_meaning() {
        let words = |list: &[Word]| list.iter().map(|(word, _)| *word).collect::<Vec<_>>();
        assert_eq!(words(&ITEMS), outline::ITEMS);
        assert_eq!(words(&ENTRIES), outline::KEYWORDS);
    }
}
