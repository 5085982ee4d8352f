//! PLY body: numbers as text or binary in either byte order.

use super::super::FormatError;
use super::super::text::Words;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Encoding {
    Text,
    Little,
    Big,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    I8,
    U8,
    I16,
    U16,
    I32,
    U32,
    F32,
    F64,
}

impl Kind {
    /// The type of a name, in the old or the sized notation.
    pub fn named(name: &[u8]) -> Option<Self> {
        Some(match name {
            b"char" | b"int8" => Self::I8,
            b"uchar" | b"uint8" => Self::U8,
            b"short" | b"int16" => Self::I16,
            b"ushort" | b"uint16" => Self::U16,
            b"int" | b"int32" => Self::I32,
            b"uint" | b"uint32" => Self::U32,
            b"float" | b"float32" => Self::F32,
            b"double" | b"float64" => Self::F64,
            _ => return None,
        })
    }

    /// Factor to scale colours to 0..1: floats are fractions, integers fractions of the type's maximum.
    pub fn color_factor(self) -> f64 {
        match self {
            Self::I8 | Self::U8 => 1.0 / 255.0,
            Self::I16 | Self::U16 => 1.0 / 65535.0,
            Self::I32 | Self::U32 => 1.0 / 4_294_967_295.0,
            Self::F32 | Self::F64 => 1.0,
        }
    }
}

pub(super) enum Body<'a> {
    Text(Words<'a>),
    Binary { bytes: &'a [u8], big: bool },
}

impl<'a> Body<'a> {
    pub fn new(encoding: Encoding, bytes: &'a [u8]) -> Self {
        match encoding {
            Encoding::Text => Self::Text(Words::new(bytes, None)),
            Encoding::Little | Encoding::Big => Self::Binary {
                bytes,
                big: encoding == Encoding::Big,
            },
        }
    }

    /// Number of unread bytes.
    pub fn remaining(&self) -> usize {
        match self {
            Self::Text(words) => words.remaining(),
            Self::Binary { bytes, .. } => bytes.len(),
        }
    }

    /// The next number.
    pub fn scalar(&mut self, kind: Kind) -> Result<f64, FormatError> {
        let (bytes, big) = match self {
            Self::Text(words) => return words.number("a value of the body"),
            Self::Binary { bytes, big } => (bytes, *big),
        };
        Ok(match kind {
            Kind::I8 => f64::from(i8::from_le_bytes(take(bytes, big)?)),
            Kind::U8 => f64::from(u8::from_le_bytes(take(bytes, big)?)),
            Kind::I16 => f64::from(i16::from_le_bytes(take(bytes, big)?)),
            Kind::U16 => f64::from(u16::from_le_bytes(take(bytes, big)?)),
            Kind::I32 => f64::from(i32::from_le_bytes(take(bytes, big)?)),
            Kind::U32 => f64::from(u32::from_le_bytes(take(bytes, big)?)),
            Kind::F32 => f64::from(f32::from_le_bytes(take(bytes, big)?)),
            Kind::F64 => f64::from_le_bytes(take(bytes, big)?),
        })
    }

    /// Reads the length of a list, which must not exceed the remaining bytes.
    pub fn count(&mut self, kind: Kind) -> Result<usize, FormatError> {
        let count = self.scalar(kind)?;
        if !(count >= 0.0 && count.fract() == 0.0) {
            return Err(FormatError::invalid(
                "a list",
                format!("{count} is not a valid count"),
            ));
        }
        if count > self.remaining() as f64 {
            return Err(FormatError::Truncated {
                reason: format!("a list declares {count} items, more than the remaining bytes"),
            });
        }
        Ok(count as usize)
    }
}

/// The next `N` bytes, in little-endian order.
fn take<const N: usize>(bytes: &mut &[u8], big: bool) -> Result<[u8; N], FormatError> {
    let (first, rest) = bytes
        .split_first_chunk::<N>()
        .ok_or_else(|| FormatError::Truncated {
            reason: "the body is shorter than the header declares".into(),
        })?;
    *bytes = rest;
    let mut value = *first;
    if big {
        value.reverse();
    }
    Ok(value)
}
