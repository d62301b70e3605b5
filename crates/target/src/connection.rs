//! One client connection: reads bytes, handles its requests in order, writes responses.

use std::io;
use std::mem;
use std::time::Duration;

use memchr::memchr;
use plimsoll_sys::Socket;
use plimsoll_units::{Clock, RealClock};
use rustix::net::{Shutdown, shutdown};

use crate::delay::Ticket;
use crate::output::Output;
use crate::request::{MAX_HEAD_BYTES, Request};
use crate::response::{CONTINUE, Framing, Response};
use crate::route::Refusal;
use crate::service::{Service, refused};

/// Number of reads from one connection before the other connections have their turn.
const READS_PER_TURN: usize = 16;
/// A longer response is sent from its own memory; shorter ones are buffered, to be sent together.
const MAX_GATHERED_BYTES: usize = 16 * 1024;
/// Buffered responses are sent when they exceed this length.
const MAX_ANSWERS_BYTES: usize = 64 * 1024;
/// How long a client may take to close after the last response.
const DRAIN: Duration = Duration::from_secs(1);
/// Maximum number of bytes that a client may still send after the last response.
const MAX_DRAIN_BYTES: usize = 16 * 1024 * 1024;

pub(crate) struct ResponseWriter<'s> {
    pub(crate) service: Service<'s>,
    /// Responses of this turn that are not sent yet.
    pub(crate) answers: Vec<u8>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Turn {
    /// Nothing to do until the socket or a timer reports an event.
    Parked,
    Again,
    Closed,
}

#[derive(Clone, Copy)]
enum Phase {
    Head,
    Body(Request),
    /// The response is delayed; no input is processed meanwhile.
    Waiting(Request),
    /// The last response is written, perhaps not yet sent.
    Ending,
    /// The last response is sent. Closing with unread bytes would reset the connection, and the reset could destroy the
    /// response before the client reads it, so this many more bytes are read and dropped.
    Draining(usize),
}

pub(crate) struct Connection {
    socket: Socket,
    ticket: Ticket,
    phase: Phase,
    /// Input of an incomplete request, or received while a response was pending.
    held: Vec<u8>,
    /// True if the held input was not processed because a response was pending.
    paused: bool,
    output: Output,
}

impl Connection {
    /// Creates the connection of a newly accepted client; timers wake it by `ticket`.
    pub(crate) fn new(socket: Socket, ticket: Ticket) -> Self {
        let (held, output) = (Vec::new(), Output::default());
        Self { socket, ticket, phase: Phase::Head, held, paused: false, output }
    }

    pub(crate) fn turn(&mut self, writer: &mut ResponseWriter<'_>, buffer: &mut [u8]) -> Turn {
        // A broken connection ends here, whatever the cause.
        self.try_turn(writer, buffer).unwrap_or(Turn::Closed)
    }

    /// Continues a connection whose timer has fired.
    pub(crate) fn wake(&mut self, writer: &mut ResponseWriter<'_>, buffer: &mut [u8]) -> Turn {
        match self.phase {
            Phase::Waiting(request) => {
                self.answer_late(&request, writer).map_or(Turn::Closed, |()| self.turn(writer, buffer))
            }
            Phase::Draining(_) => Turn::Closed,
            _ => Turn::Parked,
        }
    }

    fn try_turn(&mut self, writer: &mut ResponseWriter<'_>, buffer: &mut [u8]) -> io::Result<Turn> {
        for _ in 0..READS_PER_TURN {
            if !self.wants_input(writer)? {
                return Ok(Turn::Parked);
            }
            match self.socket.receive(buffer) {
                Ok(0) => return Ok(Turn::Closed),
                Ok(bytes) => self.absorb(&buffer[..bytes], writer)?,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(Turn::Parked),
                Err(error) => return Err(error),
            }
        }
        Ok(Turn::Again)
    }

    /// Completes the pending work of earlier input; returns true if more input can then be read.
    fn wants_input(&mut self, writer: &mut ResponseWriter<'_>) -> io::Result<bool> {
        while self.output.flush(&self.socket)? {
            match self.phase {
                Phase::Waiting(_) => return Ok(false),
                Phase::Ending => self.begin_drain(writer)?,
                _ if self.paused => self.absorb(&[], writer)?,
                _ => return Ok(true),
            }
        }
        Ok(false)
    }

    fn begin_drain(&mut self, writer: &mut ResponseWriter<'_>) -> io::Result<()> {
        shutdown(&self.socket, Shutdown::Write)?;
        writer.service.delays.wake_at(RealClock.now() + DRAIN, self.ticket);
        self.phase = Phase::Draining(MAX_DRAIN_BYTES);
        self.held = Vec::new();
        self.paused = false;
        Ok(())
    }

    /// Processes the held input and then the fresh input as far as possible, and holds the rest.
    fn absorb(&mut self, fresh: &[u8], writer: &mut ResponseWriter<'_>) -> io::Result<()> {
        if self.held.is_empty() {
            let used = self.advance(fresh, writer)?;
            self.held.extend_from_slice(&fresh[used..]);
            return Ok(());
        }
        self.held.extend_from_slice(fresh);
        if self.head_cannot_end(fresh) {
            return Ok(());
        }
        let mut held = mem::take(&mut self.held);
        let used = self.advance(&held, writer)?;
        held.drain(..used);
        self.held = held;
        Ok(())
    }

