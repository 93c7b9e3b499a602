//! Messages about reads and writes through index tensors.

use crate::diag::Level;
use crate::diag::rule_ids;

use super::Words;

pub fn negative_index(index: &str, linearised: bool) -> Words {
    Words {
        rule: rule_ids::NEGATIVE_INDEX,
        level: if linearised { Level::Error } else { Level::Hint },
        message: if linearised {
            format!(
                "`{index}` has negative indices: several index tensors are exported as one, which then reads wrong elements"
            )
        } else {
            format!("`{index}` has negative indices, which not every runtime accepts in Gather")
        },
        note: if linearised {
            "the tracing exporter computes i * columns + j from the indices as they are, without adding the size first"
        } else {
            "ONNX allows negative indices in Gather from opset 11 on"
        },
        help: "write them from the front: the size of the axis added, `i % x.shape[0]`".into(),
    }
}

pub fn negative_write(index: &str) -> Words {
    Words {
        rule: rule_ids::NEGATIVE_INDEX,
        level: Level::Info,
        message: format!(
            "`{index}` writes at negative indices, which not every runtime accepts in ScatterND"
        ),
        note: "the exporter writes the indices as they are",
        help: "write them from the front: the size of the axis added, `i % x.shape[0]`".into(),
    }
}

pub fn index_put_apart(code: &str) -> Words {
    Words {
        rule: rule_ids::INDEX_PUT_NON_CONSECUTIVE,
        level: Level::Warning,
        message: format!("`{code} = …` has a slice between its index tensors"),
        note: "the tracing exporter takes only index tensors that are next to each other in an assignment",
        help: "bring the indexed axes together (`y = x.transpose(1, 2)`, `y[i, j] = v`), or export with `dynamo=True`"
            .into(),
    }
}

pub fn index_put_rank(code: &str, rank: usize) -> Words {
    Words {
        rule: rule_ids::INDEX_PUT_RANK,
        level: Level::Warning,
        message: format!("`{code} = …` writes through several index tensors, one of rank {rank}"),
        note: "the tracing exporter supports several index tensors in an assignment only if all are 1-d",
        help: "flatten the indices, and the value along: `x[i.flatten(), j.flatten()] = v.flatten(0, 1)`"
            .into(),
    }
}

/// Reports a broadcast value; `rank` is its rank, if the source determines it.
pub fn index_put_broadcast(code: &str, rank: Option<usize>) -> Words {
    let value = match rank {
        Some(rank) => format!("a value of rank {rank} to elements of more axes"),
        None => "a value that has to have as many axes as the elements it goes to".to_owned(),
    };
    Words {
        rule: rule_ids::INDEX_PUT_BROADCAST,
        level: if rank.is_some() { Level::Warning } else { Level::Info },
        message: format!("`{code} = …` writes {value}"),
        note: "the tracing exporter reshapes the value to what it is written to, and does not broadcast it",
        help: "give the value its full shape first: `value.expand(…)` to the shape of what is written".into(),
    }
}

pub fn boolean_mask(code: &str) -> Words {
    Words {
        rule: rule_ids::BOOLEAN_MASK,
        level: Level::Info,
        message: format!("`{code}` has a data-dependent number of elements"),
        note: "it is exported by NonZero, whose result has no known size; many runtimes cannot plan for it",
        help: "where the result is reduced or written back, use `torch.where(mask, x, 0)` instead".into(),
    }
}
