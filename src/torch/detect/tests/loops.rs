use super::{X, check, check_text};

#[test]
fn unrolled_loops_are_reported() {
    let constants: String = (0..6).map(|i| format!("%c{i} : int = prim::Constant[value={i}]()\n")).collect();
    let step = |i: usize, scale: &str| {
        format!(
            "%s{i} : Float(2) = aten::select(%x, %c1, %c{i})\n%m{i} : Float(2) = aten::mul(%s{i}, {scale})\n\
             %h{} : Float(2) = aten::add(%h{i}, %m{i}, %c1)\n",
            i + 1
        )
    };
    // As in Python, all steps come from one source line, and the constants from an earlier line.
    let graph = |steps: &str| {
        let steps: String = steps.lines().map(|line| format!("  {line} # /app/net.py:20:0\n")).collect();
        let constants: String =
            constants.lines().map(|line| format!("  {line} # /app/net.py:10:0\n")).collect();
        format!("graph(%self : __torch__.net.Net, {X}, %h0 : Float(2)):\n{constants}{steps}  return (%h6)\n")
    };
    let whole: String = (0..6).map(|i| step(i, "%c2")).collect();
    check_text(&graph(&whole), &["unrolled-loop@20"]);
    // Different constants in every step, as in `0.3 * r + 0.6 * g`, are handwritten.
    let weighted: String = (0..6).map(|i| step(i, &format!("%c{i}"))).collect();
    check_text(&graph(&weighted), &[]);
    let reversed: String = (0..6)
        .map(|i| step(i, "%c2").replace(&format!("%c1, %c{i})"), &format!("%c1, %c{})", 5 - i)))
        .collect();
    check_text(&graph(&reversed), &["unrolled-loop@20"]);
    // The author selected these five elements explicitly.
    let part: String = (0..5).map(|i| step(i, "%c2")).collect::<String>() + "%h6 : Float(2) = aten::neg(%h5)";
    check_text(&graph(&part), &[]);
    // Each step uses a different module.
    let one_module = graph(&whole);
    let of_modules = one_module.lines().map(|line| {
        let module = line.split("%m").nth(1).and_then(|rest| rest.split(' ').next()).unwrap_or("");
        if line.contains("aten::mul") {
            line.replace(" #", &format!(", scope: __module.cells.{module} #"))
        } else {
            line.to_owned()
        }
    });
    check_text(&(of_modules.collect::<Vec<_>>().join("\n") + "\n"), &[]);
}

#[test]
fn loops_over_unbound_or_split_elements_are_reported() {
    let steps = "%one : int = prim::Constant[value=1]()
        %l : Tensor[] = aten::unbind(%x, %one)
        %a : Float(2), %b : Float(2), %c : Float(2) = prim::ListUnpack(%l)";
    let nodes = |cut: &str| {
        let lines: Vec<String> = steps
            .replace("unbind", cut)
            .lines()
            .map(|line| format!("  {} # /app/net.py:10:0", line.trim()))
            .collect();
        let tanh = ["a", "b", "c"]
            .map(|name| format!("  %{name}2 : Float(2) = aten::tanh(%{name}) # /app/net.py:11:0"));
        format!(
            "graph(%x : Float(2, 3)):\n{}\n{}\n  %o : Tensor[] = prim::ListConstruct(%a2, %b2, %c2)\n  \
             %y : Float(2, 3) = aten::stack(%o, %one) # /app/net.py:12:0\n  return (%y)\n",
            lines.join("\n"),
            tanh.join("\n")
        )
    };
    check_text(&nodes("unbind"), &["unrolled-loop@10"]);
    let split = nodes("split").replace("split(%x, %one)", "split(%x, %one, %one)");
    check_text(&split, &["unrolled-loop@10"]);
    check_text(&split.replace("Float(2, 3)):", "Float(2, 6)):"), &[]);
}

#[test]
fn unpacked_query_key_and_value_are_not_a_loop() {
    let nodes = "%zero : int = prim::Constant[value=0]()
        %l : Tensor[] = aten::unbind(%x, %zero)
        %q : Float(6), %k : Float(6), %v : Float(6) = prim::ListUnpack(%l)
        %y : Float(6) = aten::scaled_dot_product_attention(%q, %k, %v)";
    check("%x : Float(3, 6)", nodes, "%y", &[]);
}
