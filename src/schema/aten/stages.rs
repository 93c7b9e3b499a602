//! Stages of matrix factorizations that a Loop computes: start, step and end.

/// A stage of a factorization. An operator of a stage is named `start.linalg_inv`, for example.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// Returns the initial state from the arguments.
    Start,
    /// Returns a state from the previous one and the number of the step.
    Step,
    /// Returns the results from the last state and the arguments.
    End,
}

impl Stage {
    /// All stages in order.
    pub const ALL: [Stage; 3] = [Stage::Start, Stage::Step, Stage::End];

    /// Returns the prefix of operators of the stage.
    pub fn prefix(self) -> &'static str {
        match self {
            Stage::Start => "start.",
            Stage::Step => "step.",
            Stage::End => "end.",
        }
    }

    /// Splits a name into its stage and the name of the factorization.
    pub fn of(name: &str) -> Option<(Stage, &str)> {
        Stage::ALL.into_iter().find_map(|stage| Some((stage, name.strip_prefix(stage.prefix())?)))
    }
}

/// Operators that are lowered in stages, with one step for each pivot.
const PIVOTED: [&str; 17] = [
    "_lu_with_info",
    "cholesky",
    "cholesky_inverse",
    "cholesky_solve",
    "inverse",
    "linalg_cholesky",
    "linalg_cholesky_ex",
    "linalg_inv",
    "linalg_inv_ex",
    "linalg_lu",
    "linalg_lu_factor",
    "linalg_lu_factor_ex",
    "linalg_qr",
    "linalg_solve",
    "linalg_solve_ex",
    "linalg_solve_triangular",
    "triangular_solve",
];

/// Operators on singular values and on eigenvalues of symmetric matrices, whose steps rotate rows.
const ROTATED: [&str; 9] = [
    "linalg_cond",
    "linalg_eigvalsh",
    "linalg_matrix_norm",
    "linalg_matrix_rank",
    "linalg_norm",
    "linalg_pinv",
    "linalg_svdvals",
    "nuclear_norm",
    "pinverse",
];

/// Returns true for operators, with or without an overload, that are lowered in stages.
pub fn is_stepwise(op: &str) -> bool {
    PIVOTED.contains(&op) || is_rotated(op)
}

/// Returns true for operators, with or without an overload, whose steps rotate rows.
pub fn is_rotated(op: &str) -> bool {
    op.split('.').next().is_some_and(|base| ROTATED.contains(&base))
}
