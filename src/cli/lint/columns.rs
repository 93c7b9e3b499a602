//! Tables of findings in the formats of Apache Arrow and Apache Parquet.

use std::error::Error;
use std::sync::Arc;

use arrow_array::builder::{ListBuilder, StringBuilder};
use arrow_array::{ArrayRef, Int64Array, RecordBatch, StringArray};
use arrow_ipc::writer::FileWriter;
use arrow_schema::{DataType, Field, Schema};
use parquet::arrow::ArrowWriter;

use super::table::Row;

/// Returns the rows as a file in Arrow's IPC format.
pub fn arrow(rows: &[Row]) -> Result<Vec<u8>, Box<dyn Error>> {
    let batch = batch(rows)?;
    let mut writer = FileWriter::try_new(Vec::new(), &batch.schema())?;
    writer.write(&batch)?;
    writer.finish()?;
    Ok(writer.into_inner()?)
}

/// Returns the rows as a Parquet file.
pub fn parquet(rows: &[Row]) -> Result<Vec<u8>, Box<dyn Error>> {
    let batch = batch(rows)?;
    let mut writer = ArrowWriter::try_new(Vec::new(), batch.schema(), None)?;
    writer.write(&batch)?;
    Ok(writer.into_inner()?)
}

/// Returns the columns, in the order of the fields of [`Row`].
fn batch(rows: &[Row]) -> Result<RecordBatch, Box<dyn Error>> {
    let text = |name: &str, value: fn(&Row) -> Option<&str>| -> (Field, ArrayRef) {
        let column: StringArray = rows.iter().map(value).collect();
        (Field::new(name, DataType::Utf8, name != "uri"), Arc::new(column))
    };
    let number = |name: &str, value: fn(&Row) -> Option<i64>| -> (Field, ArrayRef) {
        let column: Int64Array = rows.iter().map(value).collect();
        (Field::new(name, DataType::Int64, true), Arc::new(column))
    };
    let columns = vec![
        text("uri", |row| Some(&*row.uri)),
        text("etag", |row| row.etag.as_deref()),
        text("code", |row| row.code.as_deref()),
        text("severity", |row| row.severity),
        text("fingerprint", |row| row.fingerprint.as_deref()),
        text("node", |row| row.node.as_deref()),
        text("source", |row| row.source.as_deref()),
        number("opset", |row| row.opset),
        text("producer", |row| row.producer.as_deref()),
        operators(rows),
        number("parameters", |row| row.parameters),
        text("message", |row| row.message.as_deref()),
    ];
    let (fields, arrays): (Vec<Field>, Vec<ArrayRef>) = columns.into_iter().unzip();
    Ok(RecordBatch::try_new(Arc::new(Schema::new(fields)), arrays)?)
}

fn operators(rows: &[Row]) -> (Field, ArrayRef) {
    let mut lists = ListBuilder::new(StringBuilder::new());
    for row in rows {
        for operator in row.operators.iter().flat_map(|operators| operators.iter()) {
            lists.values().append_value(operator);
        }
        lists.append(row.operators.is_some());
    }
    let item = Field::new_list_field(DataType::Utf8, true);
    (Field::new_list("operators", item, true), Arc::new(lists.finish()))
}
