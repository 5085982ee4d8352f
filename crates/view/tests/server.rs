//! The server as seen by a browser and by another site's page.

use std::io::{Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpStream};
use std::time::Duration;

use supple_view::{Server, is_built};

/// A running server that serves a small mesh.
fn server() -> SocketAddr {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("two words.off");
    std::fs::write(&file, "OFF\n3 1 0\n0 0 0\n1 0 0\n0 1 0\n3 0 1 2\n").unwrap();
    std::fs::write(folder.path().join("secret.txt"), "secret").unwrap();
    let server = Server::new(0, Some(&file)).unwrap();
    let address = server.address();
    std::thread::spawn(move || server.run());
    address
}

/// Status, header and body of the response to raw bytes.
fn ask(address: SocketAddr, request: &str) -> (u16, String, String) {
    let mut stream = TcpStream::connect(address).unwrap();
    stream
        .set_read_timeout(Some(Duration::from_secs(5)))
        .unwrap();
    stream.write_all(request.as_bytes()).unwrap();
    let mut answer = Vec::new();
    // A refused request may be answered before it was read completely.
    let _ = stream.read_to_end(&mut answer);
    let answer = String::from_utf8_lossy(&answer).into_owned();
    let (head, body) = answer.split_once("\r\n\r\n").unwrap_or((&answer, ""));
    let status = head.split(' ').nth(1).and_then(|code| code.parse().ok());
    (status.unwrap_or(0), head.to_owned(), body.to_owned())
}

fn get(address: SocketAddr, path: &str, headers: &str) -> (u16, String, String) {
    let request = format!("GET {path} HTTP/1.1\r\nHost: {address}\r\n{headers}\r\n");
    ask(address, &request)
}

#[test]
fn listens_on_the_loopback_address_only() {
    let server = Server::new(0, None).unwrap();
    assert_eq!(server.address().ip(), Ipv4Addr::LOCALHOST);
    assert!(server.url().starts_with("http://127.0.0.1:"));
    let taken = Server::new(server.address().port(), None);
    assert!(
        taken
            .err()
            .unwrap()
            .to_string()
            .contains("choose another port")
    );
}

#[test]
fn serves_the_page_and_the_named_file() {
    let address = server();
    let (status, head, body) = get(address, "/", "");
    assert_eq!(status, 200);
    assert!(
        head.contains("text/html") && head.contains("content-security-policy"),
        "{head}"
    );
    assert_eq!(body.contains("not built"), !is_built());
    let (status, head, body) = get(address, "/file/shown", "");
    assert_eq!((status, &body[..3]), (200, "OFF"));
    assert!(head.contains("x-supple-name: two%20words.off"), "{head}");
    let (status, _, body) = ask(
        address,
        &format!("HEAD / HTTP/1.1\r\nHost: {address}\r\n\r\n"),
    );
    assert_eq!((status, body.as_str()), (200, ""));
}

#[test]
fn paths_do_not_reach_the_file_system() {
    let address = server();
    for path in [
        "/../Cargo.toml",
        "/..%2f..%2fCargo.toml",
        "/file/secret.txt",
        "/file/../secret.txt",
        "/file/shown/../secret.txt",
        "/file/%2e%2e/secret.txt",
        "//etc/passwd",
        "/etc/passwd",
        "/file//etc/passwd",
        "/C:/Windows/win.ini",
        "/..\\..\\Cargo.toml",
        "/index.html/..",
        "/assets/../index.html",
        "/\u{0}",
        "etc/passwd",
    ] {
        let (status, _, body) = get(address, path, "");
        assert!(status == 404 || status == 400, "{path}: {status} {body}");
        assert!(
            !body.contains("secret") && !body.contains("root:"),
            "{path}"
        );
    }
}

