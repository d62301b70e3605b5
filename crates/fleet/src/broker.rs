//! The connection to the broker.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::time::Duration;

use async_nats::jetstream::{self, stream};
use async_nats::{Client, ConnectErrorKind, ConnectOptions, Event, ServerAddr, ServerError};
use plimsoll_units::{best_effort, duration_text};
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};

use crate::credentials;
use crate::error::FleetError;
use crate::wire::Subjects;

/// How long a connection may take.
const CONNECT_WITHIN: Duration = Duration::from_secs(5);
/// The longest wait between two tries to connect again.
const RECONNECT_MAX: Duration = Duration::from_secs(1);
/// The most that the stream of a run may hold. The broker reserves it, also for a run whose conductor died: where there is no
/// room, a smaller one is made. What does not fit waits at its agent.
const STREAM_BYTES_MAX: i64 = 8 << 30;
const STREAM_BYTES_MIN: i64 = 128 << 20;
/// What a conductor that died has left is gone after this time.
const STREAM_AGE: Duration = Duration::from_secs(24 * 3600);
/// A second copy of a message is dropped within this time.
const DUPLICATE_WINDOW: Duration = Duration::from_secs(120);
/// How often a frame is kept in a cluster, so that the loss of a node stops nothing.
const REPLICAS: usize = 3;
/// What a server says of what the credentials do not permit.
const VIOLATION: &str = "permissions violation";
/// What it says before it ends a connection for good.
const SHUT_OUT: [&str; 2] = ["authentication expired", "authentication revoked"];
/// The server is no cluster (its error code for more than one replica).
const NOT_CLUSTERED: u64 = 10_074;
/// It cannot reserve so many bytes.
const NO_ROOM: u64 = 10_047;
/// No node of a cluster can be given the stream, and that it is for its bytes.
const NO_NODE: u64 = 10_005;
const FOR_STORAGE: &str = "insufficient storage";

/// The addresses of a broker, separated by commas.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BrokerAddress(String);

impl FromStr for BrokerAddress {
    type Err = FleetError;

    fn from_str(text: &str) -> Result<Self, FleetError> {
        let wrong = || FleetError::Address { text: text.to_owned() };
        for part in text.split(',') {
            let scheme = part.split_once("://").map(|(scheme, _)| scheme).ok_or_else(wrong)?;
            let parsed: ServerAddr = part.parse().map_err(|_| wrong())?;
            if !matches!(scheme, "nats" | "tls") || parsed.host().is_empty() {
                return Err(wrong());
            }
        }
        Ok(Self(text.to_owned()))
    }
}

impl BrokerAddress {
    /// True if it has a user, or a password.
    pub(crate) fn has_login(&self) -> bool {
        self.0.contains('@')
    }

    /// True if both name the same node, among others.
    pub(crate) fn meets(&self, other: &Self) -> bool {
        self.0.split(',').any(|part| other.0.split(',').any(|own| own == part))
    }
}

impl fmt::Display for BrokerAddress {
    /// Without user and password.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (number, part) in self.0.split(',').enumerate() {
            let (scheme, rest) = part.split_once("://").unwrap_or(("nats", part));
            let host = rest.rsplit_once('@').map_or(rest, |(_, host)| host);
            write!(f, "{}{scheme}://{host}", if number == 0 { "" } else { "," })?;
        }
        Ok(())
    }
}

/// Files of TLS: how the broker proves itself, and this client.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Certificates {
    /// The authorities of the broker; those of the system if `None`.
    pub authorities: Option<PathBuf>,
    /// This client's certificate and its key, for a broker that asks for one.
    pub own: Option<(PathBuf, PathBuf)>,
}

impl Certificates {
    /// The authorities, this client's certificate and its key, as far as there are any.
    pub fn files(&self) -> [Option<&PathBuf>; 3] {
        let own = self.own.as_ref();
        [self.authorities.as_ref(), own.map(|(certificate, _)| certificate), own.map(|(_, key)| key)]
    }

