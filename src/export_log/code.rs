//! Classification of a line of Python by its text.

/// Returns true if a line seems to read a size of a tensor.
pub fn reads_shape(code: &str) -> bool {
    code.contains(".shape") || code.contains(".size(") || code.contains("len(")
}

/// Returns true if a line branches on a reduction or an item of a tensor: `if x.sum() > 0:`.
///
/// Returns false for assertions, and for conditions that begin with an attribute of the model.
pub fn branches_on_elements(code: &str) -> bool {
    const REDUCTIONS: [&str; 11] = [
        ".sum()", ".mean()", ".max()", ".min()", ".amax()", ".amin()", ".any()", ".all()", ".norm()",
        ".std()", ".item()",
    ];
    let asked = code.split_once("if ").or_else(|| code.split_once("while ")).map_or("", |(_, asked)| asked);
    let is_state = asked.trim_start_matches("not ").starts_with("self.");
    !code.starts_with("assert ") && !is_state && REDUCTIONS.iter().any(|call| asked.contains(call))
}

/// Returns true if a line has a word that converts a value to a boolean, such as `if`, `and` or `bool`.
/// Conversions inside NumPy functions are not visible in the line.
pub fn decides(code: &str) -> bool {
    let mut words = code.split(|c: char| !(c.is_alphanumeric() || c == '_'));
    words.any(|word| matches!(word, "if" | "elif" | "while" | "assert" | "and" | "or" | "not" | "bool"))
}

/// Returns true if a line loops over `range` or `enumerate`.
pub fn is_loop(code: &str) -> bool {
    let iterates = code.starts_with("for ") || code.contains(" for ");
    iterates && (code.contains(" range(") || code.contains(" enumerate("))
}

/// Returns true if a condition depends only on attributes of the model: `self.enabled`.
pub fn of_model(condition: &str) -> bool {
    let words = condition.split_whitespace().filter(|word| !matches!(*word, "not" | "and" | "or"));
    let is_attribute = |word: &str| {
        word.strip_prefix("self.")
            .is_some_and(|rest| rest.chars().all(|c| c.is_alphanumeric() || "._".contains(c)))
    };
    !condition.is_empty() && words.into_iter().all(is_attribute)
}

/// Returns true if a condition consists of names, integers and operators: `h % 8 != 0 or w > 64`.
/// There must be at least one name and one integer.
///
/// The names are mostly sizes that an earlier line read. Comparisons with `None` are ignored, because
/// their results rarely depend on the input.
pub fn compares_counts(condition: &str) -> bool {
    let condition = &condition.replace(" is not None", "").replace(" is None", "");
    let words = condition.split([' ', '(', ')']).filter(|word| !word.is_empty());
    let is_name = |word: &str| word.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
    let (names, others): (Vec<&str>, Vec<&str>) =
        words.filter(|word| !matches!(*word, "not" | "and" | "or")).partition(|word| {
            is_name(word) && word.bytes().all(|c| c.is_ascii_alphanumeric() || b"._".contains(&c))
        });
    let is_operator =
        |word: &str| matches!(word, "<" | ">" | "<=" | ">=" | "==" | "!=" | "%" | "//" | "+" | "-" | "*");
    let is_count = |word: &str| word.bytes().all(|c| c.is_ascii_digit());
    let has_call = names.iter().any(|name| condition.contains(&format!("{name}(")));
    !names.is_empty()
        && !has_call
        && others.iter().any(|word| is_count(word))
        && others.iter().all(|word| is_count(word) || is_operator(word))
}

/// Returns true if a line converts only names and numbers: `int(h / 2)` or `np.arange(w)`.
///
/// The recognized functions are `int`, `round`, and all functions of `math` and `np`. Arguments must be
/// arithmetic on names and numbers; the names are mostly sizes that an earlier line read.
pub fn is_of_counts(code: &str) -> bool {
    let by_method = [".item()", ".tolist()", "float(", ".numpy("].iter().any(|call| code.contains(call));
    let mut conversions =
        code.match_indices('(').filter(|(at, _)| makes_number(callee(&code[..*at]))).peekable();
    !by_method
        && conversions.peek().is_some()
        && conversions.all(|(at, _)| is_arithmetic(inside(&code[at + 1..])))
}

/// Returns the name of the called function, at the end of `before`.
fn callee(before: &str) -> &str {
    let start = before.rfind(|c: char| !(c.is_alphanumeric() || "._".contains(c))).map_or(0, |at| at + 1);
    &before[start..]
}

fn makes_number(name: &str) -> bool {
    matches!(name, "int" | "round") || ["math.", "np."].iter().any(|module| name.starts_with(module))
}

/// Returns the text up to the parenthesis that closes the one before `rest`.
fn inside(rest: &str) -> &str {
    let mut open = 1;
    let end = rest.find(|c: char| {
        open += i32::from(c == '(') - i32::from(c == ')');
        open == 0
    });
    end.map_or(rest, |end| &rest[..end])
}

/// Returns true if an argument is arithmetic on names and numbers.
fn is_arithmetic(argument: &str) -> bool {
    let plain = |c: char| c.is_alphanumeric() || " _.,+-*/%()".contains(c);
    let calls = argument.match_indices('(').map(|(at, _)| callee(&argument[..at]));
    !argument.is_empty()
        && argument.chars().all(plain)
        && calls.into_iter().all(|name| name.is_empty() || makes_number(name))
}

/// Returns true if a line converts only attributes of the model to numbers: `self.steps.item()`.
pub fn is_state(code: &str) -> bool {
    let receiver = |before: &str| -> bool {
        let start = before.rfind(|c: char| !(c.is_alphanumeric() || "._".contains(c))).map_or(0, |at| at + 1);
        before[start..].starts_with("self.")
    };
    let calls = [".item()", ".tolist()"];
    let by_method =
        calls.iter().flat_map(|call| code.match_indices(call)).map(|(at, _)| receiver(&code[..at]));
    let functions = ["int(", "float("];
    let by_function = functions.iter().flat_map(|call| {
        code.match_indices(call).map(|(at, _)| code[at + call.len()..].starts_with("self."))
    });
    let all: Vec<bool> = by_method.chain(by_function).collect();
    !all.is_empty() && all.into_iter().all(|state| state)
}

/// Returns the condition in a line such as `if …:` or `name = … and …`, or else the whole line.
pub fn condition(code: &str) -> &str {
    let keywords = ["if ", "elif ", "while "];
    let rest = keywords.iter().find_map(|keyword| code.strip_prefix(keyword));
    let asked = rest.and_then(|rest| rest.strip_suffix(':'));
    asked.or_else(|| decided(code)).unwrap_or(code)
}

/// Returns the right side of `name = …`, if it contains `and` or `or`.
fn decided(code: &str) -> Option<&str> {
    let (name, value) = code.split_once(" = ")?;
    let is_name = name.chars().all(|c| c.is_alphanumeric() || c == '_');
    (is_name && (value.contains(" and ") || value.contains(" or "))).then_some(value)
}
