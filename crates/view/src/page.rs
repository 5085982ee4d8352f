//! The page's files, embedded if `dist` existed when the program was built.

/// Path below the page's root, and content.
static FILES: &[(&str, &[u8])] = include!(concat!(env!("OUT_DIR"), "/page.rs"));

/// Shown if the page was not built.
const MISSING: &str = "<!doctype html><meta charset=utf-8><title>Supple</title>\
    <body style=\"font:16px/1.5 system-ui;max-width:40em;margin:4em auto\"><h1>The page is not built</h1>\
    <p>This program was built without the page. To build it, with Node 20 or newer:</p>\
    <pre>cd viewer &amp;&amp; npm install &amp;&amp; npm run build\ncd .. &amp;&amp; cargo build --release</pre>";

/// Whether the page is embedded.
pub fn is_built() -> bool {
    FILES.iter().any(|&(name, _)| name == "index.html")
}

/// A file of the page by request path, with its content type.
pub fn file(path: &str) -> Option<(&'static [u8], &'static str)> {
    let name = match path.strip_prefix('/')? {
        "" => "index.html",
        name => name,
    };
    if name == "index.html" && !is_built() {
        return Some((MISSING.as_bytes(), "text/html; charset=utf-8"));
    }
    let &(name, bytes) = FILES.iter().find(|&&(known, _)| known == name)?;
    Some((bytes, kind(name)))
}

fn kind(name: &str) -> &'static str {
    match name.rsplit_once('.').map_or("", |(_, ending)| ending) {
        "html" => "text/html; charset=utf-8",
        "js" => "text/javascript; charset=utf-8",
        "css" => "text/css; charset=utf-8",
        "wasm" => "application/wasm",
        "json" => "application/json",
        "svg" => "image/svg+xml",
        "png" => "image/png",
        _ => "application/octet-stream",
    }
}
