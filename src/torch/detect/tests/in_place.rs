use super::{X, check};

#[test]
fn sizes_changed_in_place_are_reported() {
    let size = "%1 : int = prim::Constant[value=1]()
        %2 : int = aten::size(%x, %1)
        %n : Long() = prim::NumToTensor(%2)
        %4 : Long() = prim::Constant[value={3}]()
        %m : Long() = aten::mul_(%n, %4)";
    let both = format!("{size}\n %6 : Long() = aten::sub(%m, %m, %1)");
    check(X, &both, "%6", &["in-place-shape-alias@14"]);
    // `n *= 3` is harmless if `n` has no alias and the result is used once.
    let once = format!(
        "{size}\n %6 : int = aten::Int(%m)\n %7 : int[] = prim::ListConstruct(%6)\n %8 : Float(18) = aten::zeros(%7)"
    );
    check(X, &once, "%8", &[]);
    let new_value = both.replace("mul_", "mul");
    check(X, &new_value, "%6", &[]);
}

#[test]
fn writes_through_views_are_reported() {
    let clone = "%1 : NoneType = prim::Constant()
        %y : Float(2, 6, strides=[6, 1]) = aten::clone(%x, %1)
        %n : int[] = prim::Constant[value=[-1]]()
        %one : int = prim::Constant[value=1]()";
    let flat = format!(
        "{clone}\n %v : Float(12, strides=[1]) = aten::view(%y, %n)\n %w : Float(12) = aten::add_(%v, %one, %one)"
    );
    check(X, &flat, "%y", &["in-place-view-lost@15"]);
    check(X, &flat, "%w", &[]);
    check(X, &flat.replace("aten::view", "aten::reshape"), "%y", &["in-place-view-lost@15"]);
    check(
        X,
        &flat.replace("aten::add_(%v, %one, %one)", "aten::zero_(%v)"),
        "%y",
        &["in-place-view-lost@15"],
    );
    check(X, &flat.replace("aten::add_", "aten::add"), "%y", &[]);
    // The tensor is read by another node; reading only its shape is harmless.
    check(X, &format!("{flat}\n %z : Float(2, 6) = aten::relu(%y)"), "%z", &["in-place-view-lost@15"]);
    check(X, &format!("{flat}\n %z : int = aten::size(%y, %one)"), "%z", &[]);
    // The write is to part of a transposed tensor: the exporter follows the selection, not the transposition.
    let transposed = format!(
        "{clone}\n %zero : int = prim::Constant[value=0]()
        %t : Float(6, 2, strides=[1, 6]) = aten::transpose(%y, %zero, %one)
        %s : Float(2) = aten::select(%t, %zero, %zero)
        %w : Float(2) = aten::fill_(%s, %one)"
    );
    check(X, &transposed, "%y", &["in-place-view-lost@17"]);
}

#[test]
fn writes_that_the_exporter_follows_are_not_reported() {
    let selected = "%zero : int = prim::Constant[value=0]()
        %one : int = prim::Constant[value=1]()
        %30 : Float(6, strides=[1]) = aten::select(%x, %zero, %zero)
        %w : Float(6, strides=[1]) = aten::add_(%30, %one, %one)";
    check(X, selected, "%x", &[]);
    // `x[0] += 1` writes the sum back.
    let written_back = format!(
        "{selected}\n %31 : Float(6, strides=[1]) = aten::select(%x, %zero, %zero)
        %b : bool = prim::Constant[value=0]()
        %c : Float(6, strides=[1]) = aten::copy_(%31, %w, %b)"
    );
    check(X, &written_back, "%x", &[]);
    // `row = x[0]; row.add_(1)` changes `x`, too, but the exported model changes only `row`.
    let named = selected.replace("%30", "%row");
    check(X, &named, "%x", &["in-place-view-lost@13"]);
    // The halves of a tensor do not overlap.
    let halves = "%two : int = prim::Constant[value=2]()
        %one : int = prim::Constant[value=1]()
        %l : Tensor[] = aten::chunk(%x, %two, %one)
        %a : Float(2, 3), %b : Float(2, 3) = prim::ListUnpack(%l)
        %c : Float(2, 3) = aten::sigmoid_(%a)
        %d : Float(2, 3) = aten::mul(%c, %b)";
    check(X, halves, "%d", &[]);
}

/// A write through a view is visible in its base.
#[test]
fn buffer_written_through_a_view_is_not_constant() {
    let written = "%zero : int = prim::Constant[value=0]()
        %one : int = prim::Constant[value=1]()
        %b : bool = prim::Constant[value=0]()
        %n : int[] = prim::Constant[value=[2, 6]]()
        %cache : Float(2, 6, strides=[6, 1]) = aten::zeros(%n)
        %30 : Float(6, strides=[1]) = aten::select(%cache, %zero, %zero)
        %31 : Float(6, strides=[1]) = aten::select(%x, %zero, %zero)
        %c : Float(6, strides=[1]) = aten::copy_(%30, %31, %b)
        %y : Float(2, 6) = aten::mul(%cache, %one)";
    check(X, written, "%y", &[]);
    // Before the write, the buffer is constant.
    let read_before = written.replace("%cache, %one", "%before, %one").replace(
        "%30 :",
        "%before : Float(2, 6) = aten::mul(%cache, %one)
        %30 :",
    );
    check(X, &read_before, "%y", &["constant-output@19"]);
}
