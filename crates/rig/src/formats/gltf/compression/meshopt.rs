//! The codecs of `KHR_meshopt_compression` and `EXT_meshopt_compression`: attributes, triangles, indices.
//!
//! Written from appendix A of the extension's specification, whose words are used for its parts.

/// Elements that are decoded together.
const GROUP: usize = 16;
/// Largest number of elements of a block.
const MAX_BLOCK: usize = 256;
/// Largest number of bytes of a block.
const MAX_BLOCK_BYTES: usize = 8192;

/// Reads bytes from the front.
struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    fn take(&mut self, count: usize) -> Option<&'a [u8]> {
        let (front, rest) = self.0.split_at_checked(count)?;
        self.0 = rest;
        Some(front)
    }

    fn byte(&mut self) -> Option<u8> {
        Some(self.take(1)?[0])
    }

    /// An unsigned LEB128 of at most five bytes; extra bits are ignored.
    fn varint(&mut self) -> Option<u32> {
        let mut value = 0u32;
        for shift in [0, 7, 14, 21, 28] {
            let byte = self.byte()?;
            value |= u32::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                return Some(value);
            }
        }
        None
    }
}

fn zigzag32(v: u32) -> u32 {
    (v >> 1) ^ (v & 1).wrapping_neg()
}

/// Mode 0: `count` elements of `stride` bytes. `None` if the stream is invalid.
pub(super) fn attributes(stream: &[u8], count: usize, stride: usize) -> Option<Vec<u8>> {
    if stride == 0 || !stride.is_multiple_of(4) || stride > 256 {
        return None;
    }
    let (version, padding) = match stream.first()? {
        0xa0 => (0, 32),
        0xa1 => (1, 24),
        _ => return None,
    };
    let tail = stride + version * stride / 4;
    let end = stream.len().checked_sub(tail.max(padding))?;
    let mut body = Reader(stream.get(1..end)?);
    let (baseline, channels) = stream[stream.len() - tail..].split_at(stride);
    let valid =
        |&channel: &u8| matches!(channel & 15, 0 | 1) && channel >> 4 == 0 || channel & 15 == 2;
    if !channels.iter().all(valid) {
        return None;
    }
    let block = ((MAX_BLOCK_BYTES / stride) & !(GROUP - 1)).min(MAX_BLOCK);
    // No block is shorter than its headers: a short stream does not hold many elements.
    let headers = match version {
        0 => stride,
        _ => stride / 4,
    };
    if count.div_ceil(block).saturating_mul(headers) > body.0.len() {
        return None;
    }
    let mut out = vec![0; count.checked_mul(stride)?];
    let mut previous = baseline.to_vec();
    let mut deltas = vec![0; MAX_BLOCK * stride];
    for block in out.chunks_mut(block * stride) {
        let elements = block.len() / stride;
        let controls = body.take(version * stride / 4)?;
        for (k, row) in deltas.chunks_exact_mut(MAX_BLOCK).enumerate() {
            let control = controls.get(k / 4).map(|byte| byte >> (2 * (k % 4)) & 3);
            data_block(&mut body, control, elements, row)?;
        }
        for (k, element) in block.chunks_exact_mut(stride).enumerate() {
            for at in (0..stride).step_by(4) {
                let delta = [0, 1, 2, 3].map(|byte| deltas[(at + byte) * MAX_BLOCK + k]);
                let channel = channels.get(at / 4).copied().unwrap_or(0);
                let before = &mut previous[at..at + 4];
                undo_delta(channel, delta, before);
                element[at..at + 4].copy_from_slice(before);
            }
        }
    }
    body.0.is_empty().then_some(out)
}

/// The deltas of one byte of all elements of a block. `control` is `None` in version 0.
fn data_block(
    body: &mut Reader,
    control: Option<u8>,
    elements: usize,
    row: &mut [u8],
) -> Option<()> {
    let bits: [u8; 4] = match control {
        None => [0, 2, 4, 8],
        Some(0) => [0, 1, 2, 4],
        Some(1) => [1, 2, 4, 8],
        Some(2) => {
            row.fill(0);
            return Some(());
        }
        Some(_) => {
            row[..elements].copy_from_slice(body.take(elements)?);
            return Some(());
        }
    };
    let groups = elements.div_ceil(GROUP);
    let header = body.take(groups.div_ceil(4))?;
    for (group, deltas) in row.chunks_exact_mut(GROUP).take(groups).enumerate() {
        let mode = header[group / 4] >> (2 * (group % 4)) & 3;
        match bits[usize::from(mode)] {
            0 => deltas.fill(0),
            8 => deltas.copy_from_slice(body.take(GROUP)?),
            bits => sentinels(body, bits, deltas)?,
        }
    }
    Some(())
}

