//! One request over HTTP/2, asked and answered in the plainest way.

use std::io;

use plimsoll_engine::FixedRequest;
use plimsoll_http::{Response, h2};
use plimsoll_record::{FailureKind, FirstAnswer};
use plimsoll_units::{Clock, RealClock};

use crate::attempt::{AttemptError, broken};
use crate::line::{Line, Patience};

/// The client's side of an HTTP/2 connection.
#[derive(Debug)]
pub(crate) struct Link {
    connection: h2::Connection,
    memory: h2::Memory,
}

/// How a stream ended.
type StreamEnd = Result<Response, FailureKind>;

impl Link {
    /// Begins HTTP/2, and waits until the server has shown that it speaks it too.
    pub(crate) fn begin(line: &mut Line, patience: &Patience<'_>) -> Result<Self, AttemptError> {
        let mut link = Self { connection: h2::Connection::new(1), memory: h2::Memory::new() };
        let mut out = Vec::new();
        link.connection.open(&mut out);
        // The server's settings, which come first, have to be acknowledged.
        let mut acknowledged = false;
        while !acknowledged {
            line.write(&out, patience).map_err(|error| broken(error, FailureKind::SendReset))?;
            out.clear();
            link.hear(line, patience, &mut out)?;
            acknowledged = !out.is_empty();
        }
        line.write(&out, patience).map_err(|error| broken(error, FailureKind::SendReset))?;
        Ok(link)
    }

    /// Sends a request and reads the whole answer.
    pub(crate) fn ask(
        &mut self,
        request: &FixedRequest,
        line: &mut Line,
        patience: &Patience<'_>,
    ) -> Result<FirstAnswer, AttemptError> {
        let (block, body) = request.bytes.split_at(request.meta.head_bytes as usize);
        let request = h2::Request { tag: 0, block, body, expect: request.meta.expect, observe: false };
        let sent = RealClock.now();
        let mut out = Vec::new();
        if !self.connection.request(&request, &mut self.memory, &mut out) {
            return Err(AttemptError::Failed(FailureKind::H2Refused));
        }
        loop {
            line.write(&out, patience).map_err(|error| broken(error, FailureKind::SendReset))?;
            out.clear();
            if let Some(end) = self.hear(line, patience, &mut out)? {
                let response = end.map_err(AttemptError::Failed)?;
                let service_ns = RealClock.now().nanos_since(sent);
                let (status, body_bytes) = (response.status, response.body_bytes);
                return Ok(FirstAnswer { status, body_bytes, service_ns, keep_alive: response.keep_alive });
            }
        }
    }

    /// Waits for more bytes; tells how the stream ended once it has. What must be said is added to `out`.
    fn hear(
        &mut self,
        line: &mut Line,
        patience: &Patience<'_>,
        out: &mut Vec<u8>,
    ) -> Result<Option<StreamEnd>, AttemptError> {
        let bytes = line
            .read(patience)
            .map_err(|error: io::Error| broken(error, FailureKind::ResetBeforeResponse))?;
        let mut end = None;
        let mut events = |event: h2::Event<'_>| end = end.or(stream_end(event));
        if bytes.is_empty() {
            self.connection.finish(&mut self.memory, &mut events);
            return end.map(Some).ok_or(AttemptError::Failed(FailureKind::ClosedBeforeResponse));
        }
        let heard = self.connection.receive(&bytes, &mut self.memory, out, &mut events);
        heard.map_err(|_| AttemptError::Failed(FailureKind::H2Protocol))?;
        Ok(end)
    }
}

fn stream_end(event: h2::Event<'_>) -> Option<StreamEnd> {
    match event {
        h2::Event::Answered { response, .. } => Some(Ok(response)),
        h2::Event::Malformed { .. } => Some(Err(FailureKind::MalformedHead)),
        h2::Event::Reset { .. } => Some(Err(FailureKind::H2Reset)),
        h2::Event::Refused { .. } => Some(Err(FailureKind::H2Refused)),
        h2::Event::Cut { begun: true, .. } => Some(Err(FailureKind::ClosedWithinResponse)),
        h2::Event::Cut { begun: false, .. } => Some(Err(FailureKind::ClosedBeforeResponse)),
        h2::Event::Field { .. } | h2::Event::Body { .. } => None,
    }
}
