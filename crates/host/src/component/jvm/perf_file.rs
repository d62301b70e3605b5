//! Parser of HotSpot's counter file, version 2 (perfMemory.hpp of OpenJDK): a header of 32 bytes, then entries, each with a
//! header of 20 bytes, its name and its value.

use std::collections::BTreeMap;

/// The first four bytes, in this order on every machine.
const MAGIC: [u8; 4] = [0xca, 0xfe, 0xc0, 0xc0];

/// Offsets of the fields of the file header.
const BYTE_ORDER: usize = 4;
const MAJOR_VERSION: usize = 5;
const ACCESSIBLE: usize = 7;
const ENTRY_OFFSET: usize = 24;
const ENTRIES: usize = 28;

/// Offsets of the fields of an entry, from its beginning.
const NAME_OFFSET: usize = 4;
const LENGTH: usize = 8;
const TYPE: usize = 12;
const VALUE_OFFSET: usize = 16;
const ENTRY_HEAD_BYTES: usize = 20;

/// The value of one counter.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Value {
    /// A number. Negative numbers mean "not known" and are left out.
    Number(u64),
    Text(String),
}

impl Value {
    pub(super) fn number(&self) -> Option<u64> {
        if let Self::Number(number) = self { Some(*number) } else { None }
    }

    pub(super) fn text(&self) -> Option<&str> {
        if let Self::Text(text) = self { Some(text) } else { None }
    }
}

/// Parses all counters of the file, by name.
///
/// # Errors
/// When it is another kind of file, has another version, or its JVM has not filled it yet.
pub(super) fn values(bytes: &[u8]) -> Result<BTreeMap<String, Value>, &'static str> {
    if bytes.get(..4) != Some(&MAGIC) {
        return Err("not a file of HotSpot's counters");
    }
    if bytes.get(MAJOR_VERSION) != Some(&2) {
        return Err("its version is not 2, the only one that is known");
    }
    if bytes.get(ACCESSIBLE) != Some(&1) {
        return Err("the JVM is only starting");
    }
    let file = File { bytes, little: bytes[BYTE_ORDER] == 1 };
    file.entries().ok_or("it is cut short")
}

struct File<'a> {
    bytes: &'a [u8],
    little: bool,
}

impl File<'_> {
    fn entries(&self) -> Option<BTreeMap<String, Value>> {
        let mut values = BTreeMap::new();
        let mut at = self.number(ENTRY_OFFSET)?;
        for _ in 0..self.number(ENTRIES)? {
            // Name and value must lie within their entry: overlapping entries could make the result many times as large as the file.
            let length = self.number(at).filter(|length| *length >= ENTRY_HEAD_BYTES)?;
            let entry = File { bytes: self.bytes.get(at..at.checked_add(length)?)?, ..*self };
            let name = entry.text(entry.number(NAME_OFFSET)?)?;
            if let Some(value) = entry.value() {
                values.insert(name, value);
            }
            at += length;
        }
        Some(values)
    }

    /// Returns the value of the entry that `self` holds.
    fn value(&self) -> Option<Value> {
        let at = self.number(VALUE_OFFSET)?;
        match (self.bytes.get(TYPE)?, self.number(LENGTH)?) {
            (b'J', 0) => {
                let eight: [u8; 8] = self.bytes.get(at..at.checked_add(8)?)?.try_into().ok()?;
                let number = if self.little { i64::from_le_bytes(eight) } else { i64::from_be_bytes(eight) };
                Some(Value::Number(u64::try_from(number).ok()?))
            }
            (b'B', _) => Some(Value::Text(self.text(at)?)),
            _ => None,
        }
    }

    /// Reads four bytes as an offset, a length or a count.
    fn number(&self, at: usize) -> Option<usize> {
        let four: [u8; 4] = self.bytes.get(at..at.checked_add(4)?)?.try_into().ok()?;
        let number = if self.little { u32::from_le_bytes(four) } else { u32::from_be_bytes(four) };
        usize::try_from(number).ok()
    }

    /// Reads a text up to its zero byte.
    fn text(&self, at: usize) -> Option<String> {
        let rest = self.bytes.get(at..)?;
        let end = rest.iter().position(|byte| *byte == 0)?;
        Some(String::from_utf8_lossy(&rest[..end]).into_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A file with one number, `a.b` = 7.
    fn file() -> Vec<u8> {
        let mut bytes = MAGIC.to_vec();
        bytes.extend([1, 2, 0, 1]);
        bytes.extend([0; 16]);
        bytes.extend(32_u32.to_le_bytes());
        bytes.extend(1_u32.to_le_bytes());
        for part in [40_u32, 20, 0] {
            bytes.extend(part.to_le_bytes());
        }
        bytes.extend([b'J', 0, 0, 0]);
        bytes.extend(32_u32.to_le_bytes());
        bytes.extend(b"a.b\0\0\0\0\0\0\0\0\0");
        bytes.extend(7_u64.to_le_bytes());
        bytes
    }

    #[test]
    fn a_number_is_found_by_its_name() {
        assert_eq!(values(&file()).unwrap(), BTreeMap::from([("a.b".to_owned(), Value::Number(7))]));
    }

    #[test]
    fn every_cut_and_every_changed_byte_gives_an_answer_or_an_error() {
        let whole = file();
        for end in 0..whole.len() {
            assert!(values(&whole[..end]).unwrap_or_default().is_empty(), "{end}");
        }
        for (at, byte) in (0..whole.len()).flat_map(|at| [0, 1, 0x7f, 0xff].map(|byte| (at, byte))) {
            let mut changed = whole.clone();
            changed[at] = byte;
            // Whatever comes out, nothing panics and nothing runs for ever.
            drop(values(&changed));
        }
    }

    #[test]
    fn entries_that_overlap_are_refused() {
        let mut bytes = file();
        let entry_bytes = bytes.len() - 32;
        bytes[32..36].copy_from_slice(&(entry_bytes as u32).to_le_bytes());
        assert_eq!(values(&bytes).unwrap().len(), 1);
        bytes.extend(b"name of another entry\0");
        let beyond = entry_bytes as u32;
        bytes[32 + NAME_OFFSET..32 + NAME_OFFSET + 4].copy_from_slice(&beyond.to_le_bytes());
        assert!(values(&bytes).is_err(), "a name beyond its entry");
        for length in [0_u32, 1, 19] {
            let mut short = file();
            short[32..36].copy_from_slice(&length.to_le_bytes());
            assert!(values(&short).is_err(), "{length}");
        }
    }

    #[test]
    fn a_file_that_is_not_filled_yet_says_so() {
        let mut starting = file();
        starting[ACCESSIBLE] = 0;
        assert!(values(&starting).unwrap_err().contains("starting"));
    }
}
