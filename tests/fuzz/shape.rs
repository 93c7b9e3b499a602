//! Draws shapes by pattern. See `operators.tsv`.

use rustc_hash::FxHashMap;

use crate::random::Random;

/// Sizes that the letters stand for in the shape patterns of one node.
#[derive(Clone, Debug, Default)]
pub struct Letters {
    sizes: FxHashMap<String, usize>,
    /// Number of dimensions that S and k stand for.
    spatial: usize,
    /// The shape of input 0.
    pub data: Vec<usize>,
    /// Whether all letters but `k` stand for the same size, so that transposed tensors match, too.
    is_square: bool,
}

/// Draws a size of a dimension.
pub fn size(random: &mut Random) -> usize {
    if random.once_in(40) { 0 } else { random.of_these([1, 2, 2, 3, 3, 4]) }
}

impl Letters {
    /// Draws the number of spatial dimensions.
    pub fn new(random: &mut Random) -> Self {
        let (spatial, is_square) = (1 + random.below(2), random.once_in(3));
        Letters { spatial, is_square, ..Letters::default() }
    }

    /// Returns the number of spatial dimensions.
    pub fn spatial(&self) -> usize {
        self.spatial
    }

    fn letter(&mut self, name: String, random: &mut Random) -> usize {
        let is_square = self.is_square;
        *self.sizes.entry(name).or_insert_with_key(|name| match name.starts_with('k') {
            true => 1 + random.below(2),
            false if is_square => 2,
            false => size(random),
        })
    }

    /// Draws a shape that matches a pattern.
    pub fn draw(&mut self, pattern: &str, random: &mut Random) -> Vec<usize> {
        match pattern {
            "?" => (0..random.of_these([0, 1, 1, 2, 2, 3, 4])).map(|_| size(random)).collect(),
            "=" => self.data.clone(),
            "~" => {
                let skipped = if random.once_in(2) { 0 } else { random.below(self.data.len() + 1) };
                let one = |size: usize, random: &mut Random| if random.once_in(4) { 1 } else { size };
                self.data[skipped..].iter().map(|&size| one(size, random)).collect()
            }
            _ => {
                let names = self.names(pattern, random);
                names.into_iter().map(|name| self.sized(name, random)).collect()
            }
        }
    }

    fn sized(&mut self, name: Result<usize, String>, random: &mut Random) -> usize {
        match name {
            Ok(size) => size,
            Err(name) => self.letter(name, random),
        }
    }

    /// Splits a pattern into dimensions: numbers and letters.
    ///
    /// A letter that stands for several dimensions becomes numbered names, such as `S0` and `S1`.
    fn names(&self, pattern: &str, random: &mut Random) -> Vec<Result<usize, String>> {
        let mut names = Vec::new();
        let rest = match pattern.strip_prefix("...") {
            Some(rest) => {
                let batches = if random.once_in(2) { 1 } else { 0 };
                names.extend((0..batches).map(|_| Err("...".to_owned())));
                rest
            }
            None => pattern,
        };
        for letter in rest.chars() {
            match letter {
                '0' => {}
                '1'..='9' => names.push(Ok(letter as usize - '0' as usize)),
                'S' | 'k' => names.extend((0..self.spatial).map(|at| Err(format!("{letter}{at}")))),
                _ => names.push(Err(letter.to_string())),
            }
        }
        names
    }

    /// Returns true if a shape matches a pattern; binds the letters of the pattern to sizes of the shape.
    pub fn accept(&mut self, pattern: &str, shape: &[usize], random: &mut Random) -> bool {
        match pattern {
            "?" => return true,
            "=" => return shape == self.data,
            "~" => {
                let fits = |(a, b): (&usize, &usize)| a == b || *a == 1 || *b == 1;
                return shape.iter().rev().zip(self.data.iter().rev()).all(fits);
            }
            _ => {}
        }
        if pattern.contains('S') && (3..=4).contains(&shape.len()) && !self.sizes.contains_key("S0") {
            self.spatial = (shape.len() + 1).saturating_sub(pattern.len()).max(1);
        }
        let names = self.names(pattern, random);
        if names.len() != shape.len() {
            return false;
        }
        let mut sizes = self.sizes.clone();
        for (name, &size) in names.into_iter().zip(shape) {
            let known = match name {
                Ok(number) => number,
                Err(name) => *sizes.entry(name).or_insert(size),
            };
            if known != size {
                return false;
            }
        }
        self.sizes = sizes;
        true
    }
}
