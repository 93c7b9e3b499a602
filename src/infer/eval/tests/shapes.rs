//! Tests of shape arithmetic and of operators that move elements.

use super::{Attr, bools, call, ints, reals};

#[test]
fn shape_clamps_its_bounds_and_range_excludes_its_limit() {
    let x = || reals(&[2, 3, 4], &[0.0; 24]);
    call("Shape").of(x()).gives(&[ints(&[3], &[2, 3, 4])]);
    call("Shape").int("start", -1).of(x()).gives(&[ints(&[1], &[4])]);
    call("Shape").int("start", -9).int("end", 9).of(x()).gives(&[ints(&[3], &[2, 3, 4])]);
    call("Size").of(x()).gives(&[ints(&[], &[24])]);
    call("Gather").of(ints(&[3], &[2, 3, 4])).of(ints(&[], &[-1])).gives(&[ints(&[], &[4])]);
    call("Concat").int("axis", 0).of(ints(&[1], &[2])).of(ints(&[1], &[-1])).gives(&[ints(&[2], &[2, -1])]);
    call("Range")
        .of(ints(&[], &[5]))
        .of(ints(&[], &[0]))
        .of(ints(&[], &[-2]))
        .gives(&[ints(&[3], &[5, 3, 1])]);
}

#[test]
fn reshape_copies_and_infers_dimensions() {
    let x = || ints(&[2, 3], &[1, 2, 3, 4, 5, 6]);
    call("Reshape").of(x()).of(ints(&[2], &[0, -1])).gives(&[x()]);
    call("Reshape").of(x()).of(ints(&[1], &[-1])).gives(&[ints(&[6], &[1, 2, 3, 4, 5, 6])]);
    call("Reshape").version(1).ints("shape", &[3, 2]).of(x()).gives(&[ints(&[3, 2], &[1, 2, 3, 4, 5, 6])]);
    call("Reshape")
        .int("allowzero", 1)
        .of(ints(&[0, 2], &[]))
        .of(ints(&[2], &[3, 0]))
        .gives(&[ints(&[3, 0], &[])]);
    call("Reshape").of(x()).of(ints(&[1, 2], &[3, 2])).refused();
    call("Unsqueeze").of(ints(&[], &[5])).of(ints(&[1], &[0])).gives(&[ints(&[1], &[5])]);
    call("Squeeze").version(11).of(ints(&[1, 2, 1], &[5, 6])).gives(&[ints(&[2], &[5, 6])]);
    call("Transpose").of(x()).gives(&[ints(&[3, 2], &[1, 4, 2, 5, 3, 6])]);
    call("Flatten")
        .int("axis", -1)
        .of(ints(&[1, 2, 2], &[1, 2, 3, 4]))
        .gives(&[ints(&[2, 2], &[1, 2, 3, 4])]);
}

#[test]
fn slice_clamps_its_bounds() {
    let x = || ints(&[3], &[7, 8, 9]);
    let slice = |start, end, step| {
        call("Slice")
            .of(x())
            .of(ints(&[1], &[start]))
            .of(ints(&[1], &[end]))
            .of(ints(&[1], &[0]))
            .of(ints(&[1], &[step]))
    };
    slice(2, i64::MIN, -1).gives(&[ints(&[3], &[9, 8, 7])]);
    slice(-2, i64::MAX, 1).gives(&[ints(&[2], &[8, 9])]);
    slice(0, 3, 2).gives(&[ints(&[2], &[7, 9])]);
    slice(5, 9, 1).gives(&[ints(&[0], &[])]);
    slice(0, 3, 0).refused();
}

#[test]
fn split_from_opset_18_allows_a_smaller_last_part() {
    let x = || ints(&[5], &[1, 2, 3, 4, 5]);
    let parts = [ints(&[3], &[1, 2, 3]), ints(&[2], &[4, 5])];
    call("Split").int("num_outputs", 2).of(x()).gives(&parts);
    call("Split").of(x()).of(ints(&[2], &[3, 2])).gives(&parts);
    call("Split").version(13).of(x()).gives(&[x()]);
    call("Split").of(x()).of(ints(&[2], &[3, 3])).refused();
}

