//! Tokenizer of text formats: words and numbers, read from bytes in one pass.

use super::FormatError;

/// A cursor over whitespace-separated words that tracks its line number.
#[derive(Clone)]
pub(super) struct Words<'a> {
    bytes: &'a [u8],
    at: usize,
    line: usize,
    comment: Option<u8>,
}

impl<'a> Words<'a> {
    /// Starts at the first byte. `comment` starts a comment that runs to the end of its line.
    pub fn new(bytes: &'a [u8], comment: Option<u8>) -> Self {
        let bom: &[u8] = b"\xEF\xBB\xBF";
        Self {
            bytes: bytes.strip_prefix(bom).unwrap_or(bytes),
            at: 0,
            line: 1,
            comment,
        }
    }

    /// The current line, from 1.
    pub fn line(&self) -> usize {
        self.line
    }

    /// Number of unread bytes, an upper bound for every count a file declares.
    pub fn remaining(&self) -> usize {
        self.bytes.len() - self.at
    }

    /// The unread bytes.
    pub fn rest(&self) -> &'a [u8] {
        &self.bytes[self.at..]
    }

    /// The next word, on this or a later line.
    pub fn next_word(&mut self) -> Option<&'a [u8]> {
        self.skip_space(true);
        self.take_word()
    }

    /// The next word of this line.
    pub fn next_on_line(&mut self) -> Option<&'a [u8]> {
        self.skip_space(false);
        match self.bytes.get(self.at) {
            Some(b'\n') | None => None,
            Some(_) => self.take_word(),
        }
    }

    /// The next word, without consuming it.
    pub fn peek(&self) -> Option<&'a [u8]> {
        self.clone().next_word()
    }

    /// The rest of this line, trimmed.
    pub fn rest_of_line(&mut self) -> &'a [u8] {
        self.skip_space(false);
        let rest = self.rest();
        let length = rest
            .iter()
            .position(|&byte| byte == b'\n')
            .unwrap_or(rest.len());
        self.at += length;
        rest[..length].trim_ascii()
    }

    /// The next word as a finite number.
    pub fn number(&mut self, what: &str) -> Result<f64, FormatError> {
        let word = self.next_word().ok_or_else(|| FormatError::Truncated {
            reason: format!("{what} is missing"),
        })?;
        self.as_number(word, what)
    }

    /// Three finite numbers.
    pub fn vec3(&mut self, what: &str) -> Result<glam::Vec3, FormatError> {
        let mut values = [0.0f32; 3];
        for value in &mut values {
            *value = self.number(what)? as f32;
        }
        finite(glam::Vec3::from_array(values), || what.to_owned())
    }

    /// A word of this line as a finite number.
    pub fn as_number(&self, word: &[u8], what: &str) -> Result<f64, FormatError> {
        let value = parse_number(word).ok_or_else(|| {
            FormatError::text(
                self.line,
                format!("{what} should be a number, not '{}'", lossy(word)),
            )
        })?;
        if value.is_finite() {
            Ok(value)
        } else {
            Err(FormatError::NotFinite {
                element: format!("{what} on line {}", self.line),
            })
        }
    }

    /// The next word as a count or index.
    pub fn count(&mut self, what: &str) -> Result<usize, FormatError> {
        let word = self.next_word().ok_or_else(|| FormatError::Truncated {
            reason: format!("{what} is missing"),
        })?;
        std::str::from_utf8(word)
            .ok()
            .and_then(|word| word.parse().ok())
            .ok_or_else(|| {
                FormatError::text(
                    self.line,
                    format!("{what} should be a whole number, not '{}'", lossy(word)),
                )
            })
    }

    /// Refuses a declared count that does not fit into the remaining bytes at `least` bytes per item.
    pub fn check_fits(&self, count: usize, least: usize, what: &str) -> Result<(), FormatError> {
        if count <= self.remaining() / least + 1 {
            return Ok(());
        }
        Err(FormatError::Truncated {
            reason: format!(
                "the file declares {count} {what}, more than the {} bytes after line {} can hold",
                self.remaining(),
                self.line
            ),
        })
    }

    fn skip_space(&mut self, over_lines: bool) {
        while let Some(&byte) = self.bytes.get(self.at) {
            if byte == b'\n' {
                if !over_lines {
                    return;
                }
                self.line += 1;
            } else if Some(byte) == self.comment {
                let rest = self.rest();
                self.at += rest
                    .iter()
                    .position(|&byte| byte == b'\n')
                    .unwrap_or(rest.len());
                continue;
            } else if !is_space(byte) {
                return;
            }
            self.at += 1;
        }
    }

    fn take_word(&mut self) -> Option<&'a [u8]> {
        let rest = self.rest();
        let length = rest
            .iter()
            .position(|&byte| is_space(byte))
            .unwrap_or(rest.len());
        self.at += length;
        (length > 0).then(|| &rest[..length])
    }
}

