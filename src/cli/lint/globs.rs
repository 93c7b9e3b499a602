//! Globs of a configuration file, over paths relative to its folder.

use std::path::{Path, PathBuf};

use globset::{GlobBuilder, GlobMatcher};

use crate::cli::Failure;

/// Globs with an associated value each.
#[derive(Debug)]
pub struct Globs<T> {
    pub folder: PathBuf,
    globs: Vec<(GlobMatcher, T)>,
}

impl<T> Globs<T> {
    /// Compiles globs relative to `folder`. A glob without a slash matches names at any depth.
    pub fn new<'a>(folder: &Path, globs: impl Iterator<Item = (&'a str, T)>) -> Result<Self, Failure> {
        let folder = std::path::absolute(folder).unwrap_or_else(|_| folder.to_owned());
        let compile = |(glob, value): (&str, T)| {
            let pattern = if glob.contains('/') { glob.to_owned() } else { format!("**/{glob}") };
            let glob = GlobBuilder::new(&pattern).literal_separator(true).build();
            glob.map(|glob| (glob.compile_matcher(), value)).map_err(|error| Failure::at(&folder, error))
        };
        let globs = globs.map(compile).collect::<Result<_, _>>()?;
        Ok(Globs { folder, globs })
    }

    /// Returns the values of the globs that match `path`.
    pub fn matches(&self, path: &Path) -> impl Iterator<Item = &T> {
        let absolute = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
        let relative = absolute.strip_prefix(&self.folder).unwrap_or(&absolute).to_owned();
        self.globs.iter().filter(move |(glob, _)| glob.is_match(&relative)).map(|(_, value)| value)
    }
}

/// Compiles a glob over names separated by slashes, such as module paths.
pub fn matcher(glob: &str, origin: &str) -> Result<GlobMatcher, Failure> {
    let built = GlobBuilder::new(glob).literal_separator(true).build();
    built.map(|glob| glob.compile_matcher()).map_err(|error| Failure::new(format!("{origin}: {error}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(glob: &str, path: &str, expected: bool) {
        let globs = Globs::new(Path::new("/repo"), [(glob, ())].into_iter()).expect("a valid glob");
        assert_eq!(globs.matches(Path::new(path)).next().is_some(), expected, "{glob} {path}");
    }

    #[test]
    fn globs_are_relative_to_the_folder() {
        check("*.onnx", "/repo/a/b.onnx", true);
        check("a/*.onnx", "/repo/a/b.onnx", true);
        check("a/*.onnx", "/repo/a/b/c.onnx", false);
        check("a/**", "/repo/a/b/c.onnx", true);
        check("/a/*.onnx", "/repo/a/b.onnx", false);
        check("*.onnx", "/elsewhere/b.onnx", true);
    }
}
