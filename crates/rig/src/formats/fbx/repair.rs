//! Repairs binary FBX files whose record lists lack their terminators, as written by Assimp 5.2.
//!
//! A record consists of its end offset, the count and size of its values, its name, its values, and nested records. A
//! nested list ends with an empty record (code.blender.org/2013/08/fbx-binary-file-format-specification).

/// Size of the header: magic, byte order and version.
const HEADER: usize = 27;
const MAGIC: &[u8] = b"Kaydara FBX Binary  \0\x1a\0";
/// Deepest nesting: real files have about ten levels; ufbx stops at 32.
const MAX_DEPTH: usize = 32;

/// The file with a terminator after each list that lacks one. `None` if no list does, or if the file is damaged in
/// another way.
pub(super) fn terminate_lists(bytes: &[u8]) -> Option<Vec<u8>> {
    let mut copy = Copy::new(bytes)?;
    copy.list(HEADER, bytes.len(), 0)?;
    copy.added.then_some(copy.out)
}

/// Whether a binary file ends before its last record does.
pub(super) fn is_cut_off(bytes: &[u8]) -> bool {
    let Some(copy) = Copy::new(bytes) else {
        return false;
    };
    let mut at = HEADER;
    while let Some(next) = copy.number(at) {
        if next <= at || next > bytes.len() {
            return next > bytes.len();
        }
        at = next;
    }
    true
}

struct Copy<'a> {
    bytes: &'a [u8],
    word: usize,
    out: Vec<u8>,
    added: bool,
}

impl<'a> Copy<'a> {
    fn new(bytes: &'a [u8]) -> Option<Self> {
        if !bytes.starts_with(MAGIC) {
            return None;
        }
        let version = u32::from_le_bytes(bytes.get(23..HEADER)?.try_into().ok()?);
        Some(Self {
            bytes,
            // From version 7.5 on, offsets and counts have 64 bits.
            word: if version >= 7500 { 8 } else { 4 },
            out: bytes[..HEADER].to_vec(),
            added: false,
        })
    }

    fn number(&self, at: usize) -> Option<usize> {
        let mut number = [0; 8];
        number[..self.word].copy_from_slice(self.bytes.get(at..at.checked_add(self.word)?)?);
        usize::try_from(u64::from_le_bytes(number)).ok()
    }

    /// Copies the records from `at` on and terminates their list.
    fn list(&mut self, mut at: usize, end: usize, depth: usize) -> Option<()> {
        if depth > MAX_DEPTH {
            return None;
        }
        let mut ended = false;
        while at < end && !ended {
            let next = self.number(at)?;
            ended = next == 0;
            if !ended {
                self.record(at, next, end, depth)?;
                at = next;
            }
        }
        self.added |= !ended;
        self.out.resize(self.out.len() + 3 * self.word + 1, 0);
        Some(())
    }

    fn record(&mut self, at: usize, next: usize, end: usize, depth: usize) -> Option<()> {
        let head = at.checked_add(3 * self.word)?;
        let name = usize::from(*self.bytes.get(head)?);
        let values = self.number(at + 2 * self.word)?;
        let inside = (head + 1 + name).checked_add(values)?;
        if inside > next || next > end {
            return None;
        }
        let start = self.out.len();
        self.out.extend_from_slice(&self.bytes[at..inside]);
        if inside < next {
            self.list(inside, next, depth + 1)?;
        }
        let length = self.out.len() as u64;
        if self.word == 4 && length > u64::from(u32::MAX) {
            return None;
        }
        self.out[start..start + self.word].copy_from_slice(&length.to_le_bytes()[..self.word]);
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A record of version 7.4 at `at`, without values, with or without list terminators.
    fn record(at: usize, name: &str, inside: &[&str], ended: bool) -> Vec<u8> {
        let mut record = vec![0; 12];
        record.push(name.len() as u8);
        record.extend(name.bytes());
        for inner in inside {
            let place = at + record.len();
            record.extend(self::record(place, inner, &[], ended));
        }
        if ended && !inside.is_empty() {
            record.extend([0; 13]);
        }
        let end = (at + record.len()) as u32;
        record[..4].copy_from_slice(&end.to_le_bytes());
        record
    }

    fn file(ended: bool) -> Vec<u8> {
        let mut file = MAGIC.to_vec();
        file.extend(7400u32.to_le_bytes());
        for (name, inside) in [
            ("Head", ["a", "bc"].as_slice()),
            ("Empty", &[]),
            ("Tail", &["d"]),
        ] {
            file.extend(record(file.len(), name, inside, ended));
        }
        file.extend([0; 13]);
        file
    }

    #[test]
    fn missing_terminators_are_added() {
        assert_eq!(terminate_lists(&file(false)), Some(file(true)));
        assert_eq!(terminate_lists(&file(true)), None);
    }

    #[test]
    fn other_damage_is_not_repaired() {
        let file = file(false);
        assert_eq!(terminate_lists(&[]), None);
        assert_eq!(terminate_lists(b"; FBX 7.4.0 project file"), None);
        assert!(!is_cut_off(&file));
        for length in 0..file.len() - 13 {
            let _ = terminate_lists(&file[..length]);
            assert_eq!(is_cut_off(&file[..length]), length >= HEADER, "{length}");
        }
        for at in HEADER..file.len() {
            let mut file = file.clone();
            file[at] = 0xFF;
            let _ = (terminate_lists(&file), is_cut_off(&file));
        }
    }
}
