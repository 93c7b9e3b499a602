//! Shapes of the results of operators that move elements, from sizes that may be dynamic.
//!
//! The lowering rules of these operators read the shape of the result. The shapes of all other results follow
//! from the lowered operators (`oracle`).

use super::recorder::{Recorder, dim_of};
use crate::graph::ElemType;
use crate::graph::dim::{Bounds, Dim, numel};
use crate::import::names::Names;
use crate::torch::{Argument, Input};

/// Maximum number of tensors that an operator returns.
const MAX_PARTS: usize = 1 << 14;

/// Operators whose result has the shape of their first operand.
static LIKE: Names = Names::new("
    abs alias alpha_dropout batch_norm bernoulli bitwise_not ceil celu clone contiguous cos cumprod cumsum detach dropout elu
    empty_like erf exp expm1 feature_dropout fill flip floor full_like gelu group_norm hardshrink hardsigmoid hardswish
    hardtanh index_add index_copy index_fill index_put instance_norm isfinite isinf isnan layer_norm leaky_relu lift_fresh
    log log10 log1p log2 log_sigmoid log_softmax logical_not mish nan_to_num neg negative ones_like positive prelu
    rand_like randn_like reciprocal relu relu6 rms_norm roll round rrelu rsqrt scatter scatter_add scatter_reduce selu sgn
    sigmoid sign silu sin softmax softplus softshrink softsign sqrt square tan tanh tanhshrink threshold tril triu trunc
    type_as zero zeros_like");

/// Sizes of a tensor; an unknown size is `None`.
pub type Sizes = Vec<Option<Dim>>;

/// A call whose result shapes are to be determined.
pub struct Call<'c> {
    pub recorder: &'c Recorder,
    pub inputs: &'c [Input],
}

