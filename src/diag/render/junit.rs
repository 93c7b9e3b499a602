//! JUnit's XML: a test suite per file, a failed test per error or warning, and a passed one, with what there
//! is to say of it, per hint and info and where there is nothing. Errors, in its sense, are tests that did not end:
//! schemas of it want their number. They know neither `file` nor `line` of a test: the text begins with the place.

use std::io::Result;

use quick_xml::Writer;
use quick_xml::events::BytesText;

use super::Run;
use super::spot::{Spot, message_at_node, spot};
use super::xml::{document, legal};
use crate::diag::{Finding, Level};

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

/// Whether a finding fails the run.
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

/// `src/net.py:60:16: `, as far as it is known.
fn place(spot: Spot) -> String {
    match (spot.line, spot.column) {
        (0, _) => String::new(),
        (line, 0) => format!("{}:{line}: ", spot.file),
        (line, column) => format!("{}:{line}:{column}: ", spot.file),
    }
}
