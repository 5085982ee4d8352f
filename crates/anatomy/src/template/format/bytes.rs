//! Numbers as bytes: variable-length integers and floats in planes, as template files hold them.

use glam::Vec3;

/// A file ends before its data does, or holds a value that cannot be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Malformed(pub &'static str);

/// Appends numbers to bytes.
#[derive(Clone, Debug, Default)]
pub struct Writer {
    /// What was written.
    pub bytes: Vec<u8>,
}

impl Writer {
    /// An unsigned integer, seven bits a byte, the lowest first; the top bit says that more follow.
    pub fn unsigned(&mut self, mut value: u64) {
        while value >= 0x80 {
            self.bytes.push(value as u8 | 0x80);
            value >>= 7;
        }
        self.bytes.push(value as u8);
    }

    /// A signed integer: 0, −1, 1, −2, … as 0, 1, 2, 3, …
    pub fn signed(&mut self, value: i64) {
        self.unsigned(((value << 1) ^ (value >> 63)) as u64);
    }

    /// Differences of successive integers.
    pub fn differences(&mut self, values: impl IntoIterator<Item = i64>) {
        let mut last = 0;
        for value in values {
            self.signed(value - last);
            last = value;
        }
    }

    /// Floats, all first bytes, then all second bytes, …: like bytes side by side compress better.
    pub fn floats(&mut self, values: &[f32]) {
        for plane in 0..4 {
            self.bytes
                .extend(values.iter().map(|value| value.to_le_bytes()[plane]));
        }
    }

    /// Points, coordinate by coordinate.
    pub fn points(&mut self, points: &[Vec3]) {
        for axis in 0..3 {
            let values: Vec<f32> = points.iter().map(|point| point[axis]).collect();
            self.floats(&values);
        }
    }

    /// A block: its tag, its length, its bytes.
    pub fn block(&mut self, tag: &[u8; 4], block: Writer) {
        self.bytes.extend(tag);
        self.unsigned(block.bytes.len() as u64);
        self.bytes.extend(block.bytes);
    }
}

/// Takes numbers from bytes. Nothing is allocated for more than the bytes can hold.
#[derive(Clone, Copy, Debug)]
pub struct Reader<'a> {
    /// What is left.
    pub bytes: &'a [u8],
}

impl<'a> Reader<'a> {
    /// The next bytes.
    pub fn take(&mut self, count: usize) -> Result<&'a [u8], Malformed> {
        if count > self.bytes.len() {
            return Err(Malformed("it ends too early"));
        }
        let (taken, left) = self.bytes.split_at(count);
        self.bytes = left;
        Ok(taken)
    }

    /// See [`Writer::unsigned`].
    pub fn unsigned(&mut self) -> Result<u64, Malformed> {
        let mut value = 0u64;
        for shift in (0..64).step_by(7) {
            let byte = self.take(1)?[0];
            value |= u64::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                return Ok(value);
            }
        }
        Err(Malformed("an integer has too many bytes"))
    }

    /// See [`Writer::signed`].
    pub fn signed(&mut self) -> Result<i64, Malformed> {
        let value = self.unsigned()?;
        Ok((value >> 1) as i64 ^ -((value & 1) as i64))
    }

    /// A number of things that take at least one byte each.
    pub fn count(&mut self) -> Result<usize, Malformed> {
        let count = self.unsigned()?;
        match usize::try_from(count) {
            Ok(count) if count <= self.bytes.len() => Ok(count),
            _ => Err(Malformed("a list is longer than the file")),
        }
    }

    /// See [`Writer::differences`].
    pub fn differences(&mut self, count: usize) -> Result<Vec<i64>, Malformed> {
        if count > self.bytes.len() {
            return Err(Malformed("it ends too early"));
        }
        let mut last = 0i64;
        let mut next = || {
            last = last.wrapping_add(self.signed()?);
            Ok(last)
        };
        (0..count).map(|_| next()).collect()
    }

    /// Indices below a limit, as differences.
    pub fn indices(&mut self, count: usize, limit: usize) -> Result<Vec<u32>, Malformed> {
        let indices = self.differences(count)?;
        let checked = indices.into_iter().map(|index| match u32::try_from(index) {
            Ok(index) if (index as usize) < limit => Ok(index),
            _ => Err(Malformed("an index is out of range")),
        });
        checked.collect()
    }

    /// Finite floats. See [`Writer::floats`].
    pub fn floats(&mut self, count: usize) -> Result<Vec<f32>, Malformed> {
        let bytes = self.take(
            count
                .checked_mul(4)
                .ok_or(Malformed("a list is too long"))?,
        )?;
        let value =
            |i: usize| f32::from_le_bytes([0, 1, 2, 3].map(|plane| bytes[plane * count + i]));
        let values: Vec<f32> = (0..count).map(value).collect();
        match values.iter().all(|value| value.is_finite()) {
            true => Ok(values),
            false => Err(Malformed("a number is not finite")),
        }
    }

    /// See [`Writer::points`].
    pub fn points(&mut self, count: usize) -> Result<Vec<Vec3>, Malformed> {
        let [x, y, z] = [
            self.floats(count)?,
            self.floats(count)?,
            self.floats(count)?,
        ];
        let points = x.iter().zip(&y).zip(&z);
        Ok(points.map(|((&x, &y), &z)| Vec3::new(x, y, z)).collect())
    }

    /// The block with this tag, which must be next.
    pub fn block(&mut self, tag: &[u8; 4]) -> Result<Reader<'a>, Malformed> {
        if self.take(4)? != tag {
            return Err(Malformed("a block is missing"));
        }
        let length = self.count()?;
        Ok(Reader {
            bytes: self.take(length)?,
        })
    }

    /// Everything must have been taken.
    pub fn end(self) -> Result<(), Malformed> {
        match self.bytes.is_empty() {
            true => Ok(()),
            false => Err(Malformed("a block is longer than its data")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_come_back() {
        let values = [0, 1, -1, 63, 64, -64, -65, 1 << 40, i64::MAX, i64::MIN];
        let mut writer = Writer::default();
        values.iter().for_each(|&value| writer.signed(value));
        let mut reader = Reader {
            bytes: &writer.bytes,
        };
        for value in values {
            assert_eq!(reader.signed(), Ok(value));
        }
        assert_eq!(reader.end(), Ok(()));
    }

    #[test]
    fn floats_come_back_to_the_bit() {
        let values = [0.0f32, -0.0, 1.5e-38, -3.25, f32::MAX];
        let mut writer = Writer::default();
        writer.floats(&values);
        let mut reader = Reader {
            bytes: &writer.bytes,
        };
        let read = reader.floats(5).unwrap();
        assert!(
            read.iter()
                .zip(&values)
                .all(|(a, b)| a.to_bits() == b.to_bits())
        );
    }

    #[test]
    fn nothing_is_allocated_for_lengths_that_lie() {
        let mut writer = Writer::default();
        writer.unsigned(u64::MAX);
        let reader = Reader {
            bytes: &writer.bytes,
        };
        assert!(reader.clone().count().is_err());
        assert!(reader.clone().floats(usize::MAX).is_err());
        assert!(reader.clone().floats(usize::MAX / 4).is_err());
        assert!(reader.clone().differences(usize::MAX).is_err());
    }
}
