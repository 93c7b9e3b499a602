//! Checkstyle XML, which many CI plugins read.

use indexmap::IndexMap;

use super::Run;
use super::spot::{Spot, message_at_node, spot};
use super::xml::{document, legal};
use crate::diag::{Finding, Level};

/// Renders findings as Checkstyle XML.
pub fn render(run: Run) -> String {
    let mut by_file: IndexMap<&str, Vec<(Spot, &Finding)>> = IndexMap::new();
    for finding in run.findings {
        let spot = spot(finding);
        by_file.entry(spot.file).or_default().push((spot, finding));
    }
    document(|xml| {
        let root = xml.create_element("checkstyle").with_attribute(("version", "4.3"));
        root.write_inner_content(|xml| {
            for (file, findings) in &by_file {
                let element = xml.create_element("file").with_attribute(("name", legal(file).as_str()));
                element.write_inner_content(|xml| {
                    findings.iter().try_for_each(|(spot, finding)| error(xml, spot, finding))
                })?;
            }
            Ok(())
        })?;
        Ok(())
    })
}

fn error(xml: &mut quick_xml::Writer<Vec<u8>>, spot: &Spot, finding: &Finding) -> std::io::Result<()> {
    let (line, column) = (spot.line.max(1).to_string(), spot.column.max(1).to_string());
    let severity = match finding.level {
        Level::Error => "error",
        Level::Warning => "warning",
        Level::Info | Level::Hint => "info",
    };
    let source = format!("onnx-lint.{}.{}", finding.code, finding.rule);
    let message = legal(&message_at_node(finding));
    xml.create_element("error")
        .with_attributes([
            ("line", line.as_str()),
            ("column", &column),
            ("severity", severity),
            ("message", &message),
            ("source", &source),
        ])
        .write_empty()?;
    Ok(())
}
