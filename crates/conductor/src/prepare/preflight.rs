//! The engine's single connection before the load: its TLS parameters, whether HTTP/2 is spoken on it, and the response to
//! one request.

use std::io;
use std::net::IpAddr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use plimsoll_engine::{
    CheckResult, FirstConnection, FixedRequest, RequestMeta, RequestSource, ResponseInterest, ResponseView,
    SourceFactory, SourceFault, StepSpec, Traffic,
};
use plimsoll_plan::{ArrivalProcess, DriverKind, Level, Plan, RateProfile, Shard, Stage, TlsSpec};
use plimsoll_record::{FailureKind, FirstAnswer, Frame, TlsUsed};
use plimsoll_sys::Destination;
use plimsoll_tls::TlsFailure;
use plimsoll_units::{Clock, Instant, RealClock};

use super::error::PrepareError;
use super::security::Security;
use super::tls_port::speaks_tls;
use crate::load::{Load, Policy, measure};

/// The TLS alert of a server that supports none of the offered protocols (RFC 7301, section 3.2).
const NO_APPLICATION_PROTOCOL: u8 = 120;

/// The interval of a frame; a failure is known after one interval.
const INTERVAL: Duration = Duration::from_millis(10);

/// The results of the first connection.
#[derive(Debug, Default)]
pub(super) struct Examined {
    pub(super) tls: Option<TlsUsed>,
    pub(super) first: Option<FirstAnswer>,
    /// The most concurrent requests that an HTTP/2 server allows on one connection; `None` without a limit.
    pub(super) streams_max: Option<u32>,
}

/// One connection to examine.
#[derive(Debug)]
pub(super) struct Preflight<'a> {
    pub(super) plan: &'a Plan,
    pub(super) peer: &'a Destination,
    pub(super) security: Option<&'a Security>,
    pub(super) request: Option<&'a FixedRequest>,
    pub(super) interrupted: &'a AtomicBool,
}