    /// The options with these files; a connection without TLS is refused then.
    fn add_to(&self, mut options: ConnectOptions) -> ConnectOptions {
        if let Some(authorities) = &self.authorities {
            options = options.add_root_certificates(authorities.clone()).require_tls(true);
        }
        if let Some((certificate, key)) = &self.own {
            options = options.add_client_certificate(certificate.clone(), key.clone()).require_tls(true);
        }
        options
    }
}

/// Where a fleet meets.
#[derive(Debug, Clone)]
pub struct Broker {
    pub address: BrokerAddress,
    /// A NATS credentials file: a JWT and its key.
    pub credentials: Option<PathBuf>,
    pub certificates: Certificates,
    /// The name of the fleet: several may share a broker.
    pub fleet: String,
}

impl Broker {
    pub(crate) fn subjects(&self) -> Subjects {
        Subjects::new(&self.fleet)
    }

    /// Connects, with a place for answers of its own if one is given. The connection is taken up again by itself whenever it
    /// breaks.
    pub(crate) async fn connect(&self, name: &str, inbox: Option<String>) -> Result<Connected, FleetError> {
        let (sender, violations) = unbounded_channel();
        let options = self.options()?.name(name).connection_timeout(CONNECT_WITHIN);
        let options = options.reconnect_delay_callback(reconnect_delay).event_callback(move |event| {
            if let Some(error) = shutting_out(event) {
                best_effort(sender.send(error), "the connection is not used any more");
            }
            std::future::ready(())
        });
        let options = match inbox {
            Some(inbox) => options.custom_inbox_prefix(inbox),
            None => options,
        };
        let servers: Vec<ServerAddr> =
            self.address.0.split(',').filter_map(|part| part.parse().ok()).collect();
        let client = options.connect(servers).await.map_err(|error| self.not_connected(&error))?;
        Ok(Connected { client, violations })
    }

    /// Fails if the credentials expire before something that takes so long is over.
    ///
    /// # Errors
    /// Then, and when they cannot be read.
    pub(crate) fn check_credentials(&self, lasts: Duration) -> Result<(), FleetError> {
        let Some(path) = &self.credentials else { return Ok(()) };
        let text = read_credentials(path)?;
        match credentials::good_for(&text).filter(|good| *good < lasts) {
            Some(good) => {
                let [good, lasts] = [good, lasts].map(|time| duration_text(time.as_nanos() as f64));
                Err(FleetError::ExpireTooEarly { path: path.clone(), good, lasts })
            }
            None => Ok(()),
        }
    }

    fn options(&self) -> Result<ConnectOptions, FleetError> {
        let options = self.certificates.add_to(ConnectOptions::new());
        let Some(path) = &self.credentials else { return Ok(options) };
        let text = read_credentials(path)?;
        if let Some(ago) = credentials::expired_for(&text) {
            let ago = duration_text(ago.as_nanos() as f64);
            return Err(FleetError::Expired { path: path.clone(), ago });
        }
        options.credentials(&text).map_err(unreadable(path))
    }

    fn not_connected(&self, error: &async_nats::ConnectError) -> FleetError {
        let (address, why) = (self.address.to_string(), error.to_string());
        match error.kind() {
            ConnectErrorKind::Authentication | ConnectErrorKind::AuthorizationViolation => {
                FleetError::Refused { address, why }
            }
            _ if why.contains("CertificateRequired") => FleetError::CertificateRefused { address, why },
            _ if why.contains("invalid peer certificate") => FleetError::BrokerUnproven { address, why },
            _ => FleetError::Unreachable { address, why },
        }
    }

    /// Makes the stream of a run, on three nodes where there are so many, as large as the broker has room for.
    pub(crate) async fn make_stream(
        &self,
        context: &jetstream::Context,
        run: &str,
    ) -> Result<stream::Stream, FleetError> {
        let (mut bytes, mut replicas) = (STREAM_BYTES_MAX, REPLICAS);
        loop {
            match context.create_stream(self.stream_config(run, bytes, replicas)).await {
                Ok(stream) => return Ok(stream),
                Err(error) if is_refusal(&error, NOT_CLUSTERED) && replicas > 1 => replicas = 1,
                Err(error) if has_no_room(&error) && bytes > STREAM_BYTES_MIN => bytes /= 2,
                Err(error) => return Err(self.no_stream(&error)),
            }
        }
    }