    /// True if the fresh bytes cannot complete a head. A head ends with a line end, so one that arrives in small pieces is parsed
    /// once for each line and not for each piece.
    fn head_cannot_end(&self, fresh: &[u8]) -> bool {
        let awaited = matches!(self.phase, Phase::Head) && !self.paused;
        awaited && memchr(b'\n', fresh).is_none() && self.held.len() <= MAX_HEAD_BYTES
    }

    /// Processes requests until the input ends, a response is delayed or the client stops reading; returns the bytes used.
    fn advance(&mut self, input: &[u8], writer: &mut ResponseWriter<'_>) -> io::Result<usize> {
        writer.answers.clear();
        self.paused = false;
        let mut used = 0;
        while let Some(bytes) = self.step(&input[used..], writer)? {
            used += bytes;
            if writer.answers.len() > MAX_ANSWERS_BYTES {
                self.send_answers(writer)?;
            }
            if self.output.is_blocked() || matches!(self.phase, Phase::Waiting(_)) {
                self.paused = true;
                break;
            }
        }
        self.send_answers(writer)?;
        Ok(used)
    }

    fn send_answers(&mut self, writer: &mut ResponseWriter<'_>) -> io::Result<()> {
        self.output.send(&self.socket, &writer.answers)?;
        writer.answers.clear();
        Ok(())
    }

    /// Processes one part of a request and returns its length; `None` if that needs more input.
    fn step(&mut self, rest: &[u8], writer: &mut ResponseWriter<'_>) -> io::Result<Option<usize>> {
        match self.phase {
            Phase::Head => self.read_head(rest, writer),
            Phase::Body(request) => self.read_body(request, rest, writer),
            Phase::Waiting(_) => Ok(None),
            Phase::Ending => Ok((!rest.is_empty()).then_some(rest.len())),
            Phase::Draining(left) => {
                let left = left.checked_sub(rest.len()).ok_or(io::ErrorKind::ConnectionAborted)?;
                self.phase = Phase::Draining(left);
                Ok((!rest.is_empty()).then_some(rest.len()))
            }
        }
    }

    fn read_head(&mut self, rest: &[u8], writer: &mut ResponseWriter<'_>) -> io::Result<Option<usize>> {
        // Empty lines before a request are skipped (RFC 9112, section 2.2).
        if matches!(rest, [b'\r' | b'\n', ..]) {
            return Ok(Some(1));
        }
        match Request::parse(rest) {
            Ok(None) => Ok(None),
            Ok(Some((request, bytes))) => {
                if request.expects_continue && bytes == rest.len() && !request.is_read() {
                    writer.answers.extend_from_slice(CONTINUE);
                }
                self.phase = Phase::Body(request);
                Ok(Some(bytes))
            }
            Err(refusal) => self.refuse(refusal, writer),
        }
    }

    fn read_body(
        &mut self,
        mut request: Request,
        rest: &[u8],
        writer: &mut ResponseWriter<'_>,
    ) -> io::Result<Option<usize>> {
        let bytes = match request.skip_body(rest) {
            Ok(bytes) => bytes,
            Err(refusal) => return self.refuse(refusal, writer),
        };
        if !request.is_read() {
            self.phase = Phase::Body(request);
            return Ok((bytes > 0).then_some(bytes));
        }
        match writer.service.answer(&request, self.ticket) {
            Some(response) => self.give(&response, request.framing, writer)?,
            None => self.phase = Phase::Waiting(request),
        }
        Ok(Some(bytes))
    }

    /// Responds to a request that cannot be parsed, and ends the connection, because the start of the next request is unknown.
    fn refuse(&mut self, refusal: Refusal, writer: &mut ResponseWriter<'_>) -> io::Result<Option<usize>> {
        let framing = Framing { head_only: false, old_protocol: false, keep_alive: false };
        self.give(&refused(refusal), framing, writer)?;
        Ok(Some(0))
    }

    fn answer_late(&mut self, request: &Request, writer: &mut ResponseWriter<'_>) -> io::Result<()> {
        writer.answers.clear();
        let response = writer.service.due_answer(request);
        self.give(&response, request.framing, writer)?;
        self.send_answers(writer)
    }

    /// Writes a response. The connection is then free for the next request, or ends.
    fn give(
        &mut self,
        response: &Response,
        framing: Framing,
        writer: &mut ResponseWriter<'_>,
    ) -> io::Result<()> {
        self.phase = if framing.keep_alive { Phase::Head } else { Phase::Ending };
        let usual = Response::is_usual(framing);
        if !usual {
            response.render_head(framing, &mut writer.answers);
        }
        let from = if usual { 0 } else { response.head_bytes };
        if framing.head_only {
            return Ok(());
        }
        if response.bytes.len() <= MAX_GATHERED_BYTES {
            writer.answers.extend_from_slice(&response.bytes[from..]);
            return Ok(());
        }
        self.send_answers(writer)?;
        self.output.send_shared(&self.socket, &response.bytes, from)
    }
}
