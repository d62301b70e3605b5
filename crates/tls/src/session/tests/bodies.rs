//! Bodies of a megabyte, each way.

use super::peer::{BOTH, World};
use crate::record::record_bytes;

fn megabyte() -> Vec<u8> {
    (0..1_u32 << 20).map(|number| (number.wrapping_mul(2_654_435_761) >> 24) as u8).collect()
}

#[test]
fn a_megabyte_comes_whole_however_large_the_reads_are() {
    for version in BOTH {
        for read_bytes in [1000, 16 * 1024, 64 * 1024, usize::MAX] {
            let mut pair = World::new(version).open();
            pair.server_says(&megabyte());
            pair.settle_cut(&mut |_| read_bytes);
            assert!(pair.client_read == megabyte(), "{version:?} in reads of {read_bytes}");
        }
    }
}

#[test]
fn a_megabyte_goes_whole_in_records_of_16_kib() {
    for version in BOTH {
        let mut pair = World::new(version).open();
        pair.client_says(&megabyte());
        let mut rest = pair.to_server.as_slice();
        let mut records = 0;
        while let Some(length) = record_bytes(rest).unwrap() {
            assert!(length <= 5 + (1 << 14) + 256);
            rest = &rest[length..];
            records += 1;
        }
        assert_eq!(records, 64);
        pair.settle();
        assert!(pair.server_read == megabyte());
    }
}

#[test]
fn sealing_nothing_sends_nothing() {
    let mut pair = World::new(BOTH[1]).open();
    pair.client_says(b"");
    assert!(pair.to_server.is_empty());
}