#[test]
fn other_sites_are_refused() {
    let address = server();
    let port = address.port();
    let own = format!("Origin: http://127.0.0.1:{port}\r\nSec-Fetch-Site: same-origin\r\n");
    assert_eq!(get(address, "/", &own).0, 200);
    for headers in [
        "Origin: https://evil.example\r\n".to_owned(),
        "Origin: null\r\n".to_owned(),
        format!("Origin: http://127.0.0.1:{}\r\n", port.wrapping_add(1)),
        format!("Origin: https://127.0.0.1:{port}\r\n"),
        "Sec-Fetch-Site: cross-site\r\nSec-Fetch-Mode: no-cors\r\n".to_owned(),
        "Sec-Fetch-Site: same-site\r\nSec-Fetch-Mode: cors\r\n".to_owned(),
    ] {
        assert_eq!(get(address, "/file/shown", &headers).0, 403, "{headers}");
    }
    // Another name for 127.0.0.1 (DNS rebinding), or none.
    for host in ["Host: evil.example\r\n", "Host: 127.0.0.1\r\n", ""] {
        let request = format!("GET /file/shown HTTP/1.1\r\n{host}\r\n");
        assert_eq!(ask(address, &request).0, 403, "{host}");
    }
    // No CORS header: other sites cannot read responses.
    assert!(
        !get(address, "/", "")
            .1
            .to_lowercase()
            .contains("access-control-allow")
    );
}

#[test]
fn only_the_page_may_convert() {
    let address = server();
    let post = |headers: &str, body: &str| {
        let length = body.len();
        let request = format!(
            "POST /convert HTTP/1.1\r\nHost: {address}\r\nContent-Length: {length}\r\n{headers}\r\n{body}"
        );
        ask(address, &request)
    };
    assert_eq!(post("", "x").0, 403);
    assert_eq!(
        post("X-Supple: 1\r\nOrigin: https://evil.example\r\n", "x").0,
        403
    );
    let (status, _, reason) = post("X-Supple: 1\r\n", "no fbx");
    assert_eq!(status, 422, "{reason}");
    assert!(!reason.is_empty());
    let fbx = include_str!("../../rig/tests/fixtures/tube.fbx");
    let (status, head, body) = post("X-Supple: 1\r\n", fbx);
    assert_eq!(status, 200, "{head} {body}");
    assert!(body.starts_with("glTF"));
}

#[test]
fn invalid_requests_are_rejected() {
    let address = server();
    let long = "x".repeat(20_000);
    for request in [
        "\r\n\r\n".to_owned(),
        "GET\r\n\r\n".to_owned(),
        "GET / SPDY/3\r\n\r\n".to_owned(),
        format!("GET /{long} HTTP/1.1\r\n\r\n"),
        format!(
            "GET / HTTP/1.1\r\nHost: {address}\r\n{}\r\n",
            "a: b\r\n".repeat(100)
        ),
        format!("DELETE / HTTP/1.1\r\nHost: {address}\r\n\r\n"),
        format!(
            "POST /convert HTTP/1.1\r\nHost: {address}\r\nX-Supple: 1\r\nContent-Length: 99999999999\r\n\r\n"
        ),
    ] {
        let (status, ..) = ask(address, &request);
        assert!(
            status == 0 || status >= 400,
            "{status}: {}",
            &request[..request.len().min(60)]
        );
    }
    assert_eq!(get(address, "/", "").0, 200, "still alive");
}

#[test]
fn connections_that_dribble_do_not_lock_others_out() {
    let address = server();
    let head = format!("GET / HTTP/1.1\r\nHost: {address}\r\n");
    let body = format!(
        "POST /convert HTTP/1.1\r\nHost: {address}\r\nX-Supple: 1\r\nContent-Length: 9999\r\n\r\n"
    );
    let slow: Vec<TcpStream> = (0..100)
        .map(|k| {
            let mut stream = TcpStream::connect(address).unwrap();
            let begun = if k % 2 == 0 { &head } else { &body };
            // The server may close it at any time.
            let _ = stream.write_all(begun.as_bytes());
            stream
        })
        .collect();
    for _ in 0..3 {
        assert_eq!(get(address, "/", "").0, 200);
        for mut stream in &slow {
            let _ = stream.write_all(b"x");
        }
    }
}
