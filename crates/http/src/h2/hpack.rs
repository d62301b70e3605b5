//! Header compression (RFC 7541) with tables of size 0: the static table, literals and Huffman.
//!
//! The client's settings forbid a dynamic table. A server may still write literals «with indexing»
//! (they are evicted at once) and confirm the size 0; anything that needs a table is an error.

use thiserror::Error;

pub(super) mod fields;
mod huffman;
mod integer;

/// A header block that cannot be decompressed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum HpackError {
    /// The block ends within a field.
    #[error("it ends within a field")]
    Cut,
    /// An integer of more than five further bytes or beyond 32 bits (RFC 7541 section 5.1).
    #[error("an integer is too large")]
    Integer,
    /// An index that is in no table: 0, or one of the dynamic table, which is empty (RFC 7541
    /// section 2.3.3).
    #[error("an index points nowhere: expected one of the static table")]
    Index,
    /// A table size above the 0 that was granted, or given after a field (RFC 7541 section 4.2).
    #[error("a table size is out of place: expected 0 before the first field")]
    TableSize,
    /// A Huffman string with the code for its end in it, or with wrong padding (RFC 7541 section
    /// 5.2).
    #[error("a Huffman string is not valid")]
    Huffman,
}

/// Decodes header blocks; holds nothing between them but scratch space.
#[derive(Debug, Default)]
pub struct Decoder {
    name: Vec<u8>,
    value: Vec<u8>,
}

impl Decoder {
    /// A decoder without scratch space yet.
    #[must_use]
    pub const fn new() -> Self {
        Self { name: Vec::new(), value: Vec::new() }
    }

    /// Hands each field of a whole block to `field`, name first.
    ///
    /// # Errors
    ///
    /// [`HpackError`] when the rest of the block cannot be decoded; fields before it were handed on.
    pub fn decode(&mut self, block: &[u8], mut field: impl FnMut(&[u8], &[u8])) -> Result<(), HpackError> {
        let mut rest = block;
        let mut size_allowed = true;
        while let Some(first) = rest.first().copied() {
            match first {
                0x80.. => {
                    let (name, value) = entry(integer::decode(&mut rest, 7)?)?;
                    field(name.as_bytes(), value.as_bytes());
                }
                0x20..=0x3f if size_allowed && integer::decode(&mut rest, 5)? == 0 => continue,
                0x20..=0x3f => return Err(HpackError::TableSize),
                0x40..=0x7f => self.literal(&mut rest, 6, &mut field)?,
                _ => self.literal(&mut rest, 4, &mut field)?,
            }
            size_allowed = false;
        }
        Ok(())
    }

    /// A literal with, without or never to be indexed; they differ only in the length of their index.
    fn literal(
        &mut self,
        rest: &mut &[u8],
        prefix_bits: u8,
        field: &mut impl FnMut(&[u8], &[u8]),
    ) -> Result<(), HpackError> {
        let name = match integer::decode(rest, prefix_bits)? {
            0 => string(rest, &mut self.name)?,
            index => entry(index)?.0.as_bytes(),
        };
        field(name, string(rest, &mut self.value)?);
        Ok(())
    }
}

/// The entry at an index, which counts from 1.
fn entry(index: u32) -> Result<(&'static str, &'static str), HpackError> {
    let at = index.checked_sub(1).ok_or(HpackError::Index)?;
    fields::STATIC.get(at as usize).copied().ok_or(HpackError::Index)
}

/// A string where it lies in the block, or as its Huffman code decodes into the scratch space.
fn string<'a, 'b: 'a>(rest: &mut &'b [u8], scratch: &'a mut Vec<u8>) -> Result<&'a [u8], HpackError> {
    let coded = rest.first().ok_or(HpackError::Cut)? & 0x80 != 0;
    let len = integer::decode(rest, 7)?;
    let (text, after) = rest.split_at_checked(len as usize).ok_or(HpackError::Cut)?;
    *rest = after;
    if !coded {
        return Ok(text);
    }
    huffman::decode(text, scratch)?;
    Ok(scratch)
}

/// Appends a field as a literal that is not to be indexed, or as an index where the static table
/// has it whole.
pub(super) fn push(out: &mut Vec<u8>, name: &[u8], value: &[u8]) {
    let named = |(known, _): &(&str, &str)| known.as_bytes() == name;
    let whole = |entry: &(&str, &str)| named(entry) && entry.1.as_bytes() == value;
    if let Some(at) = fields::STATIC.iter().position(whole) {
        integer::push(out, 0x80, 7, at + 1);
        return;
    }
    match fields::STATIC.iter().position(named) {
        Some(at) => integer::push(out, 0, 4, at + 1),
        None => {
            out.push(0);
            push_string(out, name);
        }
    }
    push_string(out, value);
}

/// Strings are sent plain: a server reads that fastest, and requests are small.
fn push_string(out: &mut Vec<u8>, text: &[u8]) {
    integer::push(out, 0, 7, text.len());
    out.extend_from_slice(text);
}
