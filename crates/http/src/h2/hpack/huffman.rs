//! The Huffman code of RFC 7541, appendix B.
//!
//! The code is canonical: sorted by length and then by symbol, codes count upwards. The lengths alone therefore define it, and
//! the tables for decoding are computed from them at compile time.

use crate::h2::error::HpackError;

/// The end-of-string symbol, which never occurs inside a string.
const END: u16 = 256;
const MAX_LEN: usize = 30;
/// Codes of up to this many bits need one table access. All common characters have such codes.
const SHORT_BITS: u32 = 10;

#[rustfmt::skip]
const LENGTHS: [u8; 257] = [
    13, 23, 28, 28, 28, 28, 28, 28, 28, 24, 30, 28, 28, 30, 28, 28, 28, 28, 28, 28, 28, 28, 30, 28,
    28, 28, 28, 28, 28, 28, 28, 28, 6, 10, 10, 12, 13, 6, 8, 11, 10, 10, 8, 11, 8, 6, 6, 6,
    5, 5, 5, 6, 6, 6, 6, 6, 6, 6, 7, 8, 15, 6, 12, 10, 13, 6, 7, 7, 7, 7, 7, 7,
    7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 8, 7, 8, 13, 19, 13, 14, 6,
    15, 5, 6, 5, 6, 5, 6, 6, 6, 5, 7, 7, 6, 6, 6, 5, 6, 7, 6, 5, 5, 6, 7, 7,
    7, 7, 7, 15, 11, 14, 13, 28, 20, 22, 20, 20, 22, 22, 22, 23, 22, 23, 23, 23, 23, 23, 24, 23,
    24, 24, 22, 23, 24, 23, 23, 23, 23, 21, 22, 23, 22, 23, 23, 24, 22, 21, 20, 22, 22, 23, 23, 21,
    23, 22, 22, 24, 21, 22, 23, 23, 21, 21, 22, 21, 23, 22, 23, 23, 20, 22, 22, 22, 23, 22, 22, 23,
    26, 26, 20, 19, 22, 23, 22, 25, 26, 26, 26, 27, 27, 26, 24, 25, 19, 21, 26, 27, 27, 26, 27, 24,
    21, 21, 26, 26, 28, 27, 27, 27, 20, 24, 20, 21, 22, 21, 21, 23, 22, 22, 25, 25, 24, 24, 26, 23,
    26, 27, 26, 26, 27, 27, 27, 27, 27, 28, 27, 27, 27, 27, 27, 26, 30,
];

static TABLES: Tables = Tables::new();

/// All symbols in the order of their codes, and where each length begins.
struct Tables {
    symbols: [u16; 257],
    /// For each length, the first code of the next length, left-aligned in 32 bits.
    limits: [u64; MAX_LEN + 1],
    /// For each length, its first code, aligned in the same way.
    firsts: [u64; MAX_LEN + 1],
    /// For each length, the number of symbols with shorter codes.
    shorter: [u16; MAX_LEN + 1],
    /// For each value of the next SHORT_BITS bits: the symbol and its length, or length 0 if the code is longer.
    short: [(u8, u8); 1 << SHORT_BITS],
}

impl Tables {
    const fn new() -> Self {
        let mut tables = Self {
            symbols: [0; 257],
            limits: [0; MAX_LEN + 1],
            firsts: [0; MAX_LEN + 1],
            shorter: [0; MAX_LEN + 1],
            short: [(0, 0); 1 << SHORT_BITS],
        };
        let (mut code, mut count, mut len) = (0_u64, 0, 1);
        while len <= MAX_LEN {
            tables.firsts[len] = code;
            tables.shorter[len] = count as u16;
            let mut symbol = 0;
            while symbol < LENGTHS.len() {
                if LENGTHS[symbol] as usize == len {
                    tables.symbols[count] = symbol as u16;
                    count += 1;
                    let after = code + (1 << (32 - len));
                    tables.fill_short(code, after, symbol as u8, len);
                    code = after;
                }
                symbol += 1;
            }
            tables.limits[len] = code;
            len += 1;
        }
        tables
    }

    const fn fill_short(&mut self, code: u64, after: u64, symbol: u8, len: usize) {
        if len > SHORT_BITS as usize {
            return;
        }
        let mut at = code >> (32 - SHORT_BITS);
        while at < after >> (32 - SHORT_BITS) {
            self.short[at as usize] = (symbol, len as u8);
            at += 1;
        }
    }

    /// Returns the symbol whose code these bits begin with, and the length of the code. The code is complete, so any 30 bits
    /// begin with a valid code.
    fn long(&self, bits: u64) -> (u16, u32) {
        let aligned = bits >> 32;
        let longer = SHORT_BITS as usize + 1..=MAX_LEN;
        let len = longer.into_iter().find(|len| aligned < self.limits[*len]).unwrap_or(MAX_LEN);
        let nth = (aligned - self.firsts[len]) >> (32 - len);
        (self.symbols[usize::from(self.shorter[len]) + nth as usize], len as u32)
    }
}

/// The bits of a coded string, left-aligned, with zeros after the last one.
struct Bits<'a> {
    rest: &'a [u8],
    next: u64,
    count: u32,
}

impl Bits<'_> {
    /// Makes at least the next 30 bits available, or all that are left.
    fn refill(&mut self) {
        if self.count >= MAX_LEN as u32 {
            return;
        }
        if let Some((word, rest)) = self.rest.split_first_chunk::<4>() {
            self.next |= u64::from(u32::from_be_bytes(*word)) << (32 - self.count);
            self.count += 32;
            self.rest = rest;
            return;
        }
        for byte in std::mem::take(&mut self.rest) {
            self.next |= u64::from(*byte) << (56 - self.count);
            self.count += 8;
        }
    }
}

/// Decodes a string into `out`, whose previous content is replaced.
pub(super) fn decode(coded: &[u8], out: &mut Vec<u8>) -> Result<(), HpackError> {
    out.clear();
    // The shortest code has five bits.
    out.resize(coded.len() * 8 / 5, 0);
    let mut bits = Bits { rest: coded, next: 0, count: 0 };
    let mut text_len = 0;
    loop {
        bits.refill();
        let (symbol, len) = match TABLES.short[(bits.next >> (64 - SHORT_BITS)) as usize] {
            (_, 0) => TABLES.long(bits.next),
            (symbol, len) => (u16::from(symbol), u32::from(len)),
        };
        if len > bits.count {
            out.truncate(text_len);
            return check_padding(bits.next, bits.count);
        }
        if symbol == END {
            return Err(HpackError::Huffman);
        }
        out[text_len] = symbol as u8;
        text_len += 1;
        bits.next <<= len;
        bits.count -= len;
    }
}

/// Checks the bits after the last symbol: fewer than eight, and all ones as at the beginning of the end-of-string code.
const fn check_padding(bits: u64, count: u32) -> Result<(), HpackError> {
    if count < 8 && bits.leading_ones() == count { Ok(()) } else { Err(HpackError::Huffman) }
}