impl Call<'_> {
    fn argument(&self, name: &str) -> Option<&Argument> {
        self.inputs.iter().find(|input| input.name.as_deref() == Some(name)).map(|input| &input.argument)
    }

    fn sizes_of(&self, argument: &Argument) -> Option<Sizes> {
        let Argument::Value(value) = argument else { return None };
        Some(self.recorder.trace.value(*value).ty.shape()?.iter().map(dim_of).collect())
    }

    /// Returns the sizes of the first operand.
    fn own(&self) -> Option<Sizes> {
        self.sizes_of(&self.inputs.first()?.argument)
    }

    /// Returns an integer; `otherwise` if it is omitted.
    fn int(&self, name: &str, otherwise: i64) -> Option<i64> {
        match self.argument(name) {
            None => Some(otherwise),
            Some(Argument::Int(int)) => Some(*int),
            Some(_) => None,
        }
    }

    /// Returns a list of numbers; a number that is not known is `None`.
    fn list(&self, name: &str) -> Option<Sizes> {
        match self.argument(name)? {
            Argument::List(members) => {
                Some(members.iter().map(|member| self.recorder.dim_of_argument(member)).collect())
            }
            one => Some(vec![self.recorder.dim_of_argument(one)]),
        }
    }

    /// Returns the nonnegative number of an axis among `rank` axes.
    fn axis(&self, name: &str, otherwise: i64, rank: usize) -> Option<usize> {
        axis(self.int(name, otherwise)?, rank)
    }

    /// Returns the shape of the only result; `None` if another function determines it.
    pub fn shape(&self, name: &str) -> Option<Sizes> {
        match name {
            name if LIKE.contains(name) => self.own(),
            "view" | "reshape" | "_unsafe_view" | "view_copy" => self.viewed(self.own()?, self.list("size")?),
            "view_as" | "reshape_as" | "expand_as" => self.sizes_of(self.argument("other")?),
            "expand" | "expand_copy" | "broadcast_to" => self.expanded(),
            "unsqueeze" | "unsqueeze_copy" => {
                let mut sizes = self.own()?;
                let at = axis(self.int("dim", 0)?, sizes.len() + 1)?;
                sizes.insert(at, Some(Dim::known(1)));
                Some(sizes)
            }
            "squeeze" | "squeeze_copy" => self.squeezed(),
            "flatten" => self.flattened(),
            "ravel" => Some(vec![product(&self.own()?)]),
            "unflatten" => self.unflattened(),
            "repeat" => self.repeated("repeats"),
            "tile" => {
                let (own, mut dims) = (self.own()?, self.list("dims")?);
                while dims.len() < own.len() {
                    dims.insert(0, Some(Dim::known(1)));
                }
                Some(times(&own, &dims))
            }
            "stack" => {
                let Argument::List(members) = self.argument("tensors")? else { return None };
                let mut sizes = self.sizes_of(members.first()?)?;
                let at = self.axis("dim", 0, sizes.len() + 1)?;
                sizes.insert(at, Some(Dim::known(members.len() as i64)));
                Some(sizes)
            }
            "adaptive_avg_pool1d" | "adaptive_max_pool1d" => self.pooled(1),
            "adaptive_avg_pool2d" | "_adaptive_avg_pool2d" | "adaptive_max_pool2d" => self.pooled(2),
            "adaptive_avg_pool3d" | "_adaptive_avg_pool3d" | "adaptive_max_pool3d" => self.pooled(3),
            "zeros" | "ones" | "empty" | "full" | "rand" | "randn" | "new_zeros" | "new_ones"
            | "new_full" | "new_empty" => self.list("size"),
            "index" | "_unsafe_index" => self.indexed(),
            "eye" => {
                let n = self.recorder.dim_of_argument(self.argument("n")?);
                let m = self.argument("m").map_or_else(|| n.clone(), |m| self.recorder.dim_of_argument(m));
                Some(vec![n, m])
            }
            "gather" => self.sizes_of(self.argument("index")?),
            _ => None,
        }
    }

    fn viewed(&self, own: Sizes, mut size: Sizes) -> Option<Sizes> {
        let minus = |dim: &Option<Dim>| dim.as_ref().and_then(Dim::as_const) == Some(-1);
        if let Some(at) = size.iter().position(minus) {
            let mut others = size.clone();
            others.remove(at);
            let known = others.iter().cloned().collect::<Option<Vec<Dim>>>();
            size[at] = known.and_then(|known| {
                let whole = own.into_iter().collect::<Option<Vec<Dim>>>()?;
                divided(&whole, &known)
            });
        }
        Some(size)
    }

    fn expanded(&self) -> Option<Sizes> {
        let (own, mut size) = (self.own()?, self.list("size")?);
        let more = size.len().checked_sub(own.len())?;
        for (place, kept) in own.into_iter().enumerate() {
            let given = &mut size[more + place];
            if given.as_ref().and_then(Dim::as_const) == Some(-1) {
                *given = kept;
            }
        }
        Some(size)
    }

    fn squeezed(&self) -> Option<Sizes> {
        let own = self.own()?;
        let axes = match self.argument("dim") {
            None => (0..own.len()).collect::<Vec<_>>(),
            Some(Argument::Int(at)) => vec![axis(*at, own.len())?],
            Some(Argument::List(axes)) => {
                let each = axes.iter().map(|at| axis(self.recorder.trace.int(at)?, own.len()));
                each.collect::<Option<_>>()?
            }
            Some(_) => return None,
        };
        let mut kept = Vec::new();
        for (at, size) in own.into_iter().enumerate() {
            if axes.contains(&at) {
                let is_one = size.as_ref()?.equals(&Dim::known(1), &Bounds::default());
                if is_one.is_always() {
                    continue;
                }
                if !is_one.is_never() {
                    return None;
                }
            }
            kept.push(size);
        }
        Some(kept)
    }

    fn flattened(&self) -> Option<Sizes> {
        let own = self.own()?;
        if own.is_empty() {
            return Some(vec![Some(Dim::known(1))]);
        }
        let start = self.axis("start_dim", 0, own.len())?;
        let end = self.axis("end_dim", -1, own.len())?;
        let middle = own.get(start..=end)?;
        Some([&own[..start], &[product(middle)], &own[end + 1..]].concat())
    }

    fn unflattened(&self) -> Option<Sizes> {
        let own = self.own()?;
        let at = self.axis("dim", 0, own.len())?;
        let parts = self.viewed(vec![own[at].clone()], self.list("sizes")?)?;
        Some([&own[..at], &parts, &own[at + 1..]].concat())
    }

    fn repeated(&self, name: &str) -> Option<Sizes> {
        Some(times(&self.own()?, &self.list(name)?))
    }

    fn pooled(&self, axes: usize) -> Option<Sizes> {
        let mut own = self.own()?;
        let from = own.len().checked_sub(axes)?;
        let Argument::List(sizes) = self.argument("output_size")? else { return None };
        for (place, size) in sizes.iter().enumerate() {
            if *size != Argument::None {
                *own.get_mut(from + place)? = self.recorder.dim_of_argument(size);
            }
        }
        Some(own)
    }

    /// Shape of an index by integer tensors at neighboring axes; boolean masks have unknown sizes.
    fn indexed(&self) -> Option<Sizes> {
        let own = self.own()?;
        let Argument::List(indices) = self.argument("indices")? else { return None };
        let mut found: Sizes = Vec::new();
        let mut places = Vec::new();
        for (place, index) in indices.iter().enumerate() {
            let Argument::Value(value) = index else { continue };
            let is_mask = self.recorder.trace.value(*value).ty.elem()? == ElemType::Bool;
            if is_mask {
                return None;
            }
            found = broadcast(&found, &self.sizes_of(index)?)?;
            places.push(place);
        }
        let (&first, &last) = (places.first()?, places.last()?);
        if places.len() == 1 {
            return Some([own.get(..first)?, &found, own.get(first + 1..)?].concat());
        }
        let are_neighbors = last - first + 1 == places.len();
        let rest = own.iter().enumerate().filter(|(place, _)| !places.contains(place));
        let rest: Sizes = rest.map(|(_, size)| size.clone()).collect();
        let at = if are_neighbors { first } else { 0 };
        Some([rest.get(..at)?, &found, rest.get(at..)?].concat())
    }

    /// Returns the shapes of the results of an operator that returns a list of tensors.
    pub fn parts(&self, name: &str) -> Option<Vec<Sizes>> {
        let own = self.own();
        let at = || axis(self.int("dim", 0)?, own.as_ref()?.len());
        let with = |at: usize, size: Option<Dim>| {
            let mut sizes = own.clone()?;
            sizes[at] = size;
            Some(sizes)
        };
        match name {
            "unbind" => {
                let at = at()?;
                let mut rest = own.clone()?;
                let count = rest.remove(at)?.as_const()?;
                Some(vec![rest; usize::try_from(count).ok().filter(|&count| count <= MAX_PARTS)?])
            }
            "split" | "split_with_sizes" | "unsafe_split" | "chunk" | "unsafe_chunk" => {
                let at = at()?;
                let whole = own.as_ref()?[at].clone();
                let sizes: Sizes = match self.argument("split_size").or(self.argument("split_sizes")) {
                    Some(Argument::List(_)) => {
                        self.list("split_sizes").or_else(|| self.list("split_size"))?
                    }
                    Some(size) => pieces(whole?.as_const()?, self.recorder.trace.int(size)?)?,
                    None => {
                        let (whole, chunks) = (whole?.as_const()?, self.int("chunks", 0)?);
                        let size = whole.checked_add(chunks)?.checked_sub(1)?.checked_div(chunks)?;
                        pieces(whole, size)?
                    }
                };
                sizes.into_iter().map(|size| with(at, size)).collect()
            }
            "meshgrid" => {
                let Argument::List(members) = self.argument("tensors")? else { return None };
                let sizes = members.iter().map(|member| Some(product(&self.sizes_of(member)?)));
                let mut sizes = sizes.collect::<Option<Sizes>>()?;
                if matches!(self.argument("indexing"), Some(Argument::Str(text)) if &**text == "xy")
                    && sizes.len() > 1
                {
                    sizes.swap(0, 1);
                }
                Some(vec![sizes; members.len()])
            }
            "broadcast_tensors" => {
                let Argument::List(members) = self.argument("tensors")? else { return None };
                let mut sizes = Vec::new();
                for member in members {
                    sizes = broadcast(&sizes, &self.sizes_of(member)?)?;
                }
                Some(vec![sizes; members.len()])
            }
            _ => None,
        }
    }
}

