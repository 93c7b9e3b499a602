//! Messages about reads and writes through index tensors.

use crate::diag::Level;
use crate::diag::rule_ids;

use super::Words;

/// Returns the finding about a read at negative indices.
/// `linearised` is true if the tracing exporter merges several index tensors into one.
pub fn negative_index(index: &str, linearised: bool) -> Words {
    Words {
        rule: rule_ids::NEGATIVE_INDEX,
        level: if linearised { Level::Error } else { Level::Hint },
        message: if linearised {
            format!(
                "`{index}` has negative indices: the export merges the index tensors into one that reads wrong elements"
            )
        } else {
            format!("`{index}` has negative indices, which some runtimes do not support in Gather")
        },
        note: if linearised {
            "the tracing exporter computes `i * columns + j` without first adding the axis size to negative indices"
        } else {
            "ONNX allows negative indices in Gather since opset 11"
        },
        help: "make the indices non-negative: `i % x.shape[0]`".into(),
    }
}

/// Returns the finding about a write at negative indices.
pub fn negative_write(index: &str) -> Words {
    Words {
        rule: rule_ids::NEGATIVE_INDEX,
        level: Level::Info,
        message: format!(
            "`{index}` writes at negative indices, which some runtimes do not support in ScatterND"
        ),
        note: "the exporter does not normalize the indices",
        help: "make the indices non-negative: `i % x.shape[0]`".into(),
    }
}

/// Returns the finding about an assignment through index tensors separated by a slice.
pub fn index_put_apart(code: &str) -> Words {
    Words {
        rule: rule_ids::INDEX_PUT_NON_CONSECUTIVE,
        level: Level::Warning,
        message: format!("`{code} = …` has a slice between its index tensors"),
        note: "the tracing exporter supports only adjacent index tensors in an assignment",
        help: "make the indexed axes adjacent (`y = x.transpose(1, 2)`, `y[i, j] = v`), or export with `dynamo=True`"
            .into(),
    }
}

/// Returns the finding about an assignment through several index tensors of rank up to `rank`.
pub fn index_put_rank(code: &str, rank: usize) -> Words {
    Words {
        rule: rule_ids::INDEX_PUT_RANK,
        level: Level::Warning,
        message: format!("`{code} = …` writes through several index tensors, one of rank {rank}"),
        note: "the tracing exporter raises if a slice precedes such index tensors, and in some versions before \
               PyTorch 2.15 without one",
        help: format!(
            "broadcast the indices to one shape, and flatten them and the value: \
             `x[i.flatten(), j.flatten()] = v.flatten(0, {})`",
            rank.saturating_sub(1)
        )
        .into(),
    }
}

/// Returns the finding about an assigned value that must be broadcast.
///
/// If the `rank` of the value is unknown, the value may need no broadcast, so the level is info.
pub fn index_put_broadcast(code: &str, rank: Option<usize>) -> Words {
    let value = match rank {
        Some(rank) => format!("a value of rank {rank} to a selection of higher rank"),
        None => "a value that must have the rank of the selection".to_owned(),
    };
    Words {
        rule: rule_ids::INDEX_PUT_BROADCAST,
        level: if rank.is_some() { Level::Warning } else { Level::Info },
        message: format!("`{code} = …` assigns {value}"),
        note: "the tracing exporter reshapes the value to the selection instead of broadcasting it",
        help: "broadcast the value first: `value.expand(…)` to the shape of the selection".into(),
    }
}

/// Returns the finding about an operator whose result has a data-dependent number of elements.
pub fn boolean_mask(code: &str) -> Words {
    Words {
        rule: rule_ids::BOOLEAN_MASK,
        level: Level::Info,
        message: format!("`{code}` has a data-dependent number of elements"),
        note: "exporters write NonZero, whose output size is unknown; many runtimes cannot allocate it in advance",
        help: "if the result is reduced or written back, use `torch.where(mask, x, 0)` instead".into(),
    }
}
