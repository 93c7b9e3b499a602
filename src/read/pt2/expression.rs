//! Converts symbolic sizes from SymPy's `srepr` notation to infix notation.

/// Maximum nesting; deeper expressions are displayed in the original notation.
const MAX_DEPTH: usize = 32;

/// Returns an expression in infix notation.
///
/// For example, `FloorDiv(Mul(Integer(6), Symbol('s77')), Symbol('u0'))` becomes `6*s77//u0`. Text in
/// another notation is returned unchanged: early versions wrote `2*s0`.
pub fn readable(text: &str) -> String {
    let mut reader = Reader { rest: text };
    match reader.term(0) {
        Some(term) if reader.rest.trim().is_empty() => term.text,
        _ => text.to_owned(),
    }
}

struct Term {
    text: String,
    binding: Binding,
}

/// Precedence of the outermost operator of a term, loosest first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Binding {
    Sum,
    Quotient,
    Product,
    /// A number, a name or a call.
    Atom,
}

struct Reader<'a> {
    rest: &'a str,
}

impl<'a> Reader<'a> {
    fn term(&mut self, depth: usize) -> Option<Term> {
        if depth > MAX_DEPTH {
            return None;
        }
        self.rest = self.rest.trim_start();
        if self.rest.starts_with(['\'', '-']) || self.rest.starts_with(|char: char| char.is_ascii_digit()) {
            return Some(Term {
                text: self.until(&[',', ')'])?.trim_matches('\'').to_owned(),
                binding: Binding::Atom,
            });
        }
        let function = self.until(&['(', ',', ')', '='])?;
        if !self.rest.starts_with('(') {
            return None;
        }
        self.rest = &self.rest[1..];
        let arguments = self.arguments(depth)?;
        Some(combine(function, arguments))
    }

    /// Parses the arguments up to the closing bracket; assumptions (`integer=True`) are dropped.
    fn arguments(&mut self, depth: usize) -> Option<Vec<Term>> {
        let mut arguments = Vec::new();
        loop {
            self.rest = self.rest.trim_start();
            let word_end = self.rest.find(|char: char| !char.is_ascii_alphanumeric() && char != '_')?;
            if self.rest[word_end..].starts_with('=') {
                self.until(&[',', ')'])?;
            } else if !self.rest.starts_with(')') {
                arguments.push(self.term(depth + 1)?);
            }
            let ends = self.rest.starts_with(')');
            self.rest = self.rest.get(1..)?;
            if ends {
                return Some(arguments);
            }
        }
    }

    fn until(&mut self, ends: &[char]) -> Option<&'a str> {
        let at = self.rest.find(ends)?;
        let (taken, rest) = self.rest.split_at(at);
        self.rest = rest;
        Some(taken.trim())
    }
}

fn combine(function: &str, arguments: Vec<Term>) -> Term {
    let operand = |term: &Term, least: Binding| match term.binding < least {
        true => format!("({})", term.text),
        false => term.text.clone(),
    };
    let join = |separator: &str, least: Binding| {
        let operands: Vec<_> = arguments.iter().map(|term| operand(term, least)).collect();
        operands.join(separator)
    };
    let term = |text: String, binding: Binding| Term { text, binding };
    match (function, &*arguments) {
        ("Symbol" | "Integer" | "Float", [first, ..]) => term(first.text.clone(), Binding::Atom),
        ("Add", _) => term(join(" + ", Binding::Sum), Binding::Sum),
        ("Mul", _) => term(join("*", Binding::Product), Binding::Product),
        ("FloorDiv" | "CleanDiv", [dividend, divisor]) => {
            let dividend = operand(dividend, Binding::Quotient);
            term(format!("{dividend}//{}", operand(divisor, Binding::Atom)), Binding::Quotient)
        }
        ("Pow", _) => term(join("**", Binding::Atom), Binding::Product),
        _ => term(format!("{function}({})", join(", ", Binding::Quotient)), Binding::Atom),
    }
}

#[cfg(test)]
mod tests {
    use super::readable;

    #[test]
    fn expressions_become_infix() {
        for (written, read) in [
            ("Symbol('s77', positive=True, integer=True)", "s77"),
            ("Add(Mul(Integer(2), Symbol('s27', integer=True)), Integer(2))", "2*s27 + 2"),
            ("FloorDiv(Mul(Integer(6), Symbol('s77')), Symbol('u0', integer=True))", "6*s77//u0"),
            ("Mul(Integer(-1), Add(Symbol('a'), Integer(1)))", "-1*(a + 1)"),
            ("Max(Integer(1), Symbol('a'))", "Max(1, a)"),
            ("Mul(Integer(2), FloorDiv(Symbol('a'), Integer(2)))", "2*(a//2)"),
            ("FloorDiv(Symbol('a'), FloorDiv(Symbol('a'), Integer(4)))", "a//(a//4)"),
            ("FloorDiv(FloorDiv(Symbol('a'), Integer(4)), Symbol('b'))", "a//4//b"),
            ("FloorDiv(Symbol('a'), Mul(Integer(2), Symbol('b')))", "a//(2*b)"),
            ("Mul(Integer(3), Pow(Symbol('a'), Integer(2)))", "3*a**2"),
            ("Pow(FloorDiv(Symbol('a'), Integer(2)), Integer(2))", "(a//2)**2"),
            ("PythonMod(Add(Symbol('a'), Integer(1)), Integer(4))", "PythonMod((a + 1), 4)"),
            ("2*s0", "2*s0"),
            ("Symbol('s0'", "Symbol('s0'"),
            ("Max()", "Max()"),
            ("", ""),
        ] {
            assert_eq!(readable(written), read);
        }
        let deep = format!("{}1{}", "Add(".repeat(9999), ")".repeat(9999));
        assert_eq!(readable(&deep), deep);
    }
}
