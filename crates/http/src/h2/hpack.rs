//! Header compression (RFC 7541) with tables of size 0: the static table, literals and Huffman.
//!
//! The client's settings forbid a dynamic table. A server may still send literals "with indexing" (they are evicted at once)
//! and acknowledge the size 0; anything that needs a table is an error.

pub use super::error::HpackError;

pub(super) mod fields;
mod huffman;

/// Maximum number of bytes of an integer after its prefix: enough for 32 bits.
const MAX_FURTHER_BYTES: u32 = 5;

/// Decodes header blocks; keeps only scratch memory between them.
#[derive(Debug, Default)]
pub struct Decoder {
    name: Vec<u8>,
    value: Vec<u8>,
}

impl Decoder {
    /// Passes the name and the value of each field of a whole block to `field`.
    ///
    /// # Errors
    ///
    /// [`HpackError`] when the rest of the block cannot be decoded; the fields before it were passed.
    pub fn decode(&mut self, block: &[u8], mut field: impl FnMut(&[u8], &[u8])) -> Result<(), HpackError> {
        let mut rest = block;
        let mut size_allowed = true;
        while let Some(first) = rest.first().copied() {
            match first {
                0x80.. => {
                    let (name, value) = entry(integer(&mut rest, 7)?)?;
                    field(name.as_bytes(), value.as_bytes());
                }
                0x20..=0x3f if size_allowed && integer(&mut rest, 5)? == 0 => continue,
                0x20..=0x3f => return Err(HpackError::TableSize),
                0x40..=0x7f => self.literal(&mut rest, 6, &mut field)?,
                _ => self.literal(&mut rest, 4, &mut field)?,
            }
            size_allowed = false;
        }
        Ok(())
    }

    /// Reads a literal of any kind: with, without or never indexing. They differ only in the length of their index.
    fn literal(
        &mut self,
        rest: &mut &[u8],
        prefix_bits: u8,
        field: &mut impl FnMut(&[u8], &[u8]),
    ) -> Result<(), HpackError> {
        let name = match integer(rest, prefix_bits)? {
            0 => string(rest, &mut self.name)?,
            index => entry(index)?.0.as_bytes(),
        };
        field(name, string(rest, &mut self.value)?);
        Ok(())
    }
}

/// Returns the entry at an index, which counts from 1.
fn entry(index: u32) -> Result<(&'static str, &'static str), HpackError> {
    let at = index.checked_sub(1).ok_or(HpackError::Index)?;
    fields::STATIC.get(at as usize).copied().ok_or(HpackError::Index)
}

/// Reads a string: in place in the block, or decoded from its Huffman code into the scratch memory.
fn string<'a, 'b: 'a>(rest: &mut &'b [u8], scratch: &'a mut Vec<u8>) -> Result<&'a [u8], HpackError> {
    let coded = rest.first().ok_or(HpackError::Cut)? & 0x80 != 0;
    let len = integer(rest, 7)?;
    let (text, after) = rest.split_at_checked(len as usize).ok_or(HpackError::Cut)?;
    *rest = after;
    if !coded {
        return Ok(text);
    }
    huffman::decode(text, scratch)?;
    Ok(scratch)
}

/// Appends a field as an index if the static table contains it, otherwise as a literal without indexing.
pub(crate) fn push(out: &mut Vec<u8>, name: &[u8], value: &[u8]) {
    let whole = |(known, text): &(&str, &str)| known.as_bytes() == name && text.as_bytes() == value;
    match fields::STATIC.iter().position(whole) {
        Some(at) => push_integer(out, 0x80, 7, at + 1),
        None => {
            push_name(out, name);
            push_string(out, value);
        }
    }
}

/// Appends the name of a literal without indexing; its value follows, see [`push_value`].
pub(crate) fn push_name(out: &mut Vec<u8>, name: &[u8]) {
    match fields::STATIC.iter().position(|(known, _)| known.as_bytes() == name) {
        Some(at) => push_integer(out, 0, 4, at + 1),
        None => {
            out.push(0);
            push_string(out, name);
        }
    }
}

/// Appends the value that `write` writes, without surrounding white space. The length that precedes it is inserted afterwards.
pub(crate) fn push_value(out: &mut Vec<u8>, write: impl FnOnce(&mut Vec<u8>)) {
    let start = out.len();
    write(out);
    out.truncate(start + out[start..].trim_ascii_end().len());
    let leading = out.len() - start - out[start..].trim_ascii_start().len();
    if leading > 0 {
        out.copy_within(start + leading.., start);
        out.truncate(out.len() - leading);
    }
    let end = out.len();
    push_integer(out, 0, 7, end - start);
    let length_bytes = out.len() - end;
    out[start..].rotate_right(length_bytes);
}

/// Appends a string without Huffman code: a server reads that fastest, and requests are small.
fn push_string(out: &mut Vec<u8>, text: &[u8]) {
    push_integer(out, 0, 7, text.len());
    out.extend_from_slice(text);
}

/// Reads an integer (RFC 7541 section 5.1). The high bits of its first byte, which belong to something else, are ignored.
fn integer(rest: &mut &[u8], prefix_bits: u8) -> Result<u32, HpackError> {
    let full = (1_u32 << prefix_bits) - 1;
    let prefix = u32::from(next(rest)?) & full;
    if prefix < full {
        return Ok(prefix);
    }
    let mut value = u64::from(full);
    for further in 0..MAX_FURTHER_BYTES {
        let byte = next(rest)?;
        value += u64::from(byte & 0x7f) << (7 * further);
        if byte & 0x80 == 0 {
            return u32::try_from(value).map_err(|_| HpackError::Integer);
        }
    }
    Err(HpackError::Integer)
}

fn next(rest: &mut &[u8]) -> Result<u8, HpackError> {
    let (byte, after) = rest.split_first().ok_or(HpackError::Cut)?;
    *rest = after;
    Ok(*byte)
}

fn push_integer(out: &mut Vec<u8>, pattern: u8, prefix_bits: u8, value: usize) {
    let full = (1_u8 << prefix_bits) - 1;
    if let Ok(small) = u8::try_from(value)
        && small < full
    {
        out.push(pattern | small);
        return;
    }
    out.push(pattern | full);
    let mut left = value - usize::from(full);
    while left >= 0x80 {
        out.push(0x80 | (left & 0x7f) as u8);
        left >>= 7;
    }
    out.push(left as u8);
}