/// Deltas of 1, 2 or 4 bits. All bits set: the delta is a byte that follows the packed ones.
fn sentinels(body: &mut Reader, bits: u8, deltas: &mut [u8]) -> Option<()> {
    let packed = body.take(GROUP * usize::from(bits) / 8)?;
    let per_byte = usize::from(8 / bits);
    let mask = (1u8 << bits) - 1;
    for (k, delta) in deltas.iter_mut().enumerate() {
        let place = (k % per_byte) as u8 * bits;
        let shift = if bits == 1 { place } else { 8 - bits - place };
        let value = packed[k / per_byte] >> shift & mask;
        *delta = if value == mask { body.byte()? } else { value };
    }
    Some(())
}

/// Adds a delta to the four bytes of a channel of the element before.
fn undo_delta(channel: u8, delta: [u8; 4], value: &mut [u8]) {
    match channel & 15 {
        0 => {
            for (value, delta) in value.iter_mut().zip(delta) {
                *value = value.wrapping_add((delta >> 1) ^ (delta & 1).wrapping_neg());
            }
        }
        1 => {
            for (value, delta) in value.chunks_exact_mut(2).zip(delta.chunks_exact(2)) {
                let delta = u16::from_le_bytes([delta[0], delta[1]]);
                let before = u16::from_le_bytes([value[0], value[1]]);
                let sum = before.wrapping_add((delta >> 1) ^ (delta & 1).wrapping_neg());
                value.copy_from_slice(&sum.to_le_bytes());
            }
        }
        _ => {
            let turned = u32::from_le_bytes(delta).rotate_right(u32::from(channel >> 4));
            for (value, delta) in value.iter_mut().zip(turned.to_le_bytes()) {
                *value ^= delta;
            }
        }
    }
}

/// The last 16 entries pushed, newest first.
struct Fifo<T>([Option<T>; 16]);

impl<T: Copy> Fifo<T> {
    fn push(&mut self, entry: T) {
        self.0.rotate_right(1);
        self.0[0] = Some(entry);
    }

    fn get(&self, back: u8) -> Option<T> {
        *self.0.get(usize::from(back))?
    }
}

/// Mode 1: `count` indices of a triangle list. `None` if the stream is invalid.
pub(super) fn triangles(stream: &[u8], count: usize) -> Option<Vec<u32>> {
    if *stream.first()? != 0xe1 || !count.is_multiple_of(3) {
        return None;
    }
    let end = stream.len().checked_sub(16)?;
    let mut body = Reader(stream.get(1..end)?);
    let codes = body.take(count / 3)?;
    let mut decoder = Triangles {
        data: body,
        table: &stream[end..],
        next: 0,
        last: 0,
        edges: Fifo([None; 16]),
        vertices: Fifo([None; 16]),
    };
    let mut out = Vec::with_capacity(count);
    for &code in codes {
        out.extend(decoder.triangle(code)?);
    }
    decoder.data.0.is_empty().then_some(out)
}

struct Triangles<'a> {
    data: Reader<'a>,
    /// `codeaux` of the specification.
    table: &'a [u8],
    next: u32,
    last: u32,
    edges: Fifo<(u32, u32)>,
    vertices: Fifo<u32>,
}

impl Triangles<'_> {
    fn triangle(&mut self, code: u8) -> Option<[u32; 3]> {
        match (code >> 4, code & 15) {
            (0xf, kind) => self.loose(kind),
            (edge, third) => {
                let (a, b) = self.edges.get(edge)?;
                let c = match third {
                    0 => self.new_vertex(),
                    1..=0xc => self.vertices.get(third)?,
                    0xd => self.beside(u32::MAX),
                    0xe => self.beside(1),
                    _ => self.explicit()?,
                };
                if !matches!(third, 1..=0xc) {
                    self.vertices.push(c);
                }
                self.edges.push((c, b));
                self.edges.push((a, c));
                Some([a, b, c])
            }
        }
    }

    /// A triangle without a known edge.
    fn loose(&mut self, kind: u8) -> Option<[u32; 3]> {
        let table = kind < 0xe;
        let corners = match table {
            true => *self.table.get(usize::from(kind))?,
            false => self.data.byte()?,
        };
        if !table && corners == 0 {
            self.next = 0;
        }
        let a = match kind {
            0xf => self.explicit()?,
            _ => self.new_vertex(),
        };
        let (z, w) = (corners >> 4, corners & 15);
        let b = self.corner(z, table)?;
        let c = self.corner(w, table)?;
        for edge in [(b, a), (c, b), (a, c)] {
            self.edges.push(edge);
        }
        self.vertices.push(a);
        for (code, vertex) in [(z, b), (w, c)] {
            if code == 0 || code == 0xf {
                self.vertices.push(vertex);
            }
        }
        Some([a, b, c])
    }

    fn corner(&mut self, code: u8, table: bool) -> Option<u32> {
        match code {
            0 => Some(self.new_vertex()),
            0xf if table => None,
            0xf => self.explicit(),
            _ => self.vertices.get(code - 1),
        }
    }

    fn new_vertex(&mut self) -> u32 {
        let vertex = self.next;
        self.next = self.next.wrapping_add(1);
        vertex
    }

    fn beside(&mut self, step: u32) -> u32 {
        self.last = self.last.wrapping_add(step);
        self.last
    }

    fn explicit(&mut self) -> Option<u32> {
        let delta = zigzag32(self.data.varint()?);
        Some(self.beside(delta))
    }
}

