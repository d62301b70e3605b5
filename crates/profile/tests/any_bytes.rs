//! Whatever a server or a program writes, a profile is read or refused, and its sums agree.

#[path = "any_bytes/agreement.rs"]
mod agreement;

use plimsoll_profile::{pack, parse};
use plimsoll_record::ProfileForm;
use proptest::prelude::*;

/// Text of samples and frames, with what does not belong there now and then.
fn perf_text() -> impl Strategy<Value = String> {
    let frame = ("[0-9a-f]{1,16}", "[ -~]{0,20}").prop_map(|(ip, rest)| format!("\t{ip} {rest}\n"));
    let sample = (any::<u64>(), prop::collection::vec(frame, 0..6), "\n?")
        .prop_map(|(period, frames, end)| format!("  {period} \n{}{end}", frames.concat()));
    prop::collection::vec(sample, 0..20).prop_map(|samples| samples.concat())
}

proptest! {
    #[test]
    fn any_bytes_are_read_or_refused(content in prop::collection::vec(any::<u8>(), 0..2000)) {
        agreement::check(&content);
        agreement::check(&pack(&content).unwrap());
    }

    #[test]
    fn sums_agree_in_any_text_of_perf(text in perf_text()) {
        agreement::check(text.as_bytes());
    }

    #[test]
    fn packing_changes_nothing(text in perf_text()) {
        let packed = parse(ProfileForm::Perf, &pack(text.as_bytes()).unwrap());
        let plain = parse(ProfileForm::Perf, text.as_bytes());
        prop_assert_eq!(packed.ok(), plain.ok());
    }
}

#[test]
fn a_cut_gzip_stream_is_refused() {
    let packed = pack(b"5\n  1 main (/a)\n").unwrap();
    let error = parse(ProfileForm::Perf, &packed[..packed.len() - 6]).unwrap_err().to_string();
    assert!(error.contains("unpacked"), "{error}");
}
