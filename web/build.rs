//! Sets the stack size to 8 MB, as for a native program.
//! The default of WebAssembly, 1 MB, is too small for recursion.

fn main() {
    if std::env::var("CARGO_CFG_TARGET_ARCH").is_ok_and(|arch| arch == "wasm32") {
        println!("cargo::rustc-link-arg-cdylib=-zstack-size=8388608");
    }
}