impl Preflight<'_> {
    /// Examines the connection. A plain connection without a request is skipped: that connecting works is already known.
    pub(super) fn run(&self) -> Result<Examined, PrepareError> {
        if self.security.is_none() && !self.plan.http2 && self.request.is_none() {
            return Ok(Examined::default());
        }
        let began = RealClock.now();
        let answer = Arc::new(OnceLock::new());
        let mut load = Load::alone(&self.step(&answer, began))?;
        let mut examining = Examining {
            preflight: self,
            answer: &answer,
            gives_up: began + self.longest(),
            failed: None,
            over: false,
        };
        measure(&mut load, &mut examining)?;
        let failed = examining.failed.unwrap_or(FailureKind::TimedOut);
        self.outcome(load.first_connection(), failed, answer.get())
    }

    /// The longest time of the examination: connecting, the TLS handshake and the request each have the plan's timeout.
    fn longest(&self) -> Duration {
        self.plan.generator.timeout * if self.request.is_some() { 3 } else { 1 }
    }

    /// A step of one connection, which is not reopened, and of at most one request.
    fn step(&self, answer: &Arc<OnceLock<FirstAnswer>>, origin: Instant) -> StepSpec {
        let duration = self.longest() + self.plan.generator.timeout;
        let profile = match self.request {
            Some(_) => RateProfile::Constant(duration.as_secs_f64().recip()),
            None => RateProfile::Stages(vec![Stage { from_per_sec: 0.0, to_per_sec: 0.0, duration }]),
        };
        let request = self.request.cloned().unwrap_or_else(|| FixedRequest::new(Vec::new(), "GET"));
        let once = SingleRequestSource { request, answer: Arc::clone(answer), sent: origin };
        StepSpec {
            step: 0,
            level: Level::Open { profile, arrivals: ArrivalProcess::Constant, connections: 1, depth: 1 },
            duration,
            destinations: vec![self.peer.clone()],
            sources: self.plan.network.source_ips.clone(),
            traffic: Traffic::Generated(Arc::new(once)),
            requests: 1,
            depth: 1,
            requests_max: Some(1),
            streams: self.plan.http2,
            tls: self.security.map(|security| security.first.clone()),
            workers: 1,
            group: None,
            timeout: self.plan.generator.timeout,
            connections_max: 1,
            interval: INTERVAL,
            seed: 0,
            driver: Some(DriverKind::Epoll),
            origin,
        }
    }

    fn outcome(
        &self,
        seen: &FirstConnection,
        failed: FailureKind,
        answer: Option<&FirstAnswer>,
    ) -> Result<Examined, PrepareError> {
        if let Some(failure) = seen.tls_failure.get() {
            return Err(self.tls_refusal(failure.clone()));
        }
        let tls = self.plan.tls.as_ref().map(|spec| self.encryption(spec, seen, failed)).transpose()?;
        if self.plan.http2 && seen.http2.get().is_none() {
            return Err(self.without_http2(match failed {
                FailureKind::TimedOut => "it said nothing within the timeout",
                FailureKind::H2NotSpoken | FailureKind::H2FrameSize => "what it says is not HTTP/2",
                _ => "it closed the connection",
            }));
        }
        let streams_max = seen.streams_max();
        if streams_max == 0 {
            return Err(PrepareError::NoStreams { peer: self.peer.clone() });
        }
        if self.is_refused_in_plain(answer) && speaks_tls(self.peer, &self.plan.target.host) {
            let url = &self.plan.target.url;
            let url = format!("https://{}", url.split_once("://").map_or(url.as_str(), |(_, rest)| rest));
            return Err(PrepareError::SpeaksTls { peer: self.peer.clone(), url });
        }
        let first =
            self.request.map(|_| answer.cloned().ok_or_else(|| self.unanswered(failed))).transpose()?;
        Ok(Examined { tls, first, streams_max: (streams_max < u32::MAX).then_some(streams_max) })
    }

    /// True if a request in plain HTTP/1.1 got no meaningful response: a TLS server closes the connection, sends an alert, or answers
    /// with status 400.
    fn is_refused_in_plain(&self, answer: Option<&FirstAnswer>) -> bool {
        let is_plain = self.security.is_none() && !self.plan.http2 && self.request.is_some();
        is_plain && answer.is_none_or(|answer| answer.status == 400)
    }

    fn encryption(
        &self,
        spec: &TlsSpec,
        seen: &FirstConnection,
        failed: FailureKind,
    ) -> Result<TlsUsed, PrepareError> {
        let Some(established) = seen.established.get() else {
            let reason = match failed {
                FailureKind::TimedOut => {
                    "no answer within the timeout; check that the port is one for https, or raise --timeout"
                }
                _ => {
                    "the connection was reset; check that the port is one for https, and see the server's error log"
                }
            };
            return Err(PrepareError::Handshake { peer: self.peer.clone(), reason, hint: self.tls_hint() });
        };
        let alpn = established.alpn.as_deref();
        if self.plan.http2 && alpn != Some(b"h2") {
            let chosen = alpn.map_or("no protocol".into(), String::from_utf8_lossy);
            return Err(self.without_http2(&format!("in the TLS handshake it chose {chosen}")));
        }
        Ok(TlsUsed {
            version: established.version.to_owned(),
            cipher: established.cipher.to_owned(),
            resumption: spec.resumption,
            verified: !spec.insecure,
            // A verified certificate is valid for the requested name. An unverified one proves no name.
            peer: (!spec.insecure).then(|| self.plan.target.host.clone()),
        })
    }

    fn tls_refusal(&self, failure: TlsFailure) -> PrepareError {
        match failure {
            TlsFailure::Refused(alert) if self.plan.http2 && alert.code() == NO_APPLICATION_PROTOCOL => {
                self.without_http2("in the TLS handshake it refuses the protocol")
            }
            failure => {
                let kind = plimsoll_engine::tls_failure(&failure).name();
                PrepareError::Tls { kind, peer: self.peer.clone(), failure, hint: self.tls_hint() }
            }
        }
    }

    /// A hint for a URL with an IP address: a server that selects its certificate by name may refuse a client without SNI (RFC 6066
    /// section 3).
    fn tls_hint(&self) -> &'static str {
        match self.plan.target.host.parse::<IpAddr>() {
            Ok(_) => {
                "; the URL has an IP address, so that no server name (SNI) was sent: write the name in the URL and give the \
                 address with --resolve"
            }
            Err(_) => "",
        }
    }

    fn without_http2(&self, reason: &str) -> PrepareError {
        PrepareError::NoHttp2 { peer: self.peer.clone(), reason: reason.to_owned() }
    }

    fn unanswered(&self, kind: FailureKind) -> PrepareError {
        PrepareError::FirstRequest { kind, peer: self.peer.clone() }
    }
}

