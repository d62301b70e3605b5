//! What holds for every stream of requests, however it is cut into reads: shared by the tests and the fuzz target.

use plimsoll_target::{Refusal, Request};

/// Bytes of a fuzzed input before its stream: the lengths of three pieces, repeated.
const CONTROL_BYTES: usize = 3;
/// From this length on a head is refused.
const MAX_HEAD_BYTES: usize = 64 * 1024;

/// What a server makes of a stream of requests.
#[derive(Debug, Default, PartialEq)]
struct Outcome {
    /// The requests that were read to their ends, with the bytes of the stream up to there.
    requests: Vec<(Request, usize)>,
    /// Bytes of the stream that belong to requests, also to one that is not whole; 0 once one was refused.
    used: usize,
    refused: Option<Refusal>,
}

/// Reads a stream that comes in pieces, as a connection does: what is not used is held until more comes.
fn read<'s>(pieces: impl Iterator<Item = &'s [u8]>) -> Outcome {
    let (mut outcome, mut held, mut open) = (Outcome::default(), Vec::new(), None);
    for piece in pieces {
        held.extend_from_slice(piece);
        let mut taken = 0;
        loop {
            match step(&held[taken..], &mut open) {
                Ok(Some(bytes)) => {
                    taken += bytes;
                    if let Some(request) = open.take_if(|request: &mut Request| request.is_read()) {
                        outcome.requests.push((request, outcome.used + taken));
                    }
                }
                Ok(None) => break,
                Err(refusal) => {
                    assert!((400..600).contains(&refusal.status()) && !refusal.to_string().is_empty());
                    outcome.refused = Some(refusal);
                    break;
                }
            }
        }
        outcome.used += taken;
        held.drain(..taken);
        if outcome.refused.is_some() {
            outcome.used = 0;
            break;
        }
        assert!(open.is_none() || held.len() < 8 * 1024, "a body is dropped as it comes");
        assert!(held.len() <= MAX_HEAD_BYTES, "a head is not waited for beyond its limit");
    }
    outcome
}

/// Takes one part of a request off the front; nothing if more is needed for that.
fn step(input: &[u8], open: &mut Option<Request>) -> Result<Option<usize>, Refusal> {
    if let Some(request) = open {
        let bytes = request.skip_body(input)?;
        assert!(bytes <= input.len());
        return Ok((bytes > 0).then_some(bytes));
    }
    if matches!(input, [b'\r' | b'\n', ..]) {
        return Ok(Some(1));
    }
    let Some((request, bytes)) = Request::parse(input)? else { return Ok(None) };
    assert!((1..=input.len()).contains(&bytes));
    *open = Some(request);
    Ok(Some(bytes))
}

/// Takes an input apart as the fuzzer writes it and asserts that its cuts make no difference.
pub(crate) fn check(input: &[u8]) {
    let Some((control, stream)) = input.split_at_checked(CONTROL_BYTES) else { return };
    let whole = read(std::iter::once(stream));
    let mut rest = stream;
    let mut lengths = control.iter().cycle();
    let pieces = std::iter::from_fn(|| {
        let length = lengths.next().map_or(1, |length| usize::from(*length)).clamp(1, rest.len().max(1));
        let (piece, after) = rest.split_at_checked(length)?;
        rest = after;
        Some(piece)
    });
    let mut cut = read(pieces);
    // A head that is both too long and wrong is refused for what is seen first.
    if stream.len() > MAX_HEAD_BYTES && cut.refused == Some(Refusal::LongHead) && whole.refused.is_some() {
        cut.refused = whole.refused;
    }
    assert_eq!(cut, whole, "cut in pieces");
}
