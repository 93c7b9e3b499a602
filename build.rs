//! Compiles `proto/onnx.proto` with `protox`; tensor bytes stay slices of the file they were read from.

use std::path::PathBuf;

use prost::Message;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    println!("cargo:rerun-if-changed=proto/onnx.proto");
    let descriptors = protox::compile(["proto/onnx.proto"], ["proto"])?;
    // For the text and JSON forms, which are read by reflection.
    let encoded = PathBuf::from(std::env::var("OUT_DIR")?).join("descriptors.bin");
    std::fs::write(encoded, descriptors.encode_to_vec())?;
    prost_build::Config::new().bytes(["."]).compile_fds(descriptors)?;
    Ok(())
}
