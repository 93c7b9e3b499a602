//! Markdown documents of the repository that become pages, and the assets that they need.

/// A Markdown file.
pub struct Document {
    /// Its path in the repository, which links between documents use.
    pub source: &'static str,
    /// Its path in the site.
    pub page: &'static str,
    pub title: &'static str,
    pub text: &'static str,
}

/// A file that pages link to.
pub struct Asset {
    pub source: &'static str,
    pub page: &'static str,
    pub bytes: &'static [u8],
}

macro_rules! document {
    ($source:literal, $page:literal, $title:literal) => {
        Document {
            source: $source,
            page: $page,
            title: $title,
            text: include_str!(concat!("../../../", $source)),
        }
    };
}

macro_rules! asset {
    ($source:literal, $page:literal) => {
        Asset { source: $source, page: $page, bytes: include_bytes!(concat!("../../../", $source)) }
    };
}

/// The Markdown documents of the site, in menu order.
pub const DOCUMENTS: [Document; 21] = [
    document!("README.md", "index.html", "onnx-lint, onnx-fix and onnx-diff"),
    document!("docs/dynamic.md", "dynamic.html", "Dynamic axes"),
    document!("docs/formats.md", "formats.html", "Output formats"),
    document!("docs/suppressions.md", "suppressions.html", "Suppressions"),
    document!("docs/integrations.md", "integrations.html", "Integrations"),
    document!("docs/recipes/README.md", "recipes/index.html", "Recipes"),
    document!("docs/recipes/rknn.md", "recipes/rknn.html", "RKNN"),
    document!("docs/recipes/tensorrt.md", "recipes/tensorrt.html", "TensorRT"),
    document!("docs/recipes/openvino.md", "recipes/openvino.html", "OpenVINO"),
    document!("docs/recipes/coreml.md", "recipes/coreml.html", "CoreML"),
    document!(
        "docs/recipes/onnxruntime-web.md",
        "recipes/onnxruntime-web.html",
        "ONNX Runtime in the browser"
    ),
    document!("rules/README.md", "rules/language.html", "Rule language"),
    document!("rules/COSTS.md", "rules/costs.html", "Cost model"),
    document!("rules/aten/README.md", "rules/aten.html", "PyTorch lowering rules"),
    document!("targets/README.md", "targets.html", "Targets"),
    document!("python/README.md", "python.html", "In Python"),
    document!("web/README.md", "web.html", "In the browser"),
    document!("editors/vscode/README.md", "vscode.html", "VS Code"),
    document!("ARCHITECTURE.md", "architecture.html", "Architecture"),
    document!("CONTRIBUTING.md", "contributing.html", "Contributing"),
    document!("CHANGELOG.md", "changelog.html", "Changelog"),
];

/// The files that the documents refer to.
pub const ASSETS: [Asset; 4] = [
    asset!("docs/page.png", "page.png"),
    asset!("docs/findings.schema.json", "findings.schema.json"),
    asset!("editors/onnx-lint.schema.json", "onnx-lint.schema.json"),
    asset!("LICENSE", "LICENSE.txt"),
];

/// Returns the page or asset of a file in the repository, or of a folder with a `README.md`.
pub fn page_of(source: &str) -> Option<&'static str> {
    let folder = |document: &Document| document.source.strip_suffix("/README.md") == Some(source);
    let documents = DOCUMENTS.iter().find(|document| document.source == source || folder(document));
    let assets = || ASSETS.iter().find(|asset| asset.source == source).map(|asset| asset.page);
    documents.map(|document| document.page).or_else(assets)
}

/// Returns the repository path of a page's document.
pub fn source_of(page: &str) -> Option<&'static str> {
    DOCUMENTS.iter().find(|document| document.page == page).map(|document| document.source)
}
