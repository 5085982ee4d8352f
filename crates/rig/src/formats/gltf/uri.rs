//! Relative URIs of buffers and images, restricted to the file's folder.

use std::io::{Error, ErrorKind, Result};
use std::path::{Path, PathBuf};

/// Reads the files that a `.gltf` refers to from its folder. Absolute paths, other schemes, `..` and
/// links that lead outside are refused.
pub fn folder_resolver(folder: impl Into<PathBuf>) -> impl FnMut(&str) -> Result<Vec<u8>> {
    let folder: PathBuf = folder.into();
    move |uri| {
        let path = inside(&folder, uri)?;
        std::fs::read(path)
    }
}

fn inside(folder: &Path, uri: &str) -> Result<PathBuf> {
    let refuse = || {
        let text = format!("'{uri}' points outside the file's folder");
        Error::new(ErrorKind::PermissionDenied, text)
    };
    let relative = relative_path(uri).ok_or_else(refuse)?;
    let folder = match folder.as_os_str().is_empty() {
        true => Path::new("."),
        false => folder,
    };
    let path = folder.join(relative).canonicalize()?;
    match path.starts_with(folder.canonicalize()?) {
        true => Ok(path),
        false => Err(refuse()),
    }
}

/// The path of a plain relative URI.
fn relative_path(uri: &str) -> Option<PathBuf> {
    let decoded = percent_decode(uri)?;
    let plain = !decoded.is_empty()
        && !decoded.starts_with('/')
        && !decoded.contains(['\\', ':', '\0'])
        && decoded.split('/').all(|piece| piece != "..");
    plain.then(|| PathBuf::from(decoded))
}

fn percent_decode(uri: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(uri.len());
    let mut rest = uri.bytes();
    while let Some(byte) = rest.next() {
        if byte != b'%' {
            bytes.push(byte);
            continue;
        }
        let digit = |byte: u8| char::from(byte).to_digit(16);
        let high = digit(rest.next()?)?;
        let low = digit(rest.next()?)?;
        bytes.push((high * 16 + low) as u8);
    }
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_plain_relative_uris_resolve() {
        for uri in [
            "/etc/passwd",
            "../a.bin",
            "a/../../b",
            "%2e%2e/a",
            "file:///a",
            "C:\\a",
            "http://a/b",
            "",
        ] {
            assert_eq!(relative_path(uri), None, "{uri}");
        }
        assert_eq!(relative_path("a%20b/c.bin"), Some("a b/c.bin".into()));
    }

    #[test]
    fn a_link_out_of_the_folder_is_refused() {
        let outer = tempfile::tempdir().unwrap();
        let folder = outer.path().join("in");
        std::fs::create_dir(&folder).unwrap();
        std::fs::write(folder.join("ok.bin"), b"ok").unwrap();
        std::fs::write(outer.path().join("secret"), b"no").unwrap();
        let mut resolve = folder_resolver(&folder);
        assert_eq!(resolve("ok.bin").unwrap(), b"ok");
        assert!(resolve("missing.bin").is_err());
        #[cfg(unix)]
        {
            std::os::unix::fs::symlink(outer.path().join("secret"), folder.join("link")).unwrap();
            assert!(resolve("link").is_err());
        }
    }
}
