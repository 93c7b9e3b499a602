use super::{X, check};

#[test]
fn negative_indices_and_masks_are_reported() {
    let read = |first: &str, indices: &str| {
        format!(
            "%i : Long(2) = prim::Constant[value= {first}  1 [ CPULongType{{2}} ]]()
            %d : Long(2) = aten::detach(%i)
            %l : Tensor?[] = prim::ListConstruct({indices})
            %y : Tensor = aten::index(%x, %l)"
        )
    };
    check(X, &read("-1", "%d, %d"), "%y", &["negative-index@13"]);
    check(X, &read("0", "%d, %d"), "%y", &[]);
    let mask = "%m : Bool(2, 6) = aten::gt(%x, %x)\n%l : Tensor?[] = prim::ListConstruct(%m)\n%y : Tensor = aten::index(%x, %l)";
    check(X, mask, "%y", &["boolean-mask@12"]);
}

#[test]
fn indexed_assignments_that_cannot_be_exported_are_reported() {
    let inputs = "%x : Float(4, 5, 6), %i : Long(2), %v : Float(2, 6)";
    let write = |indices: &str| {
        format!(
            "%n : NoneType = prim::Constant()
            %f : bool = prim::Constant[value=0]()
            %l : Tensor?[] = prim::ListConstruct({indices})
            %y : Float(4, 5, 6) = aten::index_put_(%x, %l, %v, %f)"
        )
    };
    check(inputs, &write("%i, %i"), "%y", &[]);
    check(
        &inputs.replace("%v : Float(2, 6)", "%v : Float(2, 5)"),
        &write("%i, %n, %i"),
        "%y",
        &["index-put-non-consecutive@13"],
    );
    check(
        &inputs.replace("%v : Float(2, 6)", "%v : Float(6)"),
        &write("%i, %i"),
        "%y",
        &["index-put-broadcast@13"],
    );
    check(&inputs.replace("%v : Float(2, 6)", "%v : Float()"), &write("%i, %i"), "%y", &[]);
    check(
        "%x : Float(4, 5, 6), %i : Long(3, 2), %v : Float(3, 2, 6)",
        &write("%i, %i"),
        "%y",
        &["index-put-rank@13"],
    );
    // `x[i, 0, j] = v`: the selected axis is between the indexed ones.
    let between = "%one : int = prim::Constant[value=1]()
        %30 : Float(4, 6) = aten::select(%x, %one, %one)
        %f : bool = prim::Constant[value=0]()
        %l : Tensor?[] = prim::ListConstruct(%i, %i)
        %y : Float(4, 6) = aten::index_put_(%30, %l, %v, %f)";
    check(
        "%x : Float(4, 5, 6), %i : Long(2), %v : Float(2)",
        between,
        "%x",
        &["index-put-non-consecutive@14"],
    );
}
