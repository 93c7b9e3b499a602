//! Tests of calls into other files.

use super::*;

const HELPERS: &str = "import torch\nimport torch.nn.functional as F\n\n\n\
    def count(mask):\n    return mask.sum().item()\n\n\n\
    def classes(labels, number=-1):\n    return F.one_hot(labels, number)\n\n\n\
    def double(x):\n    return x * 2\n\n\n\
    def again(x):\n    return again(x)\n";

const NET: &str = "import torch\nfrom torch import nn\nfrom .tools.helpers import count, double\n\
    import pack.tools.helpers as helpers\n\n\n\
    class Net(nn.Module):\n    def forward(self, x, labels):\n        n = count(x > 0)\n        \
    one = helpers.classes(labels.long())\n        two = helpers.classes(labels.long(), 3)\n        \
    if double(x).sum() > helpers.again(x):\n            return one\n        return two / n\n";

fn reported(lines: &[u32]) -> Vec<String> {
    let folder = tempfile::tempdir().expect("a folder");
    let pack = folder.path().join("pack");
    std::fs::create_dir_all(pack.join("tools")).expect("a folder");
    std::fs::write(pack.join("net.py"), NET).expect("a file");
    std::fs::write(pack.join("tools/helpers.py"), HELPERS).expect("a file");
    let sources = SourceFiles::new(vec![], vec![folder.path().to_owned()]);
    let found = match lines {
        [] => lint(NET, "pack/net.py", &sources),
        lines => lint_functions(NET, "pack/net.py", lines, &sources),
    };
    let place =
        |finding: &Finding| finding.source.as_ref().map(|source| format!("{}:{}", source.file, source.line));
    found.iter().map(|finding| format!("{} {}", finding.rule, place(finding).unwrap_or_default())).collect()
}

#[test]
fn faults_of_helpers_are_reported_at_the_call() {
    assert_eq!(
        reported(&[]),
        ["item-baked pack/net.py:9", "one-hot-depth pack/net.py:10", "traced-branch pack/net.py:12"]
    );
}

#[test]
fn faults_of_helpers_of_a_graph_are_reported_at_their_own_line() {
    assert_eq!(
        reported(&[10]),
        [
            "item-baked pack/tools/helpers.py:6",
            "one-hot-depth pack/tools/helpers.py:10",
            "traced-branch pack/net.py:12"
        ]
    );
}

#[test]
fn faults_that_only_other_modules_reach_are_not_reported_for_a_graph() {
    let text = "import torch\nfrom torch import nn\nfrom elsewhere import Base\n\n\
        def scaled(x, how):\n    return x * how(x)\n\n\
        def peak(x):\n    return x.abs().max().item()\n\n\
        class Peak(nn.Module):\n    def forward(self, x):\n        return scaled(x, peak)\n\n\
        class Mean(nn.Module):\n    def forward(self, x):\n        return scaled(x, torch.mean)\n\n\
        class Derived(Base):\n    def inner(self, x):\n        return x.relu()\n\n    \
        def factor(self, x):\n        return x.max().item()\n";
    let reported = |lines: &[u32]| {
        let found = lint_functions(text, "net.py", lines, &SourceFiles::default());
        let line = |finding: &Finding| finding.source.as_ref().map_or(0, |source| source.line);
        found.iter().map(|finding| (line(finding), finding.level)).collect::<Vec<_>>()
    };
    assert_eq!(reported(&[6, 13]), [(9, Level::Warning)]);
    assert_eq!(reported(&[6, 17]), []);
    assert_eq!(reported(&[6]), [(9, Level::Warning)]);
    // `Base`, which is in another file, may call `factor`.
    assert_eq!(reported(&[21]), [(24, Level::Info)]);
}

#[test]
fn methods_inherited_from_another_file_are_followed() {
    let base = "import torch\n\n\nclass Sized(torch.nn.Module):\n    def sizes(self, x):\n        return x.shape[0], x.shape[1]\n\n    \
                def longest(self, mask):\n        return int(mask.sum(1).max())\n";
    let net = "import torch\nfrom pack import Sized\n\n\nclass Net(Sized):\n    def sizes(self, x):\n        b, n = super().sizes(x)\n        \
               return int(b), n\n\n    def forward(self, x: torch.Tensor, mask: torch.Tensor):\n        b, n = self.sizes(x)\n        \
               return x.reshape(b, n, -1)[:, :self.longest(mask)]\n";
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::create_dir_all(folder.path().join("pack")).expect("a folder");
    std::fs::write(folder.path().join("pack/__init__.py"), "from .base import Sized\n").expect("a file");
    std::fs::write(folder.path().join("pack/base.py"), base).expect("a file");
    let sources = SourceFiles::new(vec![], vec![folder.path().to_owned()]);
    let found = lint(net, "net.py", &sources);
    let line = |finding: &Finding| finding.source.as_ref().map_or(0, |source| source.line);
    let reported: Vec<String> = found.iter().map(|one| format!("{} {}", one.rule, line(one))).collect();
    assert_eq!(reported, ["baked-shape 8", "item-baked 12"]);
}
