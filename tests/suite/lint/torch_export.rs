//! Graphs of the exporter that is based on torch.export: what it recorded of sizes, and what is right there.

/// A model as the exporter that is based on torch.export writes it, with what it recorded of its sizes.
#[track_caller]
fn exported(ranges: &str, graph: &str, expected: &[&str]) {
    let key = "pkg.torch.export.ExportedProgram.range_constraints";
    let header =
        format!("<ir_version: 10, opset_import: [\"\" : 18], metadata_props: [\"{key}\" : \"{ranges}\"]>");
    super::finds_in(&format!("{header}\n{graph}"), expected);
}

#[test]
fn numbers_in_graphs_of_torch_export_are_the_authors() {
    let views = "g (float[s77,3,4] x) => (float[2,M] y) <int64[2] s = {2, 6}> { y = Reshape (x, s) }";
    exported("{s77: VR[0, int_oo]}", views, &[]);
    // Somebody freed the size after the export.
    exported("{}", views, &["EXP001 error"]);
    let sum = "g (float[N,L] x) => (bool c) <int64 at = {1}, int64 two = {2}> {
        s = Shape (x)  n = Gather <axis = 0> (s, at)  m = Add (n, two)  c = Equal (m, m) }";
    exported("{L: VR[0, int_oo]}", sum, &[]);
}

#[test]
fn sizes_that_torch_export_found_to_be_fixed() {
    let graph = "g (float[s77,s27] x) => (float[s77,s27] y) { y = Relu (x) }";
    exported("{s77: VR[0, int_oo], s27: VR[6, 6]}", graph, &["EXP001 warning"]);
    // Ranges may be asked for.
    exported("{s77: VR[2, 64], s27: VR[0, int_oo]}", graph, &[]);
}
