//! The server: access control and routes.

use std::io;
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::path::Path;
use std::sync::Arc;

use crate::connections::{Connection, Connections};
use crate::convert::{fbx_to_glb, for_page};
use crate::deadline::Deadline;
use crate::http::{Request, Response, read_request, write_response};
use crate::page;

/// Longest time in which a request arrives completely \[s\]; 512 MB on the loopback take a few.
const REQUEST_SECONDS: u64 = 30;
/// Longest time in which a response is taken \[s\].
const RESPONSE_SECONDS: u64 = 60;

/// Why the page cannot be served.
#[derive(Debug, thiserror::Error)]
pub enum ViewError {
    /// Listening failed.
    #[error("cannot listen on 127.0.0.1 port {port}: {source}; choose another port")]
    Listen {
        /// The requested port; 0 for any.
        port: u16,
        /// The system's error.
        source: io::Error,
    },
    /// The file could not be read.
    #[error(transparent)]
    File(#[from] supple::Error),
}

/// The file that the page opens at start.
#[derive(Clone, Debug)]
pub struct Shown {
    /// Display name.
    pub name: String,
    /// Content sent to the page.
    pub bytes: Vec<u8>,
}

/// The local server.
pub struct Server {
    listener: TcpListener,
    address: SocketAddr,
    shown: Option<Shown>,
}

impl Server {
    /// Listens on 127.0.0.1; port 0 picks a free one. The file is read once, here.
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

    /// The address it listens on.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The URL to open in a browser.
    pub fn url(&self) -> String {
        let query = if self.shown.is_some() {
            "?file=shown"
        } else {
            ""
        };
        format!("http://{}/{query}", self.address)
    }

    /// Serves until the program ends. Accepting never waits for a connection.
    pub fn run(self) {
        let server = Arc::new(self);
        let connections = Connections::default();
        for stream in server.listener.incoming().flatten() {
            let Some(connection) = connections.admit(&stream) else {
                continue;
            };
            let server = Arc::clone(&server);
            std::thread::spawn(move || {
                // A browser may close a connection at any time.
                let _ = server.serve(&stream, &connection);
            });
        }
    }

    fn serve(&self, stream: &TcpStream, connection: &Connection) -> io::Result<()> {
        let incoming = Deadline::after(stream, REQUEST_SECONDS);
        let read = read_request(incoming, |request| self.allows(request))?;
        connection.has_asked();
        let (response, with_body) = match read {
            Ok(request) => (self.answer(&request), request.method != "HEAD"),
            Err(refusal) => (refusal, true),
        };
        let outgoing = Deadline::after(stream, RESPONSE_SECONDS);
        write_response(outgoing, &response, with_body)
    }

    /// Accepts only requests of the server's own page: own host name, and no other site.
    fn allows(&self, request: &Request) -> Result<(), Response> {
        let port = self.address.port();
        let ours = [format!("127.0.0.1:{port}"), format!("localhost:{port}")];
        let refuse = |why: &str| Err(Response::text(403, why));
        match request.header("host") {
            Some(host) if ours.iter().any(|name| name == host) => {}
            _ => return refuse("refused: wrong host name"),
        }
        if let Some(origin) = request.header("origin") {
            let host = origin.strip_prefix("http://").unwrap_or_default();
            if !ours.iter().any(|name| name == host) {
                return refuse("refused: request from another site");
            }
        }
        if let Some("cross-site" | "same-site") = request.header("sec-fetch-site") {
            // Navigating here from another site is allowed, scripts are not.
            if request.header("sec-fetch-mode") != Some("navigate") || request.method != "GET" {
                return refuse("refused: request from another site");
            }
        }
        Ok(())
    }

    fn answer(&self, request: &Request) -> Response {
        match (request.method.as_str(), request.path.as_str()) {
            ("GET" | "HEAD", "/file/shown") => self.file(),
            ("GET" | "HEAD", path) => match page::file(path) {
                Some((bytes, kind)) => Response::bytes(bytes.to_vec(), kind),
                None => Response::text(404, "file not found"),
            },
            // Another site's form cannot send this header without a CORS preflight, which is refused.
            ("POST", "/convert") if request.header("x-supple").is_some() => convert(&request.body),
            ("POST", "/convert") => Response::text(403, "refused: request from another site"),
            _ => Response::text(405, "method not allowed"),
        }
    }

    fn file(&self) -> Response {
        let Some(shown) = &self.shown else {
            return Response::text(404, "no file was given on the command line");
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

/// A name as a header value: percent-encoded except letters, digits and a few marks.
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