    fn stream_config(&self, run: &str, max_bytes: i64, num_replicas: usize) -> stream::Config {
        let subjects = self.subjects();
        stream::Config {
            name: subjects.stream(run),
            subjects: vec![subjects.frames(run, "*")],
            storage: stream::StorageType::File,
            // What the run file has is gone from the stream.
            retention: stream::RetentionPolicy::WorkQueue,
            discard: stream::DiscardPolicy::New,
            max_bytes,
            max_age: STREAM_AGE,
            duplicate_window: DUPLICATE_WINDOW,
            num_replicas,
            ..stream::Config::default()
        }
    }

    fn no_stream(&self, error: &jetstream::context::CreateStreamError) -> FleetError {
        use jetstream::context::CreateStreamErrorKind as Kind;
        let why = error.to_string();
        match error.kind() {
            Kind::JetStreamUnavailable | Kind::TimedOut => {
                FleetError::NoJetStream { address: self.address.to_string(), why }
            }
            _ => FleetError::Stream { why },
        }
    }
}

fn unreadable(path: &Path) -> impl FnOnce(io::Error) -> FleetError {
    move |source| FleetError::Credentials { path: path.to_owned(), source }
}

fn read_credentials(path: &Path) -> Result<String, FleetError> {
    std::fs::read_to_string(path).map_err(unreadable(path))
}

/// The wait before a try to connect again, which doubles.
fn reconnect_delay(tries: usize) -> Duration {
    let doubled =
        Duration::from_millis(50) * 2_u32.saturating_pow(u32::try_from(tries).unwrap_or(31).min(10));
    doubled.min(RECONNECT_MAX)
}

/// The error that a connection cannot go on after; `None` if it can.
fn shutting_out(event: Event) -> Option<FleetError> {
    match event {
        Event::Closed => Some(FleetError::ShutOut),
        Event::ServerError(ServerError::Other(why)) => {
            let text = why.to_ascii_lowercase();
            let is_shut_out = SHUT_OUT.iter().any(|part| text.contains(part));
            let is_forbidden = text.contains(VIOLATION);
            is_forbidden
                .then_some(FleetError::Forbidden { why })
                .or(is_shut_out.then_some(FleetError::ShutOut))
        }
        _ => None,
    }
}

/// A connection to the broker.
pub(crate) struct Connected {
    pub(crate) client: Client,
    /// What the broker does not permit.
    pub(crate) violations: UnboundedReceiver<FleetError>,
}

impl Connected {
    /// An error that a violation of the credentials' rights explains better, if there was one.
    pub(crate) fn explain(&mut self, error: FleetError) -> FleetError {
        self.violations.try_recv().unwrap_or(error)
    }
}

fn has_no_room(error: &jetstream::context::CreateStreamError) -> bool {
    let is_for_storage = || error.to_string().contains(FOR_STORAGE);
    is_refusal(error, NO_ROOM) || is_refusal(error, NO_NODE) && is_for_storage()
}

fn is_refusal(error: &jetstream::context::CreateStreamError, code: u64) -> bool {
    use jetstream::context::CreateStreamErrorKind as Kind;
    matches!(error.kind(), Kind::JetStream(answer) if answer.error_code().0 == code)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_have_a_scheme_and_a_host() {
        for good in ["nats://127.0.0.1:4222", "tls://a:1,nats://b:2"] {
            assert_eq!(good.parse::<BrokerAddress>().unwrap().to_string(), good);
        }
        for bad in
            ["", "4222", "localhost", "127.0.0.1:4222", "http://a:1", "nats://", "nats://a:1,", "nats://a:x"]
        {
            assert!(bad.parse::<BrokerAddress>().is_err(), "{bad}");
        }
    }

    #[test]
    fn a_password_is_not_shown() {
        let address: BrokerAddress = "nats://me:secret@127.0.0.1:4222".parse().unwrap();
        assert_eq!(address.to_string(), "nats://127.0.0.1:4222");
    }
}
