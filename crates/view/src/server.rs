//! Who may ask, and what they get.

use std::io;
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use supple::rig::formats::FormatError;

use crate::convert::{fbx_to_glb, for_page};
use crate::http::{Request, Response, read_request, write_response};
use crate::page;

/// Connections at a time; a browser opens six.
const MOST_CONNECTIONS: usize = 32;
/// Time a connection may stand still.
const PATIENCE: Duration = Duration::from_secs(10);

/// Why the page cannot be served.
#[derive(Debug, thiserror::Error)]
pub enum ViewError {
    /// No port to listen on.
    #[error("cannot listen on 127.0.0.1 port {port}: {source}; choose another with --port")]
    Listen {
        /// The port asked for; 0 is any.
        port: u16,
        /// What the system says.
        source: io::Error,
    },
    /// The file to show.
    #[error(transparent)]
    Format(#[from] FormatError),
}

/// The file that the page shows first.
#[derive(Clone, Debug)]
pub struct Shown {
    /// What to call it.
    pub name: String,
    /// What the page gets.
    pub bytes: Vec<u8>,
}

/// The local server.
pub struct Server {
    listener: TcpListener,
    address: SocketAddr,
    shown: Option<Shown>,
}

impl Server {
    /// Listens on 127.0.0.1; port 0 takes any that is free. The file is read once, here.
    pub fn new(port: u16, file: Option<&Path>) -> Result<Self, ViewError> {
        let shown = match file {
            Some(path) => {
                let (name, bytes) = for_page(path)?;
                Some(Shown { name, bytes })
            }
            None => None,
        };
        let listen = |source| ViewError::Listen { port, source };
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).map_err(listen)?;
        let address = listener.local_addr().map_err(listen)?;
        Ok(Self {
            listener,
            address,
            shown,
        })
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// What to open in a browser.
    pub fn url(&self) -> String {
        let query = if self.shown.is_some() {
            "?file=shown"
        } else {
            ""
        };
        format!("http://{}/{query}", self.address)
    }

    /// Serves until the program ends.
    pub fn run(self) {
        let server = Arc::new(self);
        let open = Arc::new(AtomicUsize::new(0));
        for stream in server.listener.incoming().flatten() {
            if open.fetch_add(1, Ordering::SeqCst) >= MOST_CONNECTIONS {
                open.fetch_sub(1, Ordering::SeqCst);
                continue;
            }
            let (server, open) = (Arc::clone(&server), Arc::clone(&open));
            std::thread::spawn(move || {
                // A browser that hangs up in the middle is no matter of ours.
                let _ = server.serve(&stream);
                open.fetch_sub(1, Ordering::SeqCst);
            });
        }
    }

    fn serve(&self, stream: &TcpStream) -> io::Result<()> {
        stream.set_read_timeout(Some(PATIENCE))?;
        stream.set_write_timeout(Some(PATIENCE))?;
        let (response, with_body) = match read_request(stream, |request| self.allows(request))? {
            Ok(request) => (self.answer(&request), request.method != "HEAD"),
            Err(refusal) => (refusal, true),
        };
        write_response(stream, &response, with_body)
    }

    /// Only our own page may ask: by our own name, and from no other site.
    fn allows(&self, request: &Request) -> Result<(), Response> {
        let port = self.address.port();
        let ours = [format!("127.0.0.1:{port}"), format!("localhost:{port}")];
        let refuse = |why: &str| Err(Response::text(403, why));
        match request.header("host") {
            Some(host) if ours.iter().any(|name| name == host) => {}
            _ => return refuse("asked by a name that is not this server's"),
        }
        if let Some(origin) = request.header("origin") {
            let host = origin.strip_prefix("http://").unwrap_or_default();
            if !ours.iter().any(|name| name == host) {
                return refuse("asked by another site");
            }
        }
        if let Some("cross-site" | "same-site") = request.header("sec-fetch-site") {
            // A link may lead here; a script may not.
            if request.header("sec-fetch-mode") != Some("navigate") || request.method != "GET" {
                return refuse("asked by another site");
            }
        }
        Ok(())
    }

    fn answer(&self, request: &Request) -> Response {
        match (request.method.as_str(), request.path.as_str()) {
            ("GET" | "HEAD", "/file/shown") => self.file(),
            ("GET" | "HEAD", path) => match page::file(path) {
                Some((bytes, kind)) => Response::bytes(bytes.to_vec(), kind),
                None => Response::text(404, "there is no such file"),
            },
            // A form of another site cannot send this header without asking first, and it would be refused.
            ("POST", "/convert") if request.header("x-supple").is_some() => convert(&request.body),
            ("POST", "/convert") => Response::text(403, "asked by another site"),
            _ => Response::text(405, "not offered"),
        }
    }

    fn file(&self) -> Response {
        let Some(shown) = &self.shown else {
            return Response::text(404, "no file was named");
        };
        Response {
            extra: Some(("x-supple-name", escaped(&shown.name))),
            ..Response::bytes(shown.bytes.clone(), "application/octet-stream")
        }
    }
}

fn convert(bytes: &[u8]) -> Response {
    match fbx_to_glb(bytes) {
        Ok(glb) => Response::bytes(glb, "model/gltf-binary"),
        Err(error) => Response::text(422, error.to_string()),
    }
}

/// A name as a header may carry it: percent signs for all but letters, digits and a few marks.
fn escaped(name: &str) -> String {
    name.bytes()
        .map(|byte| match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'.' | b'-' | b'_' => {
                char::from(byte).to_string()
            }
            _ => format!("%{byte:02X}"),
        })
        .collect()
}
