//! One request, asked and answered in the plainest way.

use std::io::{self, Read, Write};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use plimsoll_engine::FixedRequest;
use plimsoll_http::{Expect, Finish, ParserMemory, Response, ResponseParser};
use plimsoll_record::{FailureKind, FirstAnswer};
use plimsoll_units::{Clock, Instant, RealClock};

use crate::reach::Stream;

/// Why there is no answer.
#[derive(Debug)]
pub(crate) enum AttemptError {
    /// The request failed.
    Failed(FailureKind),
    /// The user does not want to wait for it.
    Interrupted,
}

/// Sends a request over an open connection and reads the whole answer.
pub(crate) fn ask(
    request: &FixedRequest,
    stream: &mut Stream,
    timeout: Duration,
    interrupted: &AtomicBool,
) -> Result<FirstAnswer, AttemptError> {
    let sent = RealClock.now();
    let deadline = sent + timeout;
    let write = limit(stream, deadline).and_then(|()| stream.write_all(&request.bytes));
    write.map_err(|error| broken(&error, FailureKind::SendReset))?;
    let response = read_response(stream, request.note.expect, deadline, interrupted)?;
    Ok(FirstAnswer {
        status: response.status,
        body_bytes: response.body_bytes,
        service_ns: RealClock.now().nanos_since(sent),
        keep_alive: response.keep_alive,
    })
}

fn read_response(
    stream: &mut Stream,
    expect: Expect,
    deadline: Instant,
    interrupted: &AtomicBool,
) -> Result<Response, AttemptError> {
    let mut parser = ResponseParser::new();
    parser.reset(expect);
    let mut memory = ParserMemory::new();
    let mut buffer = vec![0; 64 * 1024];
    loop {
        let count = match limit(stream, deadline).and_then(|()| stream.read(&mut buffer)) {
            Ok(0) => return ended(&mut parser),
            Ok(count) => count,
            // A signal came: the user's wish to end, or only a stop and a continue.
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {
                match interrupted.load(Ordering::Relaxed) {
                    true => return Err(AttemptError::Interrupted),
                    false => continue,
                }
            }
            Err(error) if parser.started() => return Err(broken(&error, FailureKind::ResetWithinResponse)),
            Err(error) => return Err(broken(&error, FailureKind::ResetBeforeResponse)),
        };
        let advance = parser.advance(&buffer[..count], &mut memory);
        let malformed = plimsoll_engine::malformed_failure;
        let advance = advance.map_err(|error| AttemptError::Failed(malformed(error)))?;
        match advance.response {
            Some(_) if advance.consumed < count => {
                return Err(AttemptError::Failed(FailureKind::BytesAfterResponse));
            }
            Some(response) => return Ok(response),
            None => {}
        }
    }
}

fn ended(parser: &mut ResponseParser) -> Result<Response, AttemptError> {
    match parser.finish() {
        Finish::Complete(response) => Ok(response),
        Finish::Within => Err(AttemptError::Failed(FailureKind::ClosedWithinResponse)),
        Finish::Before => Err(AttemptError::Failed(FailureKind::ClosedBeforeResponse)),
    }
}

/// Bounds the next call on the stream; past the deadline there is none.
fn limit(stream: &Stream, deadline: Instant) -> io::Result<()> {
    let left = deadline.since(RealClock.now());
    if left.is_zero() {
        return Err(io::ErrorKind::TimedOut.into());
    }
    stream.set_timeout(left)
}

fn broken(error: &io::Error, otherwise: FailureKind) -> AttemptError {
    AttemptError::Failed(match error.kind() {
        io::ErrorKind::TimedOut | io::ErrorKind::WouldBlock => FailureKind::TimedOut,
        _ => otherwise,
    })
}
