//! What the workers of a step share with its conductor: two deadlines, and the number of requests left.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use plimsoll_record::FailureKind;
use plimsoll_tls::{Established, TlsFailure};
use plimsoll_units::Instant;

use crate::failure::tls_failure;
use crate::requests::SourceFault;

/// How the first connection of a step went. A step with one connection and no request uses it to examine a target.
#[derive(Debug)]
pub struct FirstConnection {
    /// What the first TLS handshake agreed on.
    pub established: OnceLock<Established>,
    /// The first TLS failure. It may come after the handshake: TLS 1.3 rejects a client's certificate only then.
    pub tls_failure: OnceLock<TlsFailure>,
    /// Set once a server has spoken HTTP/2.
    pub http2: OnceLock<()>,
    /// Failure kind of the first connection that failed without carrying a request.
    pub broken: OnceLock<FailureKind>,
    /// The latest limit of an HTTP/2 server on concurrent requests of one connection.
    streams_max: AtomicU32,
}

impl Default for FirstConnection {
    fn default() -> Self {
        Self {
            established: OnceLock::new(),
            tls_failure: OnceLock::new(),
            http2: OnceLock::new(),
            broken: OnceLock::new(),
            streams_max: AtomicU32::new(u32::MAX),
        }
    }
}

impl FirstConnection {
    /// The limit of an HTTP/2 server on concurrent requests of one connection; `u32::MAX` if it has announced none.
    pub fn streams_max(&self) -> u32 {
        self.streams_max.load(Ordering::Relaxed)
    }

    pub(crate) fn allows_streams(&self, streams_max: u32) {
        self.streams_max.store(streams_max, Ordering::Relaxed);
    }

    /// Keeps the first TLS failure; returns its kind.
    pub(crate) fn tls_failed(&self, failure: TlsFailure) -> FailureKind {
        let kind = tls_failure(&failure);
        self.tls_failure.get_or_init(|| failure);
        kind
    }

    /// Keeps the first failure of a connection without a request.
    pub(crate) fn broke(&self, kind: FailureKind) {
        self.broken.get_or_init(|| kind);
    }
}

/// The instants at which the load and the drain end. Both only move earlier.
#[derive(Debug)]
pub(crate) struct Control {
    /// Number of requests that may still be sent; `None` if it is not limited.
    left: Option<AtomicU64>,
    first: Arc<FirstConnection>,
    /// Why a worker could not generate its requests.
    fault: OnceLock<SourceFault>,
    load_ends_ns: AtomicU64,
    drain_ends_ns: AtomicU64,
    drain: Duration,
}

impl Control {
    /// The load ends at `load_ends`. Workers then wait at most `drain` for the requests in flight. At most `requests_max`
    /// requests are sent.
    pub(crate) fn new(load_ends: Instant, drain: Duration, requests_max: Option<u64>) -> Self {
        let drain_ends = load_ends + drain;
        Self {
            left: requests_max.map(AtomicU64::new),
            first: Arc::default(),
            fault: OnceLock::new(),
            load_ends_ns: AtomicU64::new(load_ends.as_nanos()),
            drain_ends_ns: AtomicU64::new(drain_ends.as_nanos()),
            drain,
        }
    }

    pub(crate) fn first(&self) -> &Arc<FirstConnection> {
        &self.first
    }

    pub(crate) fn load_ends(&self) -> Instant {
        Instant::from_nanos(self.load_ends_ns.load(Ordering::Relaxed))
    }

    pub(crate) fn drain_ends(&self) -> Instant {
        Instant::from_nanos(self.drain_ends_ns.load(Ordering::Relaxed))
    }

    /// Takes `count` of the requests that may still be sent. If fewer are left, takes none, ends the load and returns false.
    #[inline]
    pub(crate) fn claim_or_end(&self, count: u64, now: Instant) -> bool {
        let Some(left) = &self.left else { return true };
        let less = |left: u64| left.checked_sub(count);
        let claimed = left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, less).is_ok();
        if !claimed {
            self.end_load(now);
        }
        claimed
    }

    /// Keeps the first reason why a worker could not generate its requests.
    pub(crate) fn report_fault(&self, fault: SourceFault) {
        self.fault.get_or_init(|| fault);
    }

    pub(crate) fn fault(&self) -> Option<&SourceFault> {
        self.fault.get()
    }

    /// Ends the load at `at`, unless it ends earlier; workers still wait for the requests in flight.
    pub(crate) fn end_load(&self, at: Instant) {
        self.load_ends_ns.fetch_min(at.as_nanos(), Ordering::Relaxed);
        self.end_drain(at + self.drain);
    }

    /// Ends the drain at `at`, and with it the load.
    pub(crate) fn end_drain(&self, at: Instant) {
        self.drain_ends_ns.fetch_min(at.as_nanos(), Ordering::Relaxed);
        self.load_ends_ns.fetch_min(at.as_nanos(), Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn deadlines_only_move_earlier() {
        let at = |seconds: u64| Instant::from_nanos(seconds * 1_000_000_000);
        let control = Control::new(at(10), Duration::from_secs(5), None);
        control.end_load(at(4));
        control.end_load(at(7));
        assert_eq!((control.load_ends(), control.drain_ends()), (at(4), at(9)));
        control.end_drain(at(6));
        assert_eq!((control.load_ends(), control.drain_ends()), (at(4), at(6)));
        control.end_drain(at(3));
        assert_eq!((control.load_ends(), control.drain_ends()), (at(3), at(3)));
    }

    #[test]
    fn the_load_ends_when_every_request_is_claimed() {
        let at = |seconds: u64| Instant::from_nanos(seconds * 1_000_000_000);
        let control = Control::new(at(10), Duration::ZERO, Some(4));
        assert!(control.claim_or_end(2, at(1)) && control.claim_or_end(2, at(2)));
        assert_eq!(control.load_ends(), at(10));
        assert!(!control.claim_or_end(2, at(3)));
        assert_eq!(control.load_ends(), at(3));
    }
}
