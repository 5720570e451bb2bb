//! Generates the parsers from `grammar/`.

fn main() {
    println!("cargo::rerun-if-changed=../grammar");
    println!("cargo::rerun-if-changed=build.rs");
    lalrpop::Configuration::new()
        .set_in_dir("../grammar")
        .set_out_dir(std::env::var("OUT_DIR").expect("cargo sets OUT_DIR for build scripts"))
        .process()
        .expect("the grammars in grammar/ have no conflicts");
}
