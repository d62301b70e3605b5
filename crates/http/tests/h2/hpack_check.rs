//! What the tests and the fuzzer ask of the decoder: it agrees with itself and with a slow,
//! bit-by-bit reading of Huffman's code, and headers that may be sent decode to themselves.

use plimsoll_http::h2::hpack::{Decoder, HpackError};
use plimsoll_http::{Request, Version};

/// A name and a value.
pub(crate) type Field = (Vec<u8>, Vec<u8>);

/// All fields of a block, and how it ended.
pub(crate) fn fields(block: &[u8]) -> (Vec<Field>, Result<(), HpackError>) {
    let mut fields = Vec::new();
    let end = Decoder::default().decode(block, |name, value| fields.push((name.to_vec(), value.to_vec())));
    (fields, end)
}

/// Decodes any bytes; a field that came out is sent as a header and must come out again.
pub(crate) fn check(block: &[u8]) {
    let (decoded, _) = fields(block);
    for (name, value) in &decoded {
        if let Ok(name) = std::str::from_utf8(name) {
            check_header(name, value);
        }
    }
    // A literal whose name and value are the input, coded as Huffman's.
    if let Ok(len) = u8::try_from(block.len())
        && len < 127
    {
        let coded = [&[0, 0x80 | len], block, &[0x80 | len], block].concat();
        let (decoded, end) = fields(&coded);
        let text = decoded_slowly(block);
        assert_eq!(end.is_ok(), text.is_some(), "{block:x?}");
        assert_eq!(decoded, text.map(|text| (text.clone(), text)).into_iter().collect::<Vec<_>>());
    }
}

fn check_header(name: &str, value: &[u8]) {
    let request = Request {
        method: "GET",
        secure: false,
        authority: "a".to_owned(),
        path: &b"/"[..],
        headers: vec![(name, value)],
        body: &b""[..],
        user_agent: None,
    };
    let Ok(encoded) = request.encode(Version::Http2) else { return };
    let (block, _) = encoded.to_bytes();
    let (sent, end) = fields(&block);
    assert_eq!(end, Ok(()));
    let (name, value) = (name.to_ascii_lowercase(), value.trim_ascii());
    match name.as_str() {
        "host" => assert_eq!((sent[2].1.as_slice(), sent.len()), (value, 4)),
        "connection" | "keep-alive" | "proxy-connection" => assert_eq!(sent.len(), 4),
        _ => assert_eq!(sent[4..], [(name.into_bytes(), value.to_vec())]),
    }
}

/// The symbols of RFC 7541 appendix B in the order of their codes, with how many have which length
/// in bits. The last symbol is the end of the string, which is not a byte.
const COUNTS: [(u32, u32); 21] = [
    (5, 10),
    (6, 26),
    (7, 32),
    (8, 6),
    (10, 5),
    (11, 3),
    (12, 2),
    (13, 6),
    (14, 2),
    (15, 3),
    (19, 3),
    (20, 8),
    (21, 13),
    (22, 26),
    (23, 29),
    (24, 12),
    (25, 4),
    (26, 15),
    (27, 19),
    (28, 29),
    (30, 4),
];
#[rustfmt::skip]
const SYMBOLS: [u8; 256] = [
    48, 49, 50, 97, 99, 101, 105, 111, 115, 116, 32, 37, 45, 46, 47, 51, 52, 53, 54, 55,
    56, 57, 61, 65, 95, 98, 100, 102, 103, 104, 108, 109, 110, 112, 114, 117, 58, 66, 67, 68,
    69, 70, 71, 72, 73, 74, 75, 76, 77, 78, 79, 80, 81, 82, 83, 84, 85, 86, 87, 89,
    106, 107, 113, 118, 119, 120, 121, 122, 38, 42, 44, 59, 88, 90, 33, 34, 40, 41, 63, 39,
    43, 124, 35, 62, 0, 36, 64, 91, 93, 126, 94, 125, 60, 96, 123, 92, 195, 208, 128, 130,
    131, 162, 184, 194, 224, 226, 153, 161, 167, 172, 176, 177, 179, 209, 216, 217, 227, 229, 230, 129,
    132, 133, 134, 136, 146, 154, 156, 160, 163, 164, 169, 170, 173, 178, 181, 185, 186, 187, 189, 190,
    196, 198, 228, 232, 233, 1, 135, 137, 138, 139, 140, 141, 143, 147, 149, 150, 151, 152, 155, 157,
    158, 165, 166, 168, 174, 175, 180, 182, 183, 188, 191, 197, 231, 239, 9, 142, 144, 145, 148, 159,
    171, 206, 215, 225, 236, 237, 199, 207, 234, 235, 192, 193, 200, 201, 202, 205, 210, 213, 218, 219,
    238, 240, 242, 243, 255, 203, 204, 211, 212, 214, 221, 222, 223, 241, 244, 245, 246, 247, 248, 250,
    251, 252, 253, 254, 2, 3, 4, 5, 6, 7, 8, 11, 12, 14, 15, 16, 17, 18, 19, 20,
    21, 23, 24, 25, 26, 27, 28, 29, 30, 31, 127, 220, 249, 10, 13, 22,
];

/// What a coded string says, found bit by bit.
fn decoded_slowly(coded: &[u8]) -> Option<Vec<u8>> {
    let bits = coded.iter().flat_map(|byte| (0..8).rev().map(move |at| byte >> at & 1));
    let (mut text, mut code, mut len) = (Vec::new(), 0_u32, 0_u32);
    for bit in bits {
        (code, len) = (code << 1 | u32::from(bit), len + 1);
        if let Some(at) = place(code, len) {
            text.push(*SYMBOLS.get(at)?);
            (code, len) = (0, 0);
        }
    }
    // What is left has to begin the code of the end, which is all ones, and be less than a byte.
    (len < 8 && code == (1 << len) - 1).then_some(text)
}

/// The place of a symbol by its code, if the code is complete.
fn place(code: u32, len: u32) -> Option<usize> {
    let (mut first, mut before, mut last_len) = (0_u32, 0_u32, 0);
    for (of, count) in COUNTS {
        first <<= of - last_len;
        last_len = of;
        if of == len {
            return (first..first + count).contains(&code).then(|| (before + code - first) as usize);
        }
        first += count;
        before += count;
    }
    None
}
