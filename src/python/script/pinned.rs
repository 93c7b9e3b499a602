//! The release of PyTorch that a project pins, from its requirement files.

use std::path::Path;

use super::release::Release;

/// Files that may pin PyTorch, beside a script or in a folder above it.
const FILES: [&str; 4] = ["requirements.txt", "pyproject.toml", "environment.yml", "environment.yaml"];

/// Maximum number of searched folders, from that of the script up to the root of its repository.
const MAX_FOLDERS: usize = 3;

/// Maximum size of a requirement file, in bytes.
const MAX_BYTES: u64 = 1 << 20;

/// Returns the release that the project of a script pins; `None` if the project pins no release.
pub fn release(script: &str) -> Option<Release> {
    let script = Path::new(script);
    if !script.is_file() {
        return None;
    }
    for folder in script.ancestors().skip(1).take(MAX_FOLDERS) {
        let texts = FILES.iter().filter_map(|name| read(&folder.join(name)));
        if let Some(release) = texts.filter_map(|text| of_text(&text)).next() {
            return Some(release);
        }
        if folder.join(".git").exists() {
            break;
        }
    }
    None
}

fn read(path: &Path) -> Option<String> {
    let is_small = std::fs::metadata(path).is_ok_and(|found| found.is_file() && found.len() <= MAX_BYTES);
    if is_small { std::fs::read_to_string(path).ok() } else { None }
}

/// Returns the newest release of PyTorch that a requirement file allows.
///
/// The release is 2.1 for `torch==2.1.0`, and 2.5 for `torch<2.6`. Returns `None` if the file has no upper bound.
fn of_text(text: &str) -> Option<Release> {
    let lines = text.lines().map(|line| line.split('#').next().unwrap_or(""));
    lines.flat_map(requirements).find_map(upper_bound)
}

/// Returns the constraints of each requirement of PyTorch in a line, such as `>=2.1,<2.6`.
fn requirements(line: &str) -> impl Iterator<Item = &str> {
    let is_apart = |at: usize| {
        let before = line[..at].chars().next_back();
        before.is_none_or(|before| matches!(before, '"' | '\'' | '[' | ',' | ':') || before.is_whitespace())
    };
    let ends = |name: &'static str| {
        line.match_indices(name).filter(move |(at, _)| is_apart(*at)).map(move |(at, _)| at + name.len())
    };
    ends("pytorch").chain(ends("torch")).map(|end| &line[end..])
}

/// Returns the newest release that constraints allow, if they have an upper bound.
fn upper_bound(constraints: &str) -> Option<Release> {
    // Poetry writes the version as a value: `torch = "2.2.0"`, `torch = {version = "<2.6"}`.
    let value = constraints.trim_start().strip_prefix('=').map(str::trim_start);
    let value = value.filter(|value| value.starts_with(['"', '\'', '{']));
    let constraints = match value {
        Some(table) if table.starts_with('{') => {
            table.split_once("version")?.1.trim_start_matches([' ', '='])
        }
        Some(value) => value,
        None => constraints,
    };
    let constraints = match constraints.strip_prefix('[') {
        Some(extras) => extras.split_once(']')?.1,
        None => constraints,
    };
    let constraints = constraints.trim_start_matches(['"', '\'', ' ', '(']);
    let constraints = constraints.split(['"', '\'', ';', ']', ')']).next().unwrap_or("");
    constraints.split(',').filter_map(|constraint| bound(constraint.trim(), value.is_some())).min()
}

/// Returns the newest release that a constraint such as `<2.6` allows, if it is an upper bound.
fn bound(constraint: &str, is_value: bool) -> Option<Release> {
    let operators = ["===", "==", "~=", "<=", "<", "=", "~", "^"];
    let operator = operators.into_iter().find(|operator| constraint.starts_with(operator));
    let version = match operator {
        Some(operator) => constraint[operator.len()..].trim_start(),
        None if is_value => constraint,
        None => return None,
    };
    let version = version.split(|letter: char| !letter.is_ascii_digit() && letter != '.').next()?;
    let release = Release::parse(version).or_else(|| Some(Release(version.parse().ok()?, 0)))?;
    let has_patch = version.split('.').nth(2).is_some_and(|patch| patch != "0");
    match (operator, release) {
        (Some("<"), release) if has_patch => Some(release),
        // The last release before 2.0 is 1.13.
        (Some("^"), Release(1, _)) | (Some("<"), Release(2, 0)) => Some(Release(1, 13)),
        (Some("^"), _) => None,
        (Some("<"), Release(major, 0)) => Some(Release(major.checked_sub(1)?, u32::MAX)),
        (Some("<"), Release(major, minor)) => Some(Release(major, minor - 1)),
        (_, release) => Some(release),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pinned_releases_are_read() {
        for (text, expected) in [
            ("numpy\ntorch==2.1.0\n", Some(Release(2, 1))),
            ("torch == 1.13.1+cpu  # old\n", Some(Release(1, 13))),
            ("dependencies = [\"onnx\", \"torch==2.4.1\"]\n", Some(Release(2, 4))),
            ("torch = \"2.2.0\"\n", Some(Release(2, 2))),
            ("  - pytorch=2.0\n", Some(Release(2, 0))),
            ("torch>=2.1\ntorchvision==0.19\n", None),
            ("torch = \"^2.2\"\n", None),
            ("torchaudio==2.1.0\n", None),
            ("torch<2.6\n", Some(Release(2, 5))),
            ("torch>=2.1,<2.6\n", Some(Release(2, 5))),
            ("torch<2,>=1.9\n", Some(Release(1, 13))),
            ("torch[opt] <= 2.4.1; python_version < '3.9'\n", Some(Release(2, 4))),
            ("dependencies=[\"torch~=2.4\"]\n", Some(Release(2, 4))),
            ("torch = {version = \">=2.1,<2.6\", optional = true}\n", Some(Release(2, 5))),
            ("dependencies=[\"torch>=2.1\", \"numpy<2\"]\n", None),
            ("--extra-index-url https://download.pytorch.org/whl/cu118\n", None),
            ("", None),
        ] {
            assert_eq!(of_text(text), expected, "{text}");
        }
    }
}
