//! The subset of HTTP/1.1 that the page needs: one request per connection.

use std::io::{self, BufRead, BufReader, Read, Write};

/// Largest line and number of headers of a request.
const MAX_LINE: u64 = 8 * 1024;
const MAX_HEADERS: usize = 64;
/// Largest body, a file to convert.
pub const MAX_BODY: usize = 512 * 1024 * 1024;

/// A request. Header names are in lower case.
#[derive(Debug, Default)]
pub struct Request {
    /// GET, HEAD, POST …
    pub method: String,
    /// Path as sent, without the query.
    pub path: String,
    /// The body.
    pub body: Vec<u8>,
    headers: Vec<(String, String)>,
}

impl Request {
    /// A header's value.
    pub fn header(&self, name: &str) -> Option<&str> {
        let found = self.headers.iter().find(|(known, _)| known == name);
        found.map(|(_, value)| value.as_str())
    }
}

/// A response.
#[derive(Debug)]
pub struct Response {
    /// Status code.
    pub status: u16,
    /// Content type.
    pub kind: &'static str,
    /// The body.
    pub body: Vec<u8>,
    /// An additional header.
    pub extra: Option<(&'static str, String)>,
}

impl Response {
    /// A plain text response.
    pub fn text(status: u16, text: impl Into<String>) -> Self {
        Self {
            status,
            kind: "text/plain; charset=utf-8",
            body: text.into().into_bytes(),
            extra: None,
        }
    }

    /// A response with the given content type.
    pub fn bytes(body: Vec<u8>, kind: &'static str) -> Self {
        Self {
            status: 200,
            kind,
            body,
            extra: None,
        }
    }
}

/// Reads a request. `allows` checks it before the body is read and returns the response that rejects it.
pub fn read_request(
    stream: impl Read,
    allows: impl Fn(&Request) -> Result<(), Response>,
) -> io::Result<Result<Request, Response>> {
    let mut reader = BufReader::new(stream);
    let Some(first) = read_line(&mut reader)? else {
        return Ok(Err(Response::text(400, "empty request")));
    };
    let mut words = first.split(' ');
    let (Some(method), Some(target), Some(version), None) =
        (words.next(), words.next(), words.next(), words.next())
    else {
        return Ok(Err(Response::text(400, "invalid request line")));
    };
    if !version.starts_with("HTTP/1.") {
        return Ok(Err(Response::text(
            505,
            "only HTTP/1.0 and HTTP/1.1 are supported",
        )));
    }
    let mut request = Request {
        method: method.to_owned(),
        path: target.split('?').next().unwrap_or_default().to_owned(),
        ..Request::default()
    };
    loop {
        match read_line(&mut reader)? {
            None => return Ok(Err(Response::text(400, "the request is incomplete"))),
            Some(line) if line.is_empty() => break,
            Some(_) if request.headers.len() == MAX_HEADERS => {
                return Ok(Err(Response::text(431, "too many headers")));
            }
            Some(line) => match line.split_once(':') {
                Some((name, value)) => {
                    let name = name.trim().to_ascii_lowercase();
                    request.headers.push((name, value.trim().to_owned()));
                }
                None => return Ok(Err(Response::text(400, "invalid header"))),
            },
        }
    }
    if let Err(refusal) = allows(&request) {
        return Ok(Err(refusal));
    }
    let length = match request.header("content-length").map(str::parse::<usize>) {
        None => 0,
        Some(Ok(length)) if length <= MAX_BODY => length,
        Some(_) => return Ok(Err(Response::text(413, "the request body is too large"))),
    };
    // Memory grows with the received data, not with the declared length.
    reader.take(length as u64).read_to_end(&mut request.body)?;
    if request.body.len() < length {
        return Ok(Err(Response::text(400, "the request is incomplete")));
    }
    Ok(Ok(request))
}

fn read_line(reader: &mut impl BufRead) -> io::Result<Option<String>> {
    let mut line = Vec::new();
    reader.take(MAX_LINE).read_until(b'\n', &mut line)?;
    if line.pop() != Some(b'\n') {
        return Ok(None);
    }
    if line.last() == Some(&b'\r') {
        line.pop();
    }
    Ok(String::from_utf8(line).ok())
}

/// Writes a response and announces that the connection closes.
pub fn write_response(
    mut stream: impl Write,
    response: &Response,
    with_body: bool,
) -> io::Result<()> {
    let mut head = format!(
        "HTTP/1.1 {} {}\r\ncontent-type: {}\r\ncontent-length: {}\r\nconnection: close\r\n",
        response.status,
        reason(response.status),
        response.kind,
        response.body.len()
    );
    // The page loads nothing from elsewhere, and no other page may embed or read it.
    head.push_str(
        "cache-control: no-store\r\nx-content-type-options: nosniff\r\ncross-origin-resource-policy: same-origin\r\n\
         cross-origin-opener-policy: same-origin\r\nreferrer-policy: no-referrer\r\nx-frame-options: DENY\r\n\
         content-security-policy: default-src 'self'; script-src 'self' 'wasm-unsafe-eval'; worker-src 'self' blob:; \
         img-src 'self' data: blob:; media-src 'self' blob:; style-src 'self' 'unsafe-inline'; connect-src 'self' blob:; \
         frame-ancestors 'none'\r\n",
    );
    if let Some((name, value)) = &response.extra {
        head.push_str(&format!("{name}: {value}\r\n"));
    }
    head.push_str("\r\n");
    stream.write_all(head.as_bytes())?;
    if with_body {
        stream.write_all(&response.body)?;
    }
    stream.flush()
}

fn reason(status: u16) -> &'static str {
    match status {
        200 => "OK",
        400 => "Bad Request",
        403 => "Forbidden",
        404 => "Not Found",
        405 => "Method Not Allowed",
        413 => "Content Too Large",
        422 => "Unprocessable Content",
        431 => "Request Header Fields Too Large",
        503 => "Service Unavailable",
        _ => "Error",
    }
}
