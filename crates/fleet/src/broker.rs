//! The connection to the broker.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use async_nats::{Client, ClientError, ConnectErrorKind, ConnectOptions, Event, ServerAddr, ServerError};
use percent_encoding::percent_decode_str;
use plimsoll_units::{best_effort, duration_text};
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};

use crate::credentials;
use crate::error::FleetError;
use crate::wire::Subjects;

/// How long a connection may take.
const CONNECT_WITHIN: Duration = Duration::from_secs(5);
/// The longest wait between two tries to connect again.
const RECONNECT_MAX: Duration = Duration::from_secs(1);
/// The conductor pings the broker after this much silence. Without an answer it gives the connection up after three such intervals
/// (1.5 s), before agents count as lost (2.5 s).
const PING_INTERVAL: Duration = Duration::from_millis(500);
/// The ping interval of an agent. One that is cut off for so long is lost in any case.
const AGENT_PING_INTERVAL: Duration = Duration::from_secs(2);
/// After this many refused reconnections in a row, which take about 7 s, the broker is taken not to admit this process any more. A
/// starting node may refuse some.
const REFUSALS_MAX: u32 = 10;
/// What a server says if the credentials do not permit something.
const VIOLATION: &str = "permissions violation";
/// What a server says before it ends a connection for good.
const SHUT_OUT: [&str; 2] = ["authentication expired", "authentication revoked"];

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

    /// Adds the login of the address to the options. The first login in the list counts for all nodes.
    fn log_in(&self, options: ConnectOptions) -> ConnectOptions {
        let mut nodes = self.0.split(',').filter_map(|part| part.parse::<ServerAddr>().ok());
        let decoded = |text: &str| percent_decode_str(text).decode_utf8_lossy().into_owned();
        let login = |node: ServerAddr| Some((decoded(node.username()?), node.password().map(decoded)));
        match nodes.find_map(login) {
            Some((user, Some(password))) => options.user_and_password(user, password),
            // A user without a password is a token, as in other clients of NATS.
            Some((token, None)) => options.token(token),
            None => options,
        }
    }

    /// True if both name at least one node in common.
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

/// TLS files that authenticate the broker and this client.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Certificates {
    /// The authorities that the broker's certificate is verified against; those of the system if `None`.
    pub authorities: Option<PathBuf>,
    /// This client's certificate and its key, for a broker that asks for one.
    pub own: Option<(PathBuf, PathBuf)>,
}

impl Certificates {
    /// The paths of the authorities, of this client's certificate and of its key.
    pub fn files(&self) -> [Option<&PathBuf>; 3] {
        let own = self.own.as_ref();
        [self.authorities.as_ref(), own.map(|(certificate, _)| certificate), own.map(|(_, key)| key)]
    }

    /// Adds these files to the options. A connection without TLS is refused then.
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

/// The broker of a fleet, and how to log in.
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

    /// Connects. `inbox` is the prefix of an agent for the replies to it. The client reconnects by itself whenever the connection
    /// breaks.
    pub(crate) async fn connect(&self, name: &str, inbox: Option<String>) -> Result<Connected, FleetError> {
        let (sender, violations) = unbounded_channel();
        let options = self.options()?.name(name).connection_timeout(CONNECT_WITHIN);
        let refusals = AtomicU32::new(0);
        let options = options.reconnect_delay_callback(reconnect_delay).event_callback(move |event| {
            if let Some(error) = shutting_out(event, &refusals) {
                best_effort(sender.send(error), "the connection is not used any more");
            }
            std::future::ready(())
        });
        let options = match inbox {
            Some(inbox) => options.custom_inbox_prefix(inbox).ping_interval(AGENT_PING_INTERVAL),
            None => options.ping_interval(PING_INTERVAL),
        };
        let servers: Vec<ServerAddr> =
            self.address.0.split(',').filter_map(|part| part.parse().ok()).collect();
        let client = options.connect(servers).await.map_err(|error| self.not_connected(&error))?;
        Ok(Connected { client, violations })
    }

    /// Fails if the credentials expire within `lasts`.
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
        let Some(path) = &self.credentials else { return Ok(self.address.log_in(options)) };
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
}

fn unreadable(path: &Path) -> impl FnOnce(io::Error) -> FleetError {
    move |source| FleetError::Credentials { path: path.to_owned(), source }
}

fn read_credentials(path: &Path) -> Result<String, FleetError> {
    std::fs::read_to_string(path).map_err(unreadable(path))
}

/// The wait before a reconnection, which doubles with each try.
fn reconnect_delay(tries: usize) -> Duration {
    let doubled =
        Duration::from_millis(50) * 2_u32.saturating_pow(u32::try_from(tries).unwrap_or(31).min(10));
    doubled.min(RECONNECT_MAX)
}

/// Returns the error after which a connection cannot go on; `None` if it can. Counts refused reconnections.
fn shutting_out(event: Event, refusals: &AtomicU32) -> Option<FleetError> {
    match event {
        Event::Closed => Some(FleetError::ShutOut),
        Event::Connected => {
            refusals.store(0, Ordering::Relaxed);
            None
        }
        Event::ClientError(ClientError::Other(why)) if is_refusal(&why) => {
            let before = refusals.fetch_add(1, Ordering::Relaxed);
            (before + 1 >= REFUSALS_MAX).then_some(FleetError::ShutOut)
        }
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

/// True if a reconnection failed because the broker does not admit this client. The event holds only the text of that error.
fn is_refusal(why: &str) -> bool {
    let refusals = [ConnectErrorKind::AuthorizationViolation, ConnectErrorKind::Authentication];
    refusals.iter().any(|kind| kind.to_string() == why)
}

/// A connection to the broker.
pub(crate) struct Connected {
    pub(crate) client: Client,
    /// Permissions that the broker denied, and why it does not serve this connection any more.
    pub(crate) violations: UnboundedReceiver<FleetError>,
}

impl Connected {
    /// Returns the broker's own error if there was one, as it explains more, or else `error`.
    pub(crate) fn explain(&mut self, error: FleetError) -> FleetError {
        self.violations.try_recv().unwrap_or(error)
    }
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

    #[test]
    fn a_broker_that_goes_on_refusing_lets_a_client_in_no_more() {
        let refusals = AtomicU32::new(0);
        let failed = |kind: ConnectErrorKind| Event::ClientError(ClientError::Other(kind.to_string()));
        let refused = || shutting_out(failed(ConnectErrorKind::AuthorizationViolation), &refusals);
        assert!((1..REFUSALS_MAX).all(|_| refused().is_none()), "a node that starts may refuse some");
        assert!(shutting_out(failed(ConnectErrorKind::Io), &refusals).is_none(), "it is away meanwhile");
        assert!(matches!(refused(), Some(FleetError::ShutOut)));
        assert!(shutting_out(Event::Connected, &refusals).is_none());
        assert!(refused().is_none(), "it was let in");
    }
}