#[test]
fn pad_supports_every_mode() {
    let padded = |mode, expected: &[i64]| {
        let x = ints(&[3], &[1, 2, 3]);
        call("Pad").text("mode", mode).of(x).of(ints(&[2], &[2, 1])).gives(&[ints(&[6], expected)]);
    };
    padded("constant", &[0, 0, 1, 2, 3, 0]);
    padded("edge", &[1, 1, 1, 2, 3, 3]);
    padded("reflect", &[3, 2, 1, 2, 3, 2]);
    padded("wrap", &[2, 3, 1, 2, 3, 1]);
    call("Pad").of(ints(&[3], &[1, 2, 3])).of(ints(&[2], &[-1, 1])).gives(&[ints(&[3], &[2, 3, 0])]);
}

#[test]
fn gather_and_scatter_support_negative_indices_and_reductions() {
    let x = || ints(&[2, 2], &[1, 2, 3, 4]);
    call("GatherElements")
        .int("axis", 1)
        .of(x())
        .of(ints(&[2, 2], &[0, 0, -1, 0]))
        .gives(&[ints(&[2, 2], &[1, 1, 4, 3])]);
    call("GatherND").of(x()).of(ints(&[2, 2], &[0, 0, 1, 1])).gives(&[ints(&[2], &[1, 4])]);
    call("GatherND").int("batch_dims", 1).of(x()).of(ints(&[2, 1], &[1, 0])).gives(&[ints(&[2], &[2, 3])]);
    call("ScatterND")
        .of(x())
        .of(ints(&[1, 1], &[1]))
        .of(ints(&[1, 2], &[8, 9]))
        .gives(&[ints(&[2, 2], &[1, 2, 8, 9])]);
    let scatter = call("ScatterElements").int("axis", 1).text("reduction", "add");
    scatter
        .of(x())
        .of(ints(&[1, 2], &[1, 1]))
        .of(ints(&[1, 2], &[5, 6]))
        .gives(&[ints(&[2, 2], &[1, 13, 3, 4])]);
    call("Compress").int("axis", 0).of(x()).of(bools(&[false, true])).gives(&[ints(&[1, 2], &[3, 4])]);
    let choice = call("Where").of(bools(&[true, false])).of(ints(&[2], &[1, 2]));
    choice.of(ints(&[], &[9])).gives(&[ints(&[2], &[1, 9])]);
}

#[test]
fn top_k_keeps_ties_in_order_and_unique_sorts() {
    let x = || ints(&[4], &[3, 1, 3, 2]);
    let top = |largest| call("TopK").int("largest", largest).of(x()).of(ints(&[1], &[2]));
    top(1).gives(&[ints(&[2], &[3, 3]), ints(&[2], &[0, 2])]);
    top(0).gives(&[ints(&[2], &[1, 2]), ints(&[2], &[1, 3])]);
    let sorted =
        [ints(&[3], &[1, 2, 3]), ints(&[3], &[1, 3, 0]), ints(&[4], &[2, 0, 2, 1]), ints(&[3], &[1, 1, 2])];
    call("Unique").of(x()).gives(&sorted);
    call("Unique").int("sorted", 0).of(x()).gives(&[ints(&[3], &[3, 1, 2])]);
    call("NonZero").of(ints(&[2, 2], &[1, 0, 0, 4])).gives(&[ints(&[2, 2], &[0, 1, 0, 1])]);
    call("OneHot")
        .of(ints(&[2], &[-1, 5]))
        .of(ints(&[], &[2]))
        .of(ints(&[2], &[0, 7]))
        .gives(&[ints(&[2, 2], &[0, 7, 0, 0])]);
}

#[test]
fn rearranging_operators_move_elements() {
    let x = || ints(&[1, 4, 1, 1], &[1, 2, 3, 4]);
    call("DepthToSpace").int("blocksize", 2).of(x()).gives(&[ints(&[1, 1, 2, 2], &[1, 2, 3, 4])]);
    call("SpaceToDepth").int("blocksize", 2).of(ints(&[1, 1, 2, 2], &[1, 2, 3, 4])).gives(&[x()]);
    let reverse = call("ReverseSequence").of(ints(&[3, 2], &[1, 2, 3, 4, 5, 6])).of(ints(&[2], &[2, 3]));
    reverse.gives(&[ints(&[3, 2], &[3, 6, 1, 4, 5, 2])]);
    call("Trilu").int("upper", 0).of(ints(&[2, 2], &[1, 2, 3, 4])).gives(&[ints(&[2, 2], &[1, 0, 3, 4])]);
    call("Constant").attr("value_ints", Attr::Ints(&[1, 2])).gives(&[ints(&[2], &[1, 2])]);
}
