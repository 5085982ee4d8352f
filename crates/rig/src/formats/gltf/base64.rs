//! `data:` URIs.

use base64::Engine;
use base64::engine::general_purpose::{STANDARD, STANDARD_NO_PAD};

/// Media type and content of a `data:` URI; `None` if it is another kind of URI or not base64.
pub(super) fn decode_data_uri(uri: &str) -> Option<(&str, Vec<u8>)> {
    let (head, content) = uri.strip_prefix("data:")?.split_once(',')?;
    let media = head.strip_suffix(";base64")?;
    let bytes = STANDARD
        .decode(content)
        .or_else(|_| STANDARD_NO_PAD.decode(content))
        .ok()?;
    Some((media, bytes))
}
