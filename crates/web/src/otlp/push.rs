//! Sends pushes, one after another, over one connection.

use std::io;
use std::time::Duration;

use plimsoll_host::page_agent;
use plimsoll_units::escape_control;
use ureq::Agent;

use super::answer::judge;
use super::settings::OtlpSettings;

/// The longest response that is read, in bytes.
const MAX_ANSWER_BYTES: u64 = 64 << 10;
/// The default port of collectors for OTLP over gRPC.
const GRPC_PORT: &str = ":4317/";

/// The result of a push; the error is the reason, in words that are safe to show on a terminal.
pub(super) type Outcome = Result<(), String>;

/// The collector that receives the metrics.
#[derive(Debug)]
pub(super) struct Collector<'a> {
    agent: Agent,
    settings: &'a OtlpSettings,
}

impl<'a> Collector<'a> {
    pub(super) fn new(settings: &'a OtlpSettings) -> Self {
        Self { agent: page_agent(&settings.url, settings.timeout), settings }
    }

    /// Sends a message and waits for the response until the timeout. A failed push is not retried: the next message has the
    /// same counts and more.
    pub(super) fn push(&self, message: &[u8]) -> Outcome {
        let mut request = self.agent.post(&self.settings.url).content_type("application/x-protobuf");
        for (name, value) in &self.settings.headers {
            request = request.header(name, value);
        }
        let failed = |error: ureq::Error| self.failure(error);
        let mut answer = request.send(message).map_err(failed)?;
        let status = answer.status().as_u16();
        let body = answer.body_mut().with_config().limit(MAX_ANSWER_BYTES).read_to_vec().map_err(failed)?;
        judge(status, &body)
    }

    fn failure(&self, error: ureq::Error) -> String {
        let why = match error {
            ureq::Error::Timeout(_) => late(self.settings.timeout),
            ureq::Error::Io(error) if error.kind() == io::ErrorKind::TimedOut => late(self.settings.timeout),
            ureq::Error::Io(error) if error.kind() == io::ErrorKind::ConnectionRefused => {
                "connection refused (see that a collector listens there)".to_owned()
            }
            other => escape_control(&other.to_string()),
        };
        match self.settings.url.contains(GRPC_PORT) {
            true => format!("{why} (port 4317 is usually for gRPC; OTLP over HTTP is at 4318)"),
            false => why,
        }
    }
}

fn late(timeout: Duration) -> String {
    format!("no answer within {} s", timeout.as_secs_f64())
}
