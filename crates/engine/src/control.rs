//! What the workers of a step share with its conductor: two deadlines, and the number of requests left.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use plimsoll_record::FailureKind;
use plimsoll_tls::{Established, TlsFailure};
use plimsoll_units::Instant;

use crate::failure::tls_failure;
use crate::requests::SourceFault;

/// How the first connection of a step went. A step of one connection and no request shows with it what a target is like.
#[derive(Debug)]
pub struct FirstConnection {
    /// What the first TLS handshake agreed on.
    pub established: OnceLock<Established>,
    /// The first failure of TLS, in a handshake or later: TLS 1.3 refuses a client's certificate after it.
    pub tls_failure: OnceLock<TlsFailure>,
    /// Set once a server has spoken HTTP/2.
    pub http2: OnceLock<()>,
    /// How the first connection failed that carried no request.
    pub broken: OnceLock<FailureKind>,
    /// How many requests a server of HTTP/2 last allowed on one connection at a time.
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
    /// How many requests a server of HTTP/2 allows on one connection at a time; `u32::MAX` if it sets no limit, or has not
    /// said yet.
    pub fn streams_max(&self) -> u32 {
        self.streams_max.load(Ordering::Relaxed)
    }

    pub(crate) fn allows_streams(&self, streams_max: u32) {
        self.streams_max.store(streams_max, Ordering::Relaxed);
    }

    /// Keeps a failure of TLS, if it is the first; gives its name.
    pub(crate) fn tls_failed(&self, failure: TlsFailure) -> FailureKind {
        let kind = tls_failure(&failure);
        self.tls_failure.get_or_init(|| failure);
        kind
    }

    /// Keeps how a connection without a request failed, if it is the first.
    pub(crate) fn broke(&self, kind: FailureKind) {
        self.broken.get_or_init(|| kind);
    }
}

/// When the load ends, and when waiting for its last responses ends. Both only move earlier.
#[derive(Debug)]
pub(crate) struct Control {
    /// Requests that may still be sent; `None` if their number is not limited.
    left: Option<AtomicU64>,
    first: Arc<FirstConnection>,
    /// Why a worker could not generate its requests.
    fault: OnceLock<SourceFault>,
    load_ends_ns: AtomicU64,
    drain_ends_ns: AtomicU64,
    drain: Duration,
}

impl Control {
    /// The load ends at `load_ends`; workers wait at most `drain` for what is under way then. At most `requests_max` requests
    /// are sent.
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

    /// How the first connection went.
    pub(crate) fn first(&self) -> &Arc<FirstConnection> {
        &self.first
    }

    pub(crate) fn load_ends(&self) -> Instant {
        Instant::from_nanos(self.load_ends_ns.load(Ordering::Relaxed))
    }

    pub(crate) fn drain_ends(&self) -> Instant {
        Instant::from_nanos(self.drain_ends_ns.load(Ordering::Relaxed))
    }

    /// Takes `count` of the requests that may still be sent. If fewer are left, takes none and ends the load.
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

    /// A worker could not generate its requests. The first fault is kept.
    pub(crate) fn report_fault(&self, fault: SourceFault) {
        self.fault.get_or_init(|| fault);
    }

    pub(crate) fn fault(&self) -> Option<&SourceFault> {
        self.fault.get()
    }

    /// Ends the load at `at`, unless it ends before; workers still wait for what is under way.
    pub(crate) fn end_load(&self, at: Instant) {
        self.load_ends_ns.fetch_min(at.as_nanos(), Ordering::Relaxed);
        self.end_drain(at + self.drain);
    }

    /// Ends the waiting at `at`, and with it the load.
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
