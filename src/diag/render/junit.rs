//! JUnit XML: a test suite per file, and a test case per finding.
//!
//! Warnings and errors are failed tests. Hints and infos are passed tests with output. A file without
//! findings has one passed test. In JUnit, an error is a test that did not finish. The output has no errors,
//! but schemas require the number of errors. Schemas have no `file` or `line` attributes, so the text begins
//! with the location, if it is known.

use std::io::Result;

use quick_xml::Writer;
use quick_xml::events::BytesText;

use super::Run;
use super::spot::{Spot, message_at_node, spot};
use super::xml::{document, legal};
use crate::diag::{Finding, Level};

/// Renders findings as JUnit XML.
pub fn render(run: Run) -> String {
    let total = run.findings.iter().filter(|finding| fails(finding)).count().to_string();
    let tests = run.files.iter().map(|file| of(run, file).count().max(1)).sum::<usize>().to_string();
    document(|xml| {
        let root = xml.create_element("testsuites").with_attributes([
            ("name", "onnx-lint"),
            ("tests", tests.as_str()),
            ("failures", total.as_str()),
            ("errors", "0"),
        ]);
        root.write_inner_content(|xml| run.files.iter().try_for_each(|file| suite(xml, run, file)))?;
        Ok(())
    })
}

fn of<'a>(run: Run<'a>, file: &'a str) -> impl Iterator<Item = &'a Finding> {
    run.findings.iter().filter(move |finding| &*finding.file == file)
}

/// Returns true if a finding is a failed test.
fn fails(finding: &Finding) -> bool {
    finding.level >= Level::Warning
}

fn suite(xml: &mut Writer<Vec<u8>>, run: Run, file: &str) -> Result<()> {
    let tests = of(run, file).count().max(1).to_string();
    let failures = of(run, file).filter(|finding| fails(finding)).count().to_string();
    let name = legal(file);
    let element = xml.create_element("testsuite").with_attributes([
        ("name", name.as_str()),
        ("tests", &tests),
        ("failures", &failures),
        ("errors", "0"),
    ]);
    element.write_inner_content(|xml| {
        if of(run, file).next().is_none() {
            let passed = [("name", "onnx-lint"), ("classname", name.as_str())];
            xml.create_element("testcase").with_attributes(passed).write_empty()?;
        }
        of(run, file).try_for_each(|finding| case(xml, finding, &name))
    })?;
    Ok(())
}

fn case(xml: &mut Writer<Vec<u8>>, finding: &Finding, class: &str) -> Result<()> {
    let spot = spot(finding);
    let name = format!("{} {}", finding.code, finding.rule);
    let message = legal(&finding.message);
    let element =
        xml.create_element("testcase").with_attributes([("name", name.as_str()), ("classname", class)]);
    element.write_inner_content(|xml| {
        let failure = [("type", finding.level.name()), ("message", message.as_str())];
        let text = legal(&format!("{}{}", place(spot), message_at_node(finding)));
        if !fails(finding) {
            xml.create_element("system-out").write_text_content(BytesText::new(&text))?;
            return Ok(());
        }
        xml.create_element("failure").with_attributes(failure).write_text_content(BytesText::new(&text))?;
        Ok(())
    })?;
    Ok(())
}

/// Returns `src/net.py:60:16: `, as far as known.
fn place(spot: Spot) -> String {
    match (spot.line, spot.column) {
        (0, _) => String::new(),
        (line, 0) => format!("{}:{line}: ", spot.file),
        (line, column) => format!("{}:{line}:{column}: ", spot.file),
    }
}
