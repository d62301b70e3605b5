//! Performs the action of a request and produces its response, now or later.

use std::hint;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use plimsoll_units::{Clock, RealClock};
use rustix::time::{ClockId, clock_gettime};

use crate::delay::{Delays, StallEffect, Ticket};
use crate::payload::Payloads;
use crate::request::Request;
use crate::response::Response;
use crate::route::{Action, Refusal};

const INDEX: &str = "\
/healthz                    {\"status\":\"ok\"}
/stats                      requests answered so far, without those to /stats
/payload?number=N           N records as JSON, cached
/sleep?ms=N&workers=K       answers after N ms, at most K at a time
/cpu?us=N                   answers after N us of CPU time
/status/CODE                answers with that status, 200 to 599
/chunked                    1000 bytes in chunks
/close                      answers and closes
/stall?every=5s&for=500ms   holds all answers in the last 500 ms of each 5 s since its first request
";

const CHUNK_BYTES: [usize; 4] = [1, 99, 400, 500];
const CHUNKED_TEXT: [u8; 1000] = [b'p'; 1000];

pub(crate) struct Service<'s> {
    stop: &'s AtomicBool,
    served: Arc<AtomicU64>,
    /// Timers of the delayed responses, for the event loop.
    pub(crate) delays: Delays,
    payloads: Payloads,
    index: Response,
    healthz: Response,
    chunked: Response,
    unchunked: Response,
}

impl<'s> Service<'s> {
    /// Creates a service that counts its responses in `served`, and aborts long work once `stop` is set.
    pub(crate) fn new(stop: &'s AtomicBool, served: Arc<AtomicU64>) -> Self {
        let mut rest = CHUNKED_TEXT.as_slice();
        let chunks = CHUNK_BYTES.map(|bytes| rest.split_off(..bytes).unwrap_or_default());
        Self {
            stop,
            served,
            delays: Delays::default(),
            payloads: Payloads::default(),
            index: Response::text(200, INDEX),
            healthz: Response::json(200, br#"{"status":"ok"}"#),
            chunked: Response::chunked(&chunks),
            unchunked: Response::text(200, &String::from_utf8_lossy(&CHUNKED_TEXT)),
        }
    }

    /// Returns the response to a request, or `None` and wakes the ticket when the response is due.
    pub(crate) fn answer(&mut self, request: &Request, ticket: Ticket) -> Option<Response> {
        let due = match request.action {
            Action::Sleep(span, Some(workers)) => {
                self.delays.sleep(RealClock.now(), ticket, span, workers);
                return None;
            }
            Action::Sleep(span, None) => Some(RealClock.now() + span),
            Action::Stall(stall) => match self.delays.stall(RealClock.now(), stall) {
                StallEffect::Open => None,
                StallEffect::HeldUntil(end) => Some(end),
                StallEffect::TooMany => {
                    self.served.fetch_add(1, Ordering::Relaxed);
                    return Some(refused(Refusal::Stalls));
                }
            },
            Action::Burn(span) => {
                burn(span, self.stop);
                None
            }
            _ => None,
        };
        if let Some(due) = due {
            self.delays.wake_at(due, ticket);
            return None;
        }
        Some(self.due_answer(request))
    }

    /// Returns the response to a request whose delay is over.
    pub(crate) fn due_answer(&mut self, request: &Request) -> Response {
        let served = match request.action {
            Action::Stats => self.served.load(Ordering::Relaxed),
            _ => self.served.fetch_add(1, Ordering::Relaxed),
        };
        match request.action {
            Action::Healthz | Action::Stall(_) => self.healthz.clone(),
            Action::Index => self.index.clone(),
            Action::Chunked if request.framing.old_protocol => self.unchunked.clone(),
            Action::Chunked => self.chunked.clone(),
            Action::Payload(records) => self.payloads.response(records),
            Action::Stats => json(200, &format!(r#"{{"requests":{served}}}"#)),
            Action::Sleep(span, _) => {
                json(200, &format!(r#"{{"slept_ms":{}}}"#, span.as_nanos() as f64 / 1e6))
            }
            Action::Burn(span) => json(200, &format!(r#"{{"burned_us":{}}}"#, span.as_micros())),
            Action::Status(status) => json(status, &format!(r#"{{"status":{status}}}"#)),
            Action::Close => json(200, r#"{"status":"closing"}"#),
            Action::Refuse(refusal) => refused(refusal),
        }
    }
}

pub(crate) fn refused(refusal: Refusal) -> Response {
    Response::error(refusal.status(), refusal)
}

fn json(status: u16, body: &str) -> Response {
    Response::json(status, body.as_bytes())
}

/// Uses CPU time, measured by the thread's own clock, which does not count time in which the thread was not running.
fn burn(span: Duration, stop: &AtomicBool) {
    let start = cpu_time();
    while cpu_time().saturating_sub(start) < span && !stop.load(Ordering::Relaxed) {
        hint::spin_loop();
    }
}

fn cpu_time() -> Duration {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    // CPU time is never negative and the fraction is below 10^9 ns, so the casts keep the value.
    Duration::new(time.tv_sec.cast_unsigned(), time.tv_nsec as u32)
}
