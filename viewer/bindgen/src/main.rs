//! Generates the JavaScript bindings of the page's WebAssembly: `supple-bindgen IN.wasm OUT_FOLDER`.
#![forbid(unsafe_code)]

use wasm_bindgen_cli_support::Bindgen;

fn main() {
    let mut args = std::env::args().skip(1);
    let (Some(input), Some(output)) = (args.next(), args.next()) else {
        eprintln!("usage: supple-bindgen IN.wasm OUT_FOLDER");
        std::process::exit(2);
    };
    let mut bindgen = Bindgen::new();
    bindgen.input_path(&input).out_name("supple").typescript(true).remove_name_section(std::env::var_os("SUPPLE_WASM_NAMES").is_none());
    let written = bindgen.web(true).and_then(|bindgen| bindgen.generate(&output));
    if let Err(error) = written {
        eprintln!("{input}: {error:#}");
        std::process::exit(1);
    }
}
