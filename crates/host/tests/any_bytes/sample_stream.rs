//! What holds for every stream of samples, however it is cut into reads: shared by the tests and the fuzz target.

use std::io::{BufRead, BufReader};

use plimsoll_host::{SampleStream, StreamClock, StreamError, opening_line, sample_line};
use plimsoll_record::{HostSample, Source};
use plimsoll_units::Instant;

/// The longest text of an error, in bytes.
const MAX_ERROR_BYTES: usize = 700;
/// What only this machine says, of itself or of a lab.
const OURS: [Source; 4] = [Source::Ports, Source::Descriptors, Source::Declared, Source::Intervention];

/// The samples of a stream, and how it ended.
type Outcome = (Vec<HostSample>, Option<String>);

/// Takes bytes as what another process of this machine sends, and as what another machine does.
pub(crate) fn check(input: &[u8]) {
    let (samples, error) = read(input, StreamClock::Ours);
    for piece_bytes in [1, 13] {
        let cut = read(BufReader::with_capacity(piece_bytes, input), StreamClock::Ours);
        assert_eq!((&cut.0, &cut.1), (&samples, &error), "in pieces of {piece_bytes} bytes");
    }
    if let Some(error) = error {
        assert!(error.len() <= MAX_ERROR_BYTES && !error.contains(char::is_control), "{error:?}");
        assert!(error.contains("web"), "{error}");
    }
    check_again(&samples);
    check_theirs(input, &samples);
}

fn read(input: impl BufRead, clock: StreamClock) -> Outcome {
    let mut samples = Vec::new();
    let read = || -> Result<(), StreamError> {
        let mut stream = SampleStream::begin(input, "web", clock, Instant::default())?;
        while let Some(sample) = stream.next_sample()? {
            samples.push(sample);
        }
        Ok(())
    };
    let error = { read }().err().map(|error| error.to_string());
    (samples, error)
}

/// Samples that are written again are read as the same samples.
fn check_again(samples: &[HostSample]) {
    let lines = samples.iter().map(|sample| sample_line(sample).expect("plain data"));
    let text = opening_line().expect("plain data") + &lines.collect::<String>();
    assert_eq!(text.lines().count(), 1 + samples.len(), "a line each");
    assert_eq!(read(text.as_bytes(), StreamClock::Ours), (samples.to_vec(), None));
}

/// Another machine's samples are the same until it says what is not its to say, and no later than now.
fn check_theirs(input: &[u8], ours: &[HostSample]) {
    let (theirs, _) = read(input, StreamClock::Theirs);
    assert!(theirs.len() <= ours.len());
    for (theirs, ours) in theirs.iter().zip(ours) {
        assert_eq!(
            (&theirs.source, &theirs.subject, &theirs.reading),
            (&ours.source, &ours.subject, &ours.reading)
        );
        assert!(theirs.source.known().is_none_or(|source| !OURS.contains(&source)), "{theirs:?}");
        assert!(theirs.began_ns <= theirs.ended_ns, "{theirs:?}");
    }
    let refused = ours.get(theirs.len()).and_then(|sample| sample.source.known());
    assert!(refused.is_none_or(|source| OURS.contains(&source)), "{refused:?}");
}