/// Whitespace of text formats. Includes NUL, which some exporters use as padding.
pub(super) fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\r' | b'\n' | 0x0B | 0x0C | 0)
}

/// Text for messages and names, truncated.
pub(super) fn lossy(bytes: &[u8]) -> String {
    const MAX_LENGTH: usize = 120;
    let text = String::from_utf8_lossy(&bytes[..bytes.len().min(MAX_LENGTH)]);
    if bytes.len() > MAX_LENGTH {
        format!("{text}…")
    } else {
        text.into_owned()
    }
}

/// The value, if all its components are finite.
pub(super) fn finite(
    value: glam::Vec3,
    element: impl FnOnce() -> String,
) -> Result<glam::Vec3, FormatError> {
    if value.is_finite() {
        Ok(value)
    } else {
        Err(FormatError::NotFinite { element: element() })
    }
}

/// Parses a whole word as a decimal number, including the spellings of NaN and infinity.
pub(super) fn parse_number(word: &[u8]) -> Option<f64> {
    let mut at = 0;
    match scan_number(word, &mut at) {
        Some(value) if at == word.len() => Some(value),
        _ => std::str::from_utf8(word).ok()?.parse().ok(),
    }
}

/// Parses a plain decimal number at `at` and advances it. `None` if there is none or the general parser is needed.
///
/// Exact for up to 15 digits and small exponents: then mantissa and power of ten are exact in f64, and one operation
/// rounds once (Clinger 1990, fast path).
pub(super) fn scan_number(bytes: &[u8], at: &mut usize) -> Option<f64> {
    const POWERS: [f64; 23] = [
        1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16,
        1e17, 1e18, 1e19, 1e20, 1e21, 1e22,
    ];
    let mut i = *at;
    let negative = bytes.get(i) == Some(&b'-');
    if negative || bytes.get(i) == Some(&b'+') {
        i += 1;
    }
    let mut mantissa: u64 = 0;
    let start = i;
    i = digits(bytes, i, &mut mantissa);
    let mut count = i - start;
    let mut exponent: i32 = 0;
    if bytes.get(i) == Some(&b'.') {
        let point = i + 1;
        i = digits(bytes, point, &mut mantissa);
        count += i - point;
        exponent = -i32::try_from(i - point).ok()?;
    }
    if count == 0 || count > 18 {
        return None;
    }
    if matches!(bytes.get(i), Some(b'e' | b'E')) {
        let sign = bytes.get(i + 1).copied();
        let first = i + 1 + usize::from(matches!(sign, Some(b'-' | b'+')));
        let mut power: u64 = 0;
        let end = digits(bytes, first, &mut power);
        if end == first || end - first > 4 {
            return None;
        }
        exponent += if sign == Some(b'-') {
            -(power as i32)
        } else {
            power as i32
        };
        i = end;
    }
    let power = *POWERS.get(exponent.unsigned_abs() as usize)?;
    let value = mantissa as f64;
    let value = if exponent < 0 {
        value / power
    } else {
        value * power
    };
    *at = i;
    Some(if negative { -value } else { value })
}

fn digits(bytes: &[u8], mut at: usize, value: &mut u64) -> usize {
    while let Some(digit) = bytes.get(at).map(|byte| byte.wrapping_sub(b'0'))
        && digit < 10
    {
        *value = value.wrapping_mul(10).wrapping_add(u64::from(digit));
        at += 1;
    }
    at
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_equal_the_standard_parser_in_f32() {
        for text in [
            "0",
            "-0",
            "1",
            "-1.5",
            "+2",
            ".5",
            "5.",
            "1e3",
            "1E-3",
            "1.25e+2",
            "15.0685997009",
            "123456789012345",
            "0.00000000000012345",
            "1e-30",
            "3.4e38",
            "-.0083333",
            "123456789012345678901234567890",
        ] {
            let ours = parse_number(text.as_bytes()).unwrap() as f32;
            assert_eq!(ours, text.parse::<f32>().unwrap(), "{text}");
        }
        for text in ["", "-", ".", "e5", "1e", "abc", "1.2.3", "0x10", "1,5"] {
            assert!(parse_number(text.as_bytes()).is_none(), "{text}");
        }
        assert!(parse_number(b"nan").unwrap().is_nan());
    }

    #[test]
    fn words_know_their_lines() {
        let mut words = Words::new(b"a b # c\r\n\n d", Some(b'#'));
        assert_eq!(words.next_word(), Some(&b"a"[..]));
        assert_eq!(words.next_on_line(), Some(&b"b"[..]));
        assert_eq!(words.next_on_line(), None);
        assert_eq!(words.next_word(), Some(&b"d"[..]));
        assert_eq!(words.line(), 3);
        assert_eq!(words.next_word(), None);
    }
}
