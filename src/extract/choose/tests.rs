//! Compares the search with exhaustive search on small random e-graphs.

use super::*;

/// Maximum number of classes: exhaustive search tries every selection.
const MAX_CLASSES: usize = 8;
const MAX_FORMS: usize = 3;

/// Number of e-graphs to try.
const GRAPHS: u64 = 3000;

/// Number of selections per thousand that may be suboptimal.
const MAX_WORSE_PER_THOUSAND: usize = 2;

/// Deterministic pseudorandom numbers (xorshift).
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % bound as u64).expect("it is below a usize")
    }
}

/// Creates classes whose candidates can use any class, including later ones.
/// The graph can have cycles, classes without candidates, and shared classes.
fn random_forms(numbers: &mut Numbers) -> Candidates {
    let classes = 2 + numbers.below(MAX_CLASSES - 1);
    let costs = [0, 4, 105, 120, 121, 130, 1100];
    let mut of = Vec::new();
    for class in 0..classes {
        let mut forms = Vec::new();
        for at in 0..numbers.below(MAX_FORMS + 1) {
            let arity = if class == 0 { 0 } else { numbers.below(4) };
            // Mostly use earlier classes, as in a graph; sometimes any class.
            let reach = if numbers.below(4) == 0 { classes } else { class.max(1) };
            let mut inputs: Vec<usize> = (0..arity).map(|_| numbers.below(reach)).collect();
            inputs.sort_unstable();
            inputs.dedup();
            forms.push(Candidate {
                at,
                cost: Cost::new(costs[numbers.below(costs.len())]),
                inputs,
                ..Candidate::default()
            });
        }
        of.push(forms);
    }
    forms_of(of)
}

fn forms_of(of: Vec<Vec<Candidate>>) -> Candidates {
    let ids: Vec<Id> = (0..of.len()).map(Id::from).collect();
    let index = ids.iter().enumerate().map(|(index, &id)| (id, index)).collect();
    Candidates { takers: Users::of(&of), ids, index, of }
}

/// Returns the cost of a selection, with each needed class counted once.
/// Returns `None` if the selection is cyclic, or needs a class without candidates.
fn cost(forms: &Candidates, chosen: &[usize], roots: &[usize]) -> Option<Cost> {
    /// Visits depth first; `on_path` has the classes on the current path.
    fn visit(
        forms: &Candidates,
        chosen: &[usize],
        class: usize,
        on_path: &mut Vec<usize>,
        done: &mut [bool],
    ) -> Option<Cost> {
        if on_path.contains(&class) {
            return None;
        }
        if std::mem::replace(&mut done[class], true) {
            return Some(Cost::default());
        }
        let form = forms.of[class].get(chosen[class])?;
        on_path.push(class);
        let mut sum = form.cost;
        for &input in &form.inputs {
            sum = sum.plus(visit(forms, chosen, input, on_path, done)?);
        }
        on_path.pop();
        Some(sum)
    }
    let mut done = vec![false; forms.of.len()];
    let mut sum = Cost::default();
    for &root in roots {
        sum = sum.plus(visit(forms, chosen, root, &mut Vec::new(), &mut done)?);
    }
    Some(sum)
}

/// Returns the minimum cost of the roots, by exhaustive search.
fn least(forms: &Candidates, roots: &[usize]) -> Option<Cost> {
    let mut chosen = vec![0; forms.of.len()];
    let mut best = None;
    loop {
        let found = cost(forms, &chosen, roots);
        best = match (best, found) {
            (Some(best), Some(found)) => Some(std::cmp::min(best, found)),
            (best, found) => best.or(found),
        };
        let Some(class) = (0..chosen.len()).find(|&class| chosen[class] + 1 < forms.of[class].len()) else {
            return best;
        };
        chosen[class] += 1;
        chosen[..class].fill(0);
    }
}

#[test]
fn selections_are_acyclic_and_nearly_always_optimal() {
    let mut numbers = Numbers(0x9e37_79b9_7f4a_7c15);
    let (mut tried, mut worse) = (0, 0);
    for graph in 0..GRAPHS {
        let forms = random_forms(&mut numbers);
        let possible = forms.cheapest();
        for class in 0..forms.of.len() {
            let can_be_had = least(&forms, &[class]).is_some();
            assert_eq!(possible.costs[class].is_finite(), can_be_had, "graph {graph}, class {class}");
        }
        let roots: Vec<usize> = (0..forms.of.len())
            .filter(|&class| {
                possible.costs[class].is_finite() && (class + 1 == forms.of.len() || numbers.below(4) == 0)
            })
            .collect();
        let Some(least) = least(&forms, &roots).filter(|_| !roots.is_empty()) else { continue };
        let search = LocalSearch::run(&forms, &possible, &roots);
        let found = cost(&forms, &search.chosen, &roots);
        let found = found.unwrap_or_else(|| panic!("graph {graph}: the selection is cyclic or incomplete"));
        assert!(found >= least, "graph {graph}: the oracle is wrong");
        let needed = (0..forms.of.len()).filter(|&class| search.users[class] > 0);
        let counted =
            needed.fold(Cost::default(), |sum, class| sum.plus(forms.of[class][search.chosen[class]].cost));
        assert_eq!(
            counted, found,
            "graph {graph}: the needed classes are not those reachable from the roots"
        );
        tried += 1;
        worse += usize::from(found > least);
    }
    assert!(tried > 1000, "only {tried} graphs have roots");
    assert!(worse * 1000 <= tried * MAX_WORSE_PER_THOUSAND, "{worse} of {tried} selections are suboptimal");
}

/// Creates classes from lists of candidates: the cost and the inputs of each.
fn written(classes: &[&[(u64, &[usize])]]) -> Candidates {
    let form = |(at, &(cost, inputs)): (usize, &(u64, &[usize]))| Candidate {
        at,
        cost: Cost::new(cost),
        inputs: inputs.to_vec(),
        ..Candidate::default()
    };
    forms_of(classes.iter().map(|forms| forms.iter().enumerate().map(form).collect()).collect())
}

#[track_caller]
fn finds(classes: &[&[(u64, &[usize])]], wanted: u64) {
    let forms = written(classes);
    let root = [forms.of.len() - 1];
    assert_eq!(least(&forms, &root), Some(Cost::new(wanted)), "the expected cost is not the minimum");
    let possible = forms.cheapest();
    let search = LocalSearch::run(&forms, &possible, &root);
    assert_eq!(cost(&forms, &search.chosen, &root), Some(Cost::new(wanted)));
}

#[test]
fn work_is_shared_if_all_potential_users_gain() {
    // Two users scale the result of one matrix product. Folding each scale into the weights would need two
    // matrix products.
    let input: (u64, &[usize]) = (0, &[]);
    finds(
        &[
            &[input],
            &[(1000, &[0])],
            &[(130, &[1]), (1010, &[0])],
            &[(130, &[1]), (1010, &[0])],
            &[(1, &[2, 3])],
        ],
        1261,
    );
}

#[test]
fn shared_work_is_replaced_by_cheaper_shared_work() {
    let input: (u64, &[usize]) = (0, &[]);
    let user: &[(u64, &[usize])] = &[(10, &[1]), (6, &[2])];
    finds(&[&[input], &[(50, &[0])], &[(55, &[0])], user, user, &[(1, &[3, 4])]], 68);
}
