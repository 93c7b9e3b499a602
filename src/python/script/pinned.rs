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

/// Returns the release in a requirement file, such as `torch==2.1.0` or `pytorch=2.1`.
fn of_text(text: &str) -> Option<Release> {
    let is_pin = |line: &str| {
        let line = line.trim().trim_start_matches(['-', '"', '\'', ' ']);
        let rest = line.strip_prefix("pytorch").or_else(|| line.strip_prefix("torch"))?;
        let rest = rest.trim_start();
        let version = ["===", "==", "~=", "="].iter().find_map(|operator| rest.strip_prefix(operator))?;
        let version = version.trim_start().trim_start_matches(['"', '\'', '=']);
        // A caret or a range leaves the release open.
        version.starts_with(|first: char| first.is_ascii_digit()).then(|| Release::parse(version))?
    };
    let lines = text.lines().flat_map(|line| line.split('#').next().unwrap_or("").split([',', '[']));
    lines.filter_map(is_pin).next()
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
            ("", None),
        ] {
            assert_eq!(of_text(text), expected, "{text}");
        }
    }
}
