//! `supple view`

use std::process::{Command, Stdio};

use supple_view::{Server, ViewError, is_built};

use crate::args;
use crate::console::{Console, Failure};

/// Serves the page on 127.0.0.1 and opens it in the browser.
pub fn run(args: &args::ViewPage, console: &Console) -> Result<(), Failure> {
    let server = Server::new(args.port, args.file.as_deref()).map_err(|error| match error {
        ViewError::File(error) => error.into(),
        error => Failure {
            error: Box::new(error),
            hint: "choose another port with --port".to_owned(),
        },
    })?;
    let url = server.url();
    if !is_built() {
        console.say(
            "this program was built without the page; to build both, with Node 20 or newer:\n  \
             cd viewer && npm install && npm run build && cd .. && cargo build --release",
        );
    }
    let json = serde_json::json!({ "url": url, "page": is_built() });
    console.result(format!("{url}\npress Ctrl+C to stop"), &json);
    if !args.no_open && !open_browser(&url) {
        console.say("no browser could be opened; open the address above");
    }
    server.run();
    Ok(())
}

/// Opens an address with the system's browser; whether a program was found for it.
fn open_browser(url: &str) -> bool {
    let openers: &[&[&str]] = if cfg!(target_os = "macos") {
        &[&["open"]]
    } else if cfg!(windows) {
        &[&["rundll32", "url.dll,FileProtocolHandler"]]
    } else {
        &[&["xdg-open"], &["gio", "open"]]
    };
    openers.iter().any(|opener| {
        Command::new(opener[0])
            .args(&opener[1..])
            .arg(url)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .is_ok()
    })
}
