//! Errors of fleets.

use std::io;
use std::path::PathBuf;

use plimsoll_kubernetes::KubernetesError;

/// An error of a fleet.
#[derive(Debug, thiserror::Error)]
pub enum FleetError {
    #[error("{text:?} is no address of a broker; write nats://HOST:PORT, several with commas")]
    Address { text: String },
    #[error("could not read the credentials in {}: {source}", path.display())]
    Credentials { path: PathBuf, source: io::Error },
    #[error("could not read {}, which agents need: {source}", path.display())]
    AgentFile { path: PathBuf, source: io::Error },
    #[error(
        "the address that agents join, {address}, has a user and a password, which every list of processes would show; give nats://HOST:PORT with --join, and agents credentials of their own with --keys DIR"
    )]
    LoginInAddress { address: String },
    #[error(
        "the broker asks for credentials, and agents would have none; give --keys DIR, the folder of plimsoll fleet keys, and each gets its own"
    )]
    NoKeys,
    #[error(
        "a Secret holds 1 MiB and the files of {agents} agents take {bytes} bytes; start several fleets of fewer agents, each with a --job of its own"
    )]
    SecretTooLarge { agents: usize, bytes: usize },
    #[error("could not use the key in {}: {why}", path.display())]
    Key { path: PathBuf, why: String },
    #[error("could not write {}: {source}; name another folder, or remove it", path.display())]
    SecretFile { path: PathBuf, source: io::Error },
    #[error(
        "could not connect to the broker at {address}: {why}; start one, or check the address with plimsoll fleet status"
    )]
    Unreachable { address: String, why: String },
    #[error(
        "the broker at {address} refused the credentials, or there were none: {why}; give --fleet-credentials FILE (agents: --credentials FILE), as plimsoll fleet keys makes them, or write a user and a password into the address of a broker that asks for these (nats://USER:PASSWORD@HOST; it is not stored, so give it to fleet resume again)"
    )]
    Refused { address: String, why: String },
    #[error(
        "the credentials in {} expired {ago} ago; make new ones with plimsoll fleet keys DIR --agents NAME", path.display()
    )]
    Expired { path: PathBuf, ago: String },
    #[error(
        "the credentials in {} are good for {good}, and the run takes up to {lasts}; make new ones with plimsoll fleet keys DIR --valid TIME, for its agents too", path.display()
    )]
    ExpireTooEarly { path: PathBuf, good: String, lasts: String },
    #[error(
        "the broker lets this process in no more: the credentials expired or were taken back, or the broker has other keys now; make new ones with plimsoll fleet keys DIR --agents NAME"
    )]
    ShutOut,
    #[error(
        "the credentials do not permit this at the broker: {why}; an agent has the name for which plimsoll fleet keys made its credentials, and only conductor.creds are for conductors"
    )]
    Forbidden { why: String },
    #[error(
        "the broker at {address} refused this client's certificate, or there was none: {why}; give --fleet-cert FILE and --fleet-cert-key FILE (agents: --cert FILE --cert-key FILE)"
    )]
    CertificateRefused { address: String, why: String },
    #[error(
        "the certificate of the broker at {address} was refused: {why}; name its authority with --fleet-cacert FILE (agents: --cacert FILE)"
    )]
    BrokerUnproven { address: String, why: String },
    #[error(
        "the broker at {address} has no JetStream ({why}); start nats-server with -js, or enable it for this account"
    )]
    NoJetStream { address: String, why: String },
    #[error(
        "the broker could not make the stream of the run: {why}; free space there, or raise the account's limit of JetStream"
    )]
    Stream { why: String },
    #[error(
        "the broker has no room for the stream of the run: {why}; it has streams of other runs of this fleet ({streams}). `nats stream rm NAME` removes one, and with it what `plimsoll fleet resume` would need of that run; or raise the account's limit of JetStream"
    )]
    NoRoom { why: String, streams: String },
    #[error("could not read the stream of the run at the broker: {why}; see the broker's log")]
    Unread { why: String },
    #[error(
        "the plan takes {bytes} bytes and the broker carries {most} in one message; raise max_payload of nats-server, or send fewer requests and a smaller CSV file"
    )]
    PlanTooLarge { bytes: usize, most: usize },
    #[error(
        "no agent answered at {address} within {within_sec} s; start some with: plimsoll agent --join {address} --allow HOST:PORT"
    )]
    NoAgents { address: String, within_sec: u64 },
    #[error(
        "{came} of {expected} agents answered within {within_sec} s ({names}); start the others, or ask for fewer with --agents {came}"
    )]
    TooFew { came: usize, expected: usize, within_sec: u64, names: String },
    #[error(
        "{came} of {expected} agents were free within {within_sec} s, and others take part in a run ({busy}); wait until that has ended, or start more under other names"
    )]
    Busy { came: usize, expected: usize, within_sec: u64, busy: String },
    #[error(
        "agents answer at the broker already under these names: {names}; end them where they run (plimsoll fleet down), or start these under other names (--fleet-name, on Kubernetes --job)"
    )]
    NamesTaken { names: String },
    #[error("two agents call themselves {name}; start one of them with another --name")]
    SameName { name: String },
    #[error("agent {name} is plimsoll {theirs}, and this one {ours}; start the same on all")]
    Version { name: String, theirs: String, ours: String },
    #[error("agent {name} does not take part: {why}")]
    NotTaken { name: String, why: String },
    #[error(
        "agent {name} still hears the conductor of this run; wait until that has ended its load, or end it with Ctrl-C"
    )]
    Conducted { name: String },
    #[error(
        "no agent at {address} has anything of run {run}, and the broker holds nothing of it: start those agents and the broker that made it, or read what is recorded with plimsoll report"
    )]
    NothingLeft { address: String, run: String },
    #[error("the record of the fleet next to the run file cannot be read ({why}); restore it from a copy")]
    Session { why: String },
    #[error("{why}")]
    Local { why: String },
    #[error(transparent)]
    Kubernetes(#[from] KubernetesError),
    #[error("{said}; if that is of a fleet, end it with {down}; if not, name another --job")]
    KubernetesTaken { said: String, down: String },
    /// After the error `first`, the cleanup was incomplete.
    #[error("{first}\nThis may be left: {left}; remove it with {down}")]
    KubernetesLeft { first: Box<Self>, left: String, down: String },
    #[error("{came} of {expected} agents answered at the broker; these did not:\n{reasons}")]
    NotReady { came: usize, expected: usize, reasons: String },
    #[error("pod {name} has not ended within a minute; see kubectl describe pod {name}")]
    PodLeft { name: String },
    #[error(
        "{host} and another host would have agents of one name, {name:?}, or it is no name; give one of them an alias in ssh's configuration, and write that"
    )]
    HostName { host: String, name: String },
    #[error("{failed} of {hosts} hosts cannot be used, so no agent was left running:\n{reasons}")]
    NotPlaced { failed: usize, hosts: usize, reasons: String },
    #[error("{} says that a fleet runs over ssh; end it with plimsoll fleet down --ssh", folder.display())]
    SshRunning { folder: PathBuf },
    #[error(
        "these hosts could not end their agents; run plimsoll fleet down --ssh again once they can be reached:\n{reasons}"
    )]
    HostsLeft { reasons: String },
    #[error(
        "{} has the compose file of a fleet; end it with plimsoll fleet down --compose, or name another --dir", folder.display()
    )]
    ComposeRunning { folder: PathBuf },
    #[error(
        "docker compose {doing} failed: {why}; see that it works here, or name another program with PLIMSOLL_COMPOSE (docker-compose, podman-compose)"
    )]
    Compose { doing: String, why: String },
    #[error("docker compose {doing} took too long and was stopped; pull the images first, or raise --within")]
    ComposeLate { doing: String },
    #[error(
        "interrupted before docker compose had removed the containers; remove them with plimsoll fleet down --compose --dir {}", folder.display()
    )]
    ComposeLeft { folder: PathBuf },
    #[error("interrupted before the agents had come together")]
    Interrupted,
    #[error("{doing}: {source}")]
    System { doing: &'static str, source: io::Error },
    /// The folder of a fleet is removed with the fleet, so it must hold no other files.
    #[error("{} holds other files, which would go with the fleet; name a new folder with --dir", folder.display())]
    FolderInUse { folder: PathBuf },
    #[error("the thread that speaks with the broker has ended: {why}")]
    Ended { why: String },
}

impl FleetError {
    pub(crate) fn system(doing: &'static str) -> impl FnOnce(io::Error) -> Self {
        move |source| Self::System { doing, source }
    }

    /// True if the user interrupted the command.
    pub fn is_interrupt(&self) -> bool {
        match self {
            Self::KubernetesLeft { first, .. } => first.is_interrupt(),
            _ => matches!(self, Self::Interrupted | Self::ComposeLeft { .. }),
        }
    }

    /// True if the command line is wrong.
    pub fn is_usage_error(&self) -> bool {
        matches!(
            self,
            Self::Address { .. } | Self::LoginInAddress { .. } | Self::NoKeys | Self::HostName { .. }
        )
    }
}