/// Returns the sizes of the pieces of an axis that is split into pieces of `size`.
fn pieces(whole: i64, size: i64) -> Option<Sizes> {
    if size <= 0 {
        return None;
    }
    let count = (whole.checked_add(size)? - 1) / size;
    if count > MAX_PARTS as i64 {
        return None;
    }
    let each = (0..count.max(1)).map(|piece| Some(Dim::known(size.min(whole - piece * size))));
    Some(each.collect())
}

fn axis(at: i64, rank: usize) -> Option<usize> {
    let rank = rank.max(1) as i64;
    let at = if at < 0 { at + rank } else { at };
    usize::try_from(at).ok().filter(|&at| (at as i64) < rank)
}

fn product(sizes: &[Option<Dim>]) -> Option<Dim> {
    let known = sizes.iter().cloned().collect::<Option<Vec<Dim>>>()?;
    numel(&known)
}

/// Returns the quotient of two products of sizes.
fn divided(whole: &[Dim], known: &[Dim]) -> Option<Dim> {
    let (whole, known) = (numel(whole)?, numel(known)?);
    whole.div_exact(&known).or_else(|| whole.floor_div(&known))
}

/// Returns the sizes of a tensor that is repeated; there may be more repeats than sizes.
fn times(own: &[Option<Dim>], repeats: &[Option<Dim>]) -> Sizes {
    let more = repeats.len().saturating_sub(own.len());
    let one = |(place, repeat): (usize, &Option<Dim>)| {
        let size = match place.checked_sub(more) {
            Some(place) => own[place].clone(),
            None => Some(Dim::known(1)),
        };
        size?.mul(repeat.as_ref()?)
    };
    repeats.iter().enumerate().map(one).collect()
}

/// Returns the broadcast shape; a size that cannot be decided is unknown.
fn broadcast(a: &[Option<Dim>], b: &[Option<Dim>]) -> Option<Sizes> {
    let rank = a.len().max(b.len());
    let at = |sizes: &[Option<Dim>], place: usize| match (place + sizes.len()).checked_sub(rank) {
        Some(place) => sizes[place].clone(),
        None => Some(Dim::known(1)),
    };
    let is_one = |dim: &Dim| dim.as_const() == Some(1);
    let one = |place: usize| {
        let (x, y) = (at(a, place)?, at(b, place)?);
        match () {
            () if x == y || is_one(&y) => Some(x),
            () if is_one(&x) => Some(y),
            () => None,
        }
    };
    Some((0..rank).map(one).collect())
}