/// Mode 2: `count` indices. `None` if the stream is invalid.
pub(super) fn indices(stream: &[u8], count: usize) -> Option<Vec<u32>> {
    if *stream.first()? != 0xd1 {
        return None;
    }
    let end = stream.len().checked_sub(4)?;
    let mut body = Reader(stream.get(1..end)?);
    // Every index takes a byte or more.
    if count > body.0.len() {
        return None;
    }
    let mut last = [0u32; 2];
    let mut out = Vec::with_capacity(count);
    for _ in 0..count {
        let value = body.varint()?;
        let baseline = &mut last[(value & 1) as usize];
        *baseline = baseline.wrapping_add(zigzag32(value >> 1));
        out.push(*baseline);
    }
    body.0.is_empty().then_some(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sentinels_of_the_specification() {
        // The example of the specification: 16 deltas of 4 bits, two of them as bytes.
        let bytes = [0x17, 0x5f, 0xf0, 0xbc, 0x77, 0xa9, 0x21, 0x00, 0x34, 0xb5];
        let mut deltas = [0; 16];
        let mut body = Reader(&bytes);
        sentinels(&mut body, 4, &mut deltas).unwrap();
        assert!(body.0.is_empty());
        let signed = deltas.map(|v| ((v >> 1) ^ (v & 1).wrapping_neg()) as i8);
        assert_eq!(
            signed,
            [-1, -4, -3, 26, -91, 0, -6, 6, -4, -4, 5, -5, 1, -1, 0, 0]
        );
    }

    #[test]
    fn varints_of_the_specification() {
        for (bytes, value) in [
            (&[0x7f][..], 0x7f),
            (&[0x81, 0x04], 0x201),
            (&[0xff, 0xa0, 0x05], 0x7f | 0x20 << 7 | 0x05 << 14),
        ] {
            assert_eq!(Reader(bytes).varint(), Some(value));
        }
        assert!(Reader(&[0xff; 6]).varint().is_none());
        assert!(Reader(&[0x80]).varint().is_none());
    }

    #[test]
    fn a_quad_of_two_triangles() {
        // Three new vertices through the table, then the edge (c, b) with a new vertex.
        let mut stream = vec![0xe1, 0xf0, 0x10];
        stream.extend([0; 16]);
        assert_eq!(triangles(&stream, 6).unwrap(), [0, 1, 2, 2, 1, 3]);
        // An edge that was never written, a truncated stream, a byte too many.
        stream[1] = 0x00;
        assert!(triangles(&stream, 6).is_none());
        assert!(triangles(&stream[..10], 6).is_none());
        stream[1] = 0xf0;
        stream.insert(3, 0);
        assert!(triangles(&stream, 6).is_none());
    }

    #[test]
    fn indices_have_two_baselines() {
        // +1 on baseline 0, +5 on baseline 1, +1 on baseline 0.
        let stream = [0xd1, 1 << 2, 5 << 2 | 1, 1 << 2, 0, 0, 0, 0];
        assert_eq!(indices(&stream, 3).unwrap(), [1, 5, 2]);
        assert!(indices(&stream, 4).is_none());
        assert!(indices(&stream, usize::MAX).is_none());
    }

    #[test]
    fn literal_deltas_of_version_1() {
        // One channel: bytes 0 and 1 as they are, bytes 2 and 3 zero; two elements from the baseline 10, 20, 30, 40.
        let mut stream = vec![0xa1, 0b1010_1111, 2, 4, 1, 3];
        stream.extend([0; 19]);
        stream.extend([10, 20, 30, 40, 0]);
        let decoded = attributes(&stream, 2, 4).unwrap();
        assert_eq!(decoded, [11, 19, 30, 40, 13, 17, 30, 40]);
        assert!(attributes(&stream, 3, 4).is_none());
        assert!(attributes(&stream, 2, 3).is_none());
        assert!(attributes(&[0xa1], 2, 4).is_none());
    }
}
