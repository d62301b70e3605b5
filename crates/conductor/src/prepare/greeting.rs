//! The first connection is made ready for requests as those of the load will be: TLS first, then HTTP/2.

use std::sync::atomic::AtomicBool;

use plimsoll_engine::FixedRequest;
use plimsoll_plan::{Plan, TlsSpec};
use plimsoll_record::{FailureKind, FirstAnswer, TlsUsed};
use plimsoll_sys::Peer;
use plimsoll_tls::{Established, TlsFailure};

use super::{Open, PrepareError};
use crate::attempt::{self, AttemptError, broken};
use crate::line::{Line, Patience};
use crate::link::Link;
use crate::security::Security;

/// The alert of a server that speaks none of the protocols offered (RFC 7301, section 3.2).
const NO_APPLICATION_PROTOCOL: u8 = 120;

/// A connection that is ready for requests.
#[derive(Debug)]
pub(super) struct Greeted<'a> {
    plan: &'a Plan,
    interrupted: &'a AtomicBool,
    peer: Peer,
    line: Line,
    link: Option<Link>,
    /// How it is encrypted.
    pub(super) tls: Option<TlsUsed>,
}

/// Shakes hands and begins HTTP/2, as far as the plan asks for them.
pub(super) fn greet<'a>(
    plan: &'a Plan,
    open: Open,
    security: Option<&Security>,
    interrupted: &'a AtomicBool,
) -> Result<Greeted<'a>, PrepareError> {
    let Open { peer, stream, .. } = open;
    let line = Line::new(stream);
    let mut greeted = Greeted { plan, interrupted, peer, line, link: None, tls: None };
    if let (Some(security), Some(spec)) = (security, &plan.tls) {
        greeted.tls = Some(greeted.shake_hands(security, spec)?);
    }
    if plan.http2 {
        greeted.link = Some(greeted.begin_http2()?);
    }
    Ok(greeted)
}

impl<'a> Greeted<'a> {
    /// The one request before the load, and its answer.
    pub(super) fn ask(&mut self, request: &FixedRequest) -> Result<FirstAnswer, PrepareError> {
        let patience = self.patience();
        let Self { line, link, .. } = self;
        let answer = match link {
            None => attempt::ask(request, line, &patience),
            Some(link) => link.ask(request, line, &patience),
        };
        answer.map_err(|error| self.refusal(error, unanswered))
    }

    fn patience(&self) -> Patience<'a> {
        Patience::new(self.plan.generator.timeout, self.interrupted)
    }

    fn shake_hands(&mut self, security: &Security, spec: &TlsSpec) -> Result<TlsUsed, PrepareError> {
        let name = &security.order.name;
        let session = security.first.session(name).map_err(PrepareError::Random)?;
        let secured = self.line.secure(session, &self.patience());
        let established = secured.map_err(|error| {
            let error = broken(error, FailureKind::TlsHandshake);
            self.refusal(error, |peer, kind| PrepareError::Handshake { peer, reason: reason(kind) })
        })?;
        match established.alpn.as_deref() {
            Some(b"h2") => {}
            _ if !self.plan.http2 => {}
            chosen => return Err(self.without_http2(&chosen_instead(chosen))),
        }
        Ok(self.used(&established, spec))
    }

    fn used(&self, established: &Established, spec: &TlsSpec) -> TlsUsed {
        TlsUsed {
            version: established.version.to_owned(),
            cipher: established.cipher.to_owned(),
            resumption: spec.resumption,
            verified: !spec.insecure,
            // A certificate that was verified is for the name that was asked for; of others nothing is known.
            peer: (!spec.insecure).then(|| self.plan.target.host.clone()),
        }
    }

    fn begin_http2(&mut self) -> Result<Link, PrepareError> {
        let patience = self.patience();
        let link = Link::begin(&mut self.line, &patience);
        link.map_err(|error| {
            let reason = match &error {
                AttemptError::Failed(FailureKind::TimedOut) => "it said nothing within the timeout",
                AttemptError::Failed(FailureKind::H2Protocol) => "what it says is not HTTP/2",
                _ => "it closed the connection",
            };
            self.refusal(error, |_, _| self.without_http2(reason))
        })
    }

    fn without_http2(&self, reason: &str) -> PrepareError {
        PrepareError::NoHttp2 { peer: self.peer.clone(), reason: reason.to_owned() }
    }

    /// Why the run cannot begin; failures of TLS have their own words, all others get `otherwise`.
    fn refusal(
        &self,
        error: AttemptError,
        otherwise: impl FnOnce(Peer, FailureKind) -> PrepareError,
    ) -> PrepareError {
        match error {
            AttemptError::Interrupted => PrepareError::Interrupted,
            AttemptError::Tls(TlsFailure::Refused(alert))
                if self.plan.http2 && alert.code() == NO_APPLICATION_PROTOCOL =>
            {
                self.without_http2("in the TLS handshake it refuses the protocol")
            }
            AttemptError::Tls(failure) => {
                let kind = plimsoll_engine::tls_failure(&failure).name();
                PrepareError::Tls { kind, peer: self.peer.clone(), failure }
            }
            AttemptError::Failed(kind) => otherwise(self.peer.clone(), kind),
        }
    }
}

fn unanswered(peer: Peer, kind: FailureKind) -> PrepareError {
    let row = kind.row();
    let remedy = row.remedy_over(peer.tcp().is_none());
    PrepareError::FirstRequest { kind: row.name, peer, meaning: row.meaning, remedy }
}

/// Why a handshake did not come to its end.
fn reason(kind: FailureKind) -> &'static str {
    match kind {
        FailureKind::TimedOut => {
            "no answer within the timeout; check that the port is one for https, or raise --timeout"
        }
        _ => "the connection was reset; check that the port is one for https, and see the server's error log",
    }
}

fn chosen_instead(protocol: Option<&[u8]>) -> String {
    match protocol {
        Some(chosen) => format!("in the TLS handshake it chose {}", String::from_utf8_lossy(chosen)),
        None => "in the TLS handshake it chose no protocol".to_owned(),
    }
}
