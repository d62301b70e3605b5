//! One request over HTTP/1.1, asked and answered in the plainest way.

use std::io;

use plimsoll_engine::FixedRequest;
use plimsoll_http::{Expect, Finish, ParserMemory, Response, ResponseParser};
use plimsoll_record::{FailureKind, FirstAnswer};
use plimsoll_tls::TlsFailure;
use plimsoll_units::{Clock, RealClock};

use crate::line::{Line, Patience};

/// Why there is no answer.
#[derive(Debug)]
pub(crate) enum AttemptError {
    /// The request failed.
    Failed(FailureKind),
    /// Encryption failed.
    Tls(TlsFailure),
    /// The user does not want to wait for it.
    Interrupted,
}

/// Sends a request over an open connection and reads the whole answer.
pub(crate) fn ask(
    request: &FixedRequest,
    line: &mut Line,
    patience: &Patience<'_>,
) -> Result<FirstAnswer, AttemptError> {
    let sent = RealClock.now();
    line.write(&request.bytes, patience).map_err(|error| broken(error, FailureKind::SendReset))?;
    let response = read_response(line, request.meta.expect, patience)?;
    Ok(FirstAnswer {
        status: response.status,
        body_bytes: response.body_bytes,
        service_ns: RealClock.now().nanos_since(sent),
        keep_alive: response.keep_alive,
    })
}

fn read_response(line: &mut Line, expect: Expect, patience: &Patience<'_>) -> Result<Response, AttemptError> {
    let mut parser = ResponseParser::new();
    parser.reset(expect);
    let mut memory = ParserMemory::new();
    loop {
        let bytes = match line.read(patience) {
            Ok(bytes) if bytes.is_empty() => return ended(&mut parser),
            Ok(bytes) => bytes,
            Err(error) if parser.started() => return Err(broken(error, FailureKind::ResetWithinResponse)),
            Err(error) => return Err(broken(error, FailureKind::ResetBeforeResponse)),
        };
        let advance = parser.advance(&bytes, &mut memory);
        let malformed = plimsoll_engine::malformed_failure;
        let advance = advance.map_err(|error| AttemptError::Failed(malformed(error)))?;
        match advance.response {
            Some(_) if advance.consumed < bytes.len() => {
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

/// What it means that a line broke; `otherwise` if the system says nothing that has a name of its own.
pub(crate) fn broken(error: io::Error, otherwise: FailureKind) -> AttemptError {
    match error.kind() {
        io::ErrorKind::Interrupted => AttemptError::Interrupted,
        io::ErrorKind::TimedOut | io::ErrorKind::WouldBlock => AttemptError::Failed(FailureKind::TimedOut),
        _ => match error.downcast::<TlsFailure>() {
            Ok(failure) => AttemptError::Tls(failure),
            Err(_) => AttemptError::Failed(otherwise),
        },
    }
}
