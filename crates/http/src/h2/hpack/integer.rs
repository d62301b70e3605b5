//! Integers with a prefix (RFC 7541 section 5.1).

use crate::h2::error::HpackError;

/// Bytes after the prefix that an integer may have: enough for 32 bits.
const MAX_FURTHER_BYTES: u32 = 5;

/// Reads an integer whose first bits share a byte with something else, which is ignored.
pub(super) fn decode(rest: &mut &[u8], prefix_bits: u8) -> Result<u32, HpackError> {
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

/// Appends an integer; `pattern` holds the bits before the prefix.
pub(super) fn push(out: &mut Vec<u8>, pattern: u8, prefix_bits: u8, value: usize) {
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
