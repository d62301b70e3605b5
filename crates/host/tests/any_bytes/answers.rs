//! What holds for every answer of a component (Prometheus, Redis, memcached, expvar, nginx, HotSpot): shared by the tests and the
//! fuzz target.

use std::io::BufReader;

use plimsoll_host::{AnswerForm, read_answer, sample_line};
use plimsoll_record::{HostSample, Reading, SourceName};

/// The longest text of a read that failed, in bytes.
const MAX_FAILURE_BYTES: usize = 600;

/// Takes the first byte as the form and the rest as an answer that comes whole and in pieces.
pub(crate) fn check(input: &[u8]) {
    let Some((form, answer)) = input.split_first() else { return };
    let form = AnswerForm::ALL[usize::from(*form) % AnswerForm::ALL.len()];
    let samples = read_answer(form, "10.0.0.1:1", answer);
    for piece_bytes in [1, 7] {
        let cut = read_answer(form, "10.0.0.1:1", BufReader::with_capacity(piece_bytes, answer));
        assert_eq!(cut, samples, "in pieces of {piece_bytes} bytes");
    }
    assert!(!samples.is_empty(), "a read that gives nothing says why");
    samples.iter().for_each(check_sample);
    let kept_bytes: usize = samples.iter().map(kept_bytes).sum();
    assert!(kept_bytes <= 4096 + 8 * answer.len(), "{kept_bytes} bytes of {}", answer.len());
    check_end(form, answer, &samples);
}

fn check_sample(sample: &HostSample) {
    assert!(matches!(sample.source, SourceName::Known(_)), "{sample:?}");
    if let Reading::Failed(why) = &sample.reading {
        assert!(!why.is_empty() && why.len() <= MAX_FAILURE_BYTES, "{} bytes: {why}", why.len());
        assert!(!why.contains(char::is_control), "{why:?}");
    }
    let line = sample_line(sample).expect("plain data");
    assert_eq!(line.find('\n'), Some(line.len() - 1), "{line:?}");
}

/// What a sample takes in memory but for its fixed parts, in bytes.
fn kept_bytes(sample: &HostSample) -> usize {
    let counters = match &sample.reading {
        Reading::Ok(counters) => counters.iter().map(|(name, _)| name.len() + 8).sum(),
        Reading::Absent => 0,
        Reading::Failed(why) => why.len(),
    };
    sample.subject.len() + counters
}

/// What follows an answer is not read, and a comment changes no page.
fn check_end(form: AnswerForm, answer: &[u8], samples: &[HostSample]) {
    let is_read = samples.iter().any(|sample| !matches!(sample.reading, Reading::Failed(_)));
    let more: &[u8] = match form {
        AnswerForm::Prometheus => b"\n# A comment.\n",
        AnswerForm::Redis | AnswerForm::Memcached => b"-ERR\r\n",
        AnswerForm::Expvar => b"\n",
        AnswerForm::Nginx | AnswerForm::Jvm => return,
    };
    if is_read {
        assert_eq!(read_answer(form, "10.0.0.1:1", [answer, more].concat().as_slice()), samples);
    }
}
