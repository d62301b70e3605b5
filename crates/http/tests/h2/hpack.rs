//! The decoder against the examples of RFC 7541, and against a slow one.

use std::fs;
use std::path::Path;

use proptest::prelude::*;

use super::hpack_check::{check, fields};
use plimsoll_http::h2::hpack::HpackError;
use plimsoll_testkit::hex;

/// Fields of a block that must decode, as `name: value`.
fn decoded(digits: &str) -> Vec<String> {
    let (fields, end) = fields(&hex(digits));
    assert_eq!(end, Ok(()));
    let text = |bytes| String::from_utf8(bytes).unwrap();
    fields.into_iter().map(|(name, value)| format!("{}: {}", text(name), text(value))).collect()
}

#[test]
fn literals_decode_as_in_appendix_c_2_of_the_rfc() {
    assert_eq!(
        decoded("400a 6375 7374 6f6d 2d6b 6579 0d63 7573 746f 6d2d 6865 6164 6572"),
        ["custom-key: custom-header"]
    );
    assert_eq!(decoded("040c 2f73 616d 706c 652f 7061 7468"), [":path: /sample/path"]);
    assert_eq!(decoded("1008 7061 7373 776f 7264 0673 6563 7265 74"), ["password: secret"]);
    assert_eq!(decoded("82"), [":method: GET"]);
}

#[test]
fn the_first_request_decodes_as_in_appendices_c_3_and_c_4_of_the_rfc() {
    let expected = [":method: GET", ":scheme: http", ":path: /", ":authority: www.example.com"];
    assert_eq!(decoded("8286 8441 0f77 7777 2e65 7861 6d70 6c65 2e63 6f6d"), expected);
    assert_eq!(decoded("8286 8441 8cf1 e3c2 e5f2 3a6b a0ab 90f4 ff"), expected);
}

#[test]
fn the_first_response_decodes_as_in_appendices_c_5_and_c_6_of_the_rfc() {
    let expected = [
        ":status: 302",
        "cache-control: private",
        "date: Mon, 21 Oct 2013 20:13:21 GMT",
        "location: https://www.example.com",
    ];
    let plain = "4803 3330 3258 0770 7269 7661 7465 611d 4d6f 6e2c 2032 3120 4f63 7420 3230 3133 \
                 2032 303a 3133 3a32 3120 474d 546e 1768 7474 7073 3a2f 2f77 7777 2e65 7861 6d70 \
                 6c65 2e63 6f6d";
    assert_eq!(decoded(plain), expected);
    let coded = "4882 6402 5885 aec3 771a 4b61 96d0 7abe 9410 54d4 44a8 2005 9504 0b81 66e0 82a6 \
                 2d1b ff6e 919d 29ad 1718 63c7 8f0b 97c8 e9ae 82ae 43d3";
    assert_eq!(decoded(coded), expected);
}

#[test]
fn huffman_strings_decode_as_in_appendices_c_4_and_c_6_of_the_rfc() {
    // The values of later examples, whose names lie in the table that is not used here.
    for (coded, value) in [
        ("86 a8eb 1064 9cbf", "no-cache"),
        ("88 25a8 49e9 5ba9 7d7f", "custom-key"),
        ("89 25a8 49e9 5bb8 e8b4 bf", "custom-value"),
        ("83 640e ff", "307"),
        ("83 9bd9 ab", "gzip"),
        (
            "ad 94e7 821d d7f2 e6c7 b335 dfdf cd5b 3960 d5af 2708 7f36 72c1 ab27 0fb5 291f 9587 \
             3160 65c0 03ed 4ee5 b106 3d50 07",
            "foo=ASDJKHQKBZXOQWEOPIUAXQWEOIU; max-age=3600; version=1",
        ),
    ] {
        assert_eq!(decoded(&format!("00 01 61 {coded}")), [format!("a: {value}")]);
    }
}

#[test]
fn every_entry_of_the_static_table_is_reached_by_its_index() {
    for (index, expected) in
        [(1, ":authority: "), (8, ":status: 200"), (33, "date: "), (61, "www-authenticate: ")]
    {
        assert_eq!(decoded(&format!("{:02x}", 0x80 | index)), [expected]);
    }
    assert_eq!(fields(&[0x80 | 62]).1, Err(HpackError::Index));
}

#[test]
fn integers_decode_as_in_appendix_c_1_of_the_rfc() {
    // 1337 with a prefix of five bits is a table size, and too large a one.
    assert_eq!(fields(&hex("3f9a0a")).1, Err(HpackError::TableSize));
    // 1337 with a prefix of seven bits is a length: 127 + 1210.
    let long = [&hex("0001617fba09")[..], &[b'x'; 1337]].concat();
    assert_eq!(fields(&long), (vec![(b"a".to_vec(), vec![b'x'; 1337])], Ok(())));
}

#[test]
fn an_integer_may_have_needless_zeros_but_not_without_end() {
    let padded = [&hex("0001617f80808000")[..], &[b'x'; 127]].concat();
    assert_eq!(fields(&padded), (vec![(b"a".to_vec(), vec![b'x'; 127])], Ok(())));
    assert_eq!(fields(&hex("0001617f808080808000")).1, Err(HpackError::Integer));
}

#[test]
fn fields_before_an_error_are_handed_on() {
    let (fields, end) = fields(&hex("88 80"));
    assert_eq!((fields.len(), end), (1, Err(HpackError::Index)));
}

#[test]
fn each_error_says_what_is_wrong() {
    for (digits, error) in [
        ("80", HpackError::Index),
        ("0001", HpackError::Cut),
        ("ff", HpackError::Cut),
        ("ffffffffff7f", HpackError::Integer),
        ("ff808080808000", HpackError::Integer),
        ("3f00", HpackError::TableSize),
        ("8820", HpackError::TableSize),
        ("000161811c", HpackError::Huffman),
    ] {
        assert_eq!(fields(&hex(digits)).1, Err(error), "{digits}");
    }
}

#[test]
fn the_fuzzers_corpus_is_decoded_as_the_slow_decoder_does() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus/hpack");
    let entries: Vec<_> = fs::read_dir(folder).expect("the fuzzer's corpus").collect();
    assert!(entries.len() >= 40, "the corpus was found");
    entries.into_iter().for_each(|entry| check(&fs::read(entry.unwrap().path()).unwrap()));
}

proptest! {
    #[test]
    fn arbitrary_bytes_are_decoded_as_the_slow_decoder_does(block in prop::collection::vec(any::<u8>(), 0..64)) {
        check(&block);
    }

    #[test]
    fn huffman_strings_with_long_codes_are_decoded_as_the_slow_decoder_does(
        block in prop::collection::vec(prop::sample::select(vec![0xff_u8, 0xfe, 0xfc, 0x7f, 0x3f, 0x00, 0xf8]), 0..12),
    ) {
        check(&block);
    }
}
