//! One request, asked and answered in the plainest way.

use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use plimsoll_http::{Expect, Finish, ParserMemory, Response, ResponseParser};
use plimsoll_plan::Target;
use plimsoll_record::{FailureKind, FirstAnswer};
use plimsoll_units::{Clock, Instant, RealClock};

/// Why there is no answer.
#[derive(Debug)]
pub(crate) struct AttemptError(pub(crate) FailureKind);

/// Sends the target's request over an open connection and reads the whole answer.
pub(crate) fn ask(
    target: &Target,
    stream: &mut TcpStream,
    timeout: Duration,
) -> Result<FirstAnswer, AttemptError> {
    // A plan's request was encoded when the plan was frozen, so this cannot fail here.
    let request = target.encode().map_err(|_| AttemptError(FailureKind::ConnectFailed))?;
    let sent = RealClock.now();
    let deadline = sent + timeout;
    let write = limit(stream, deadline).and_then(|()| stream.write_all(&request));
    write.map_err(|error| AttemptError(broken(&error, FailureKind::SendReset)))?;
    let expect = if target.method == "HEAD" { Expect::NoBody } else { Expect::Body };
    let response = read_response(stream, expect, deadline)?;
    Ok(FirstAnswer {
        status: response.status,
        body_bytes: response.body_bytes,
        service_ns: RealClock.now().nanos_since(sent),
        keep_alive: response.keep_alive,
    })
}

fn read_response(
    stream: &mut TcpStream,
    expect: Expect,
    deadline: Instant,
) -> Result<Response, AttemptError> {
    let mut parser = ResponseParser::new();
    parser.reset(expect);
    let mut memory = ParserMemory::new();
    let mut buffer = vec![0; 64 * 1024];
    loop {
        let reset = if parser.started() {
            FailureKind::ResetWithinResponse
        } else {
            FailureKind::ResetBeforeResponse
        };
        let read = limit(stream, deadline).and_then(|()| stream.read(&mut buffer));
        let count = read.map_err(|error| AttemptError(broken(&error, reset)))?;
        if count == 0 {
            return ended(&mut parser);
        }
        let advance = parser.advance(&buffer[..count], &mut memory);
        let advance =
            advance.map_err(|malformed| AttemptError(plimsoll_engine::malformed_failure(malformed)))?;
        match advance.response {
            Some(_) if advance.consumed < count => return Err(AttemptError(FailureKind::BytesAfterResponse)),
            Some(response) => return Ok(response),
            None => {}
        }
    }
}

fn ended(parser: &mut ResponseParser) -> Result<Response, AttemptError> {
    match parser.finish() {
        Finish::Complete(response) => Ok(response),
        Finish::Within => Err(AttemptError(FailureKind::ClosedWithinResponse)),
        Finish::Before => Err(AttemptError(FailureKind::ClosedBeforeResponse)),
    }
}

/// Bounds the next call on the stream; past the deadline there is none.
fn limit(stream: &TcpStream, deadline: Instant) -> io::Result<()> {
    let left = deadline.since(RealClock.now());
    if left.is_zero() {
        return Err(io::ErrorKind::TimedOut.into());
    }
    stream.set_read_timeout(Some(left))?;
    stream.set_write_timeout(Some(left))
}

fn broken(error: &io::Error, otherwise: FailureKind) -> FailureKind {
    match error.kind() {
        io::ErrorKind::TimedOut | io::ErrorKind::WouldBlock => FailureKind::TimedOut,
        _ => otherwise,
    }
}