/// A connection during its examination.
struct Examining<'a> {
    preflight: &'a Preflight<'a>,
    answer: &'a OnceLock<FirstAnswer>,
    gives_up: Instant,
    /// How the request or the connection attempt failed.
    failed: Option<FailureKind>,
    /// True once the examination is over.
    over: bool,
}

impl Examining<'_> {
    /// True once all results are known, or cannot become known.
    fn knows(&self, seen: &FirstConnection) -> bool {
        let Preflight { plan, security, request, .. } = self.preflight;
        let secured = security.is_none() || seen.established.get().is_some();
        // A server may first allow no streams and raise that limit later.
        let speaks = !plan.http2 || (seen.http2.get().is_some() && seen.streams_max() > 0);
        let answered = request.is_none() || self.answer.get().is_some();
        (secured && speaks && answered) || seen.tls_failure.get().is_some() || self.failed.is_some()
    }
}

impl Policy for Examining<'_> {
    type Error = PrepareError;

    const WAIT: Duration = Duration::from_millis(2);

    fn frame(&mut self, _load: &mut Load, frame: Box<Frame>, _now: Instant) -> Result<(), PrepareError> {
        // Failures after the end are caused by the end itself.
        if !self.over {
            let kind = frame.head.counts.failed.iter().next().map(|(kind, _)| kind);
            self.failed = self.failed.or(kind);
        }
        Ok(())
    }

    fn turn(&mut self, load: &mut Load, now: Instant) -> Result<(), PrepareError> {
        if self.preflight.interrupted.load(Ordering::Relaxed) {
            return Err(PrepareError::Interrupted);
        }
        let seen = load.first_connection();
        self.failed = self.failed.or(seen.broken.get().copied());
        if !self.over && (self.knows(seen) || now >= self.gives_up) {
            self.over = true;
            load.abandon();
        }
        Ok(())
    }
}

/// A source of one request, which stores facts about its response.
#[derive(Debug, Clone)]
struct SingleRequestSource {
    request: FixedRequest,
    answer: Arc<OnceLock<FirstAnswer>>,
    sent: Instant,
}

impl SourceFactory for SingleRequestSource {
    fn create(&self, _shard: Shard) -> io::Result<Box<dyn RequestSource>> {
        Ok(Box::new(self.clone()))
    }
}

impl RequestSource for SingleRequestSource {
    fn write(&mut self, out: &mut Vec<u8>) -> Result<RequestMeta, SourceFault> {
        out.extend_from_slice(&self.request.bytes);
        self.sent = RealClock.now();
        Ok(self.request.meta)
    }

    fn interest(&self) -> ResponseInterest {
        ResponseInterest::Outcome
    }

    fn inspect(&mut self, _request: u16, response: &ResponseView<'_>) -> Result<CheckResult, SourceFault> {
        self.answer.get_or_init(|| FirstAnswer {
            status: response.status,
            body_bytes: response.body_bytes,
            service_ns: RealClock.now().nanos_since(self.sent),
            keep_alive: response.keep_alive,
        });
        Ok(CheckResult::ByStatus)
    }
}
