//! One client: its bytes in, its requests in order, its bytes out.

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

/// Reads of one connection before others have their turn.
const READS_PER_TURN: usize = 16;
/// Longer answers are sent from where they are; shorter ones are gathered, to be sent together.
const MAX_GATHERED_BYTES: usize = 16 * 1024;
/// Gathered answers are sent when they are this long.
const MAX_ANSWERS_BYTES: usize = 64 * 1024;
/// How long a client may take to close after the last answer.
const DRAIN: Duration = Duration::from_secs(1);
/// What a client may still send after the last answer.
const MAX_DRAIN_BYTES: usize = 16 * 1024 * 1024;

pub(crate) struct ResponseWriter<'s> {
    pub(crate) service: Service<'s>,
    /// Answers of this turn that are not sent yet.
    pub(crate) answers: Vec<u8>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Turn {
    /// Nothing is to be done until the socket or a timer says so.
    Parked,
    Again,
    Closed,
}

#[derive(Clone, Copy)]
enum Phase {
    Head,
    Body(Request),
    /// The answer is held back; nothing is read meanwhile.
    Waiting(Request),
    /// The last answer is given, perhaps not yet sent.
    Ending,
    /// The last answer is sent. Closing with bytes unread would reset the connection, and the reset could destroy
    /// the answer before the client reads it, so this many more bytes are read and dropped.
    Draining(usize),
}

pub(crate) struct Connection {
    socket: Socket,
    ticket: Ticket,
    phase: Phase,
    /// Input that belongs to a request which is not whole, or that came while an answer was due.
    held: Vec<u8>,
    /// The held input was not read, because a response was due.
    paused: bool,
    output: Output,
}

impl Connection {
    /// A client that was just accepted and is woken by this ticket.
    pub(crate) fn new(socket: Socket, ticket: Ticket) -> Self {
        let (held, output) = (Vec::new(), Output::default());
        Self { socket, ticket, phase: Phase::Head, held, paused: false, output }
    }

    pub(crate) fn turn(&mut self, writer: &mut ResponseWriter<'_>, buffer: &mut [u8]) -> Turn {
        // A broken connection is over; whose fault it was does not matter here.
        self.try_turn(writer, buffer).unwrap_or(Turn::Closed)
    }

    /// Does what was put off until now.
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

    /// Brings what was read before to its end; true if more can then be read.
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

    /// Takes input, with what is held before it, as far as it goes, and holds the rest.
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

    /// A head ends in a line end, so one that comes in small pieces is parsed once a line and not once a piece.
    fn head_cannot_end(&self, fresh: &[u8]) -> bool {
        let awaited = matches!(self.phase, Phase::Head) && !self.paused;
        awaited && memchr(b'\n', fresh).is_none() && self.held.len() <= MAX_HEAD_BYTES
    }

    /// Takes requests from the input until it ends or the client stops reading responses; returns the bytes used.
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

    /// Takes one part of a request; nothing if more input is needed for that.
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

    /// After a request that cannot be read nothing else can be: where the next one begins is not known.
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

    /// Gives an answer: the connection is then free for the next request, or at its end.
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
