//! `plimsoll agent` and `plimsoll fleet`: many machines that make one load.

mod calibration;
mod compose;
mod keys;
mod kubernetes;
mod resume;
mod ssh;

use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use anyhow::Context as _;
use clap::{ArgGroup, Subcommand};
use plimsoll_conductor::peers::{Channel, Command, Message};
use plimsoll_conductor::{ConductError, FollowOptions};
use plimsoll_fleet::{
    AgentOptions, AgentReport, AllowedTarget, Broker, BrokerAddress, Certificates, FleetStatus, LocalFleet,
    LocalOptions, TrustedKey, serve, status,
};
use plimsoll_plan::Plan;
use plimsoll_units::parse_duration;

use self::keys::KeysArgs;
use self::resume::ResumeArgs;
use self::ssh::HostedArgs;
use crate::args::{
    ComposeArgs, ContainerArgs, FLEET, FLEET_FOLDER, FleetAt, KubernetesArgs, OnKubernetesArgs, PlacedArgs,
    SshArgs, values,
};
use crate::calibrations;
use crate::exit::{Exit, UsageError};
use crate::signals;
use crate::terminal::{remark, report_error, result};

/// The default targets of the agents of a local fleet.
const THIS_MACHINE: [&str; 3] = ["127.0.0.1", "localhost", "::1"];

#[derive(Debug, clap::Args)]
#[command(before_help = "\
Examples:
  # An agent that may load api.test:443 and nothing else
  plimsoll agent --join nats://10.0.0.5:4222 --allow api.test:443
  # A broker of three nodes; one run, then exit
  plimsoll agent --join nats://a:4222,nats://b:4222,nats://c:4222 --name rack-7 \\
      --allow '*.staging.test' --once
  # A share by what this machine can send
  plimsoll agent --join nats://10.0.0.5:4222 --allow api.test:443 --calibrate")]
pub(crate) struct AgentArgs {
    /// The broker where the fleet meets; several nodes of it with commas
    #[arg(long, value_name = "nats://HOST:PORT")]
    join: BrokerAddress,
    /// A target that this agent may load: HOST, HOST:PORT or *.DOMAIN; may be given several times. Any other is refused
    #[arg(long, value_name = "TARGET", required = true)]
    allow: Vec<AllowedTarget>,
    /// The agent's name, unique in the fleet [default: the name of this machine]
    #[arg(long, value_parser = values::agent_name)]
    name: Option<String>,
    /// The public key of a conductor that the agent obeys; may be given several times [default: any conductor]
    #[arg(long, value_name = "KEY")]
    trust: Vec<TrustedKey>,
    /// The credentials file for the broker, as `plimsoll fleet keys` makes it for this name
    #[arg(long, value_name = "FILE")]
    credentials: Option<PathBuf>,
    /// The certificates of the authorities that prove the broker, in PEM [default: those of this machine]
    #[arg(long, value_name = "FILE")]
    cacert: Option<PathBuf>,
    /// The certificate of this agent, for a broker that asks for one, in PEM
    #[arg(long, value_name = "FILE", requires = "cert_key")]
    cert: Option<PathBuf>,
    /// The key of the certificate, in PEM
    #[arg(long, value_name = "FILE", requires = "cert")]
    cert_key: Option<PathBuf>,
    /// The name of the fleet, where several share a broker
    #[arg(long, value_name = "NAME", default_value = FLEET, value_parser = values::agent_name)]
    fleet_name: String,
    /// End the load if nothing was heard from the conductor for this time
    #[arg(long, value_name = "TIME", default_value = "10s", value_parser = parse_duration)]
    orphan: Duration,
    /// End after one run
    #[arg(long)]
    once: bool,
    /// Measure what one worker can make here before it joins, unless a stored calibration says so: for about 5 s, or TIME
    ///
    /// The agent's share of a load depends on it. It takes two cores that nothing else uses.
    #[arg(long, value_name = "TIME", num_args = 0..=1, default_missing_value = "5s", value_parser = values::calibration_time)]
    calibrate: Option<Duration>,
}

#[derive(Debug, clap::Args)]
#[command(before_help = "\
Examples:
  # A broker and three agents on this machine, and a load from all of them
  plimsoll fleet up --local 3
  plimsoll run http://127.0.0.1:8080/ -c 100 -d 10s --fleet nats://127.0.0.1:4222
  # Which agents there are; go on with a run whose conductor died; end the fleet
  plimsoll fleet status
  plimsoll fleet resume last
  plimsoll fleet down
  # Agents as pods, over ssh, or as containers
  plimsoll fleet up --kubernetes 20 --image plimsoll:0.1.0 --fleet nats://nats.load:4222 \\
      --allow api.shop:80
  plimsoll fleet up --ssh a,b --fleet nats://10.0.0.5:4222 --keys keys --allow api.test:80
  plimsoll fleet up --compose 3 --image plimsoll:0.1.0 --allow api.test:80
  # Keys, and credentials for two agents elsewhere
  plimsoll fleet keys keys --agents a,b")]
pub(crate) struct FleetCommandArgs {
    #[command(subcommand)]
    command: FleetCommand,
}

#[derive(Debug, Subcommand)]
enum FleetCommand {
    /// Start a broker and agents
    Up(Box<UpArgs>),
    /// Make the keys of a fleet, and credentials that expire
    Keys(KeysArgs),
    /// The broker and the agents of a fleet
    Status(StatusArgs),
    /// Go on with a run whose conductor died: collect what its agents still have, and make the steps that are left
    Resume(Box<ResumeArgs>),
    /// End what `up` started
    Down(DownArgs),
    /// The commands that `up --ssh` runs on a host
    #[command(hide = true)]
    Hosted(HostedArgs),
}

#[derive(Debug, clap::Args)]
struct FolderArgs {
    /// The folder of the fleet's record and logs [default: plimsoll-fleet; with --ssh plimsoll-fleet-ssh, with --compose
    /// plimsoll-fleet-compose]
    #[arg(long, value_name = "DIR", conflicts_with = "kubernetes")]
    dir: Option<PathBuf>,
}

impl FolderArgs {
    fn or<'a>(&'a self, usual: &'a str) -> &'a Path {
        self.dir.as_deref().unwrap_or(Path::new(usual))
    }
}

#[derive(Debug, clap::Args)]
#[command(group(ArgGroup::new("where").required(true).args(["local", "kubernetes", "ssh", "compose"])))]
#[command(group(ArgGroup::new("elsewhere").args(["kubernetes", "ssh", "compose"])))]
#[command(group(ArgGroup::new("joining").args(["kubernetes", "ssh"])))]
#[command(group(ArgGroup::new("containers").args(["kubernetes", "compose"])))]
struct UpArgs {
    /// Start a broker and N agents as processes on this machine
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=64))]
    local: Option<u16>,
    /// Nodes of the broker: with 3 the loss of one stops nothing
    #[arg(long, value_name = "N", requires = "local", default_value = "1", value_parser = values::broker_nodes)]
    nodes: u16,
    /// A target that the agents may load, as for `plimsoll agent` [default: this machine]
    #[arg(long, value_name = "TARGET")]
    allow: Vec<AllowedTarget>,
    #[command(flatten)]
    folder: FolderArgs,
    #[command(flatten)]
    placed: PlacedArgs,
    #[command(flatten)]
    containers: ContainerArgs,
    #[command(flatten)]
    kubernetes: KubernetesArgs,
    #[command(flatten)]
    ssh: SshArgs,
    #[command(flatten)]
    compose: ComposeArgs,
}

#[derive(Debug, clap::Args)]
struct StatusArgs {
    /// The broker [default: that of the fleet on this machine]
    #[arg(long = "fleet", value_name = "nats://HOST:PORT")]
    address: Option<BrokerAddress>,
    #[command(flatten)]
    at: FleetAt,
    #[command(flatten)]
    folder: FolderArgs,
    #[command(flatten)]
    kubernetes: OnKubernetesArgs,
    /// The fleet that `plimsoll fleet up --ssh` has started
    #[arg(long, conflicts_with = "kubernetes", help_heading = None)]
    ssh: bool,
    /// The fleet that `plimsoll fleet up --compose` has started
    #[arg(long, conflicts_with_all = ["kubernetes", "ssh"], help_heading = None)]
    compose: bool,
}

#[derive(Debug, clap::Args)]
struct DownArgs {
    #[command(flatten)]
    folder: FolderArgs,
    #[command(flatten)]
    kubernetes: OnKubernetesArgs,
    /// The fleet that `plimsoll fleet up --ssh` has started
    #[arg(long, conflicts_with = "kubernetes", help_heading = None)]
    ssh: bool,
    /// The fleet that `plimsoll fleet up --compose` has started
    #[arg(long, conflicts_with_all = ["kubernetes", "ssh"], help_heading = None)]
    compose: bool,
}

pub(crate) fn agent(args: &AgentArgs) -> anyhow::Result<Exit> {
    let interrupted = signals::interrupted()?;
    let name = args.name.clone().map_or_else(machine_name, Ok)?;
    if let Some(Err(ended)) = args.calibrate.map(|time| calibration::calibrate(time, &interrupted)) {
        report_error(&ended);
        // As at any other time, an agent that is interrupted ends with success.
        return Ok(Exit::Success);
    }
    let options = AgentOptions {
        broker: Broker {
            address: args.join.clone(),
            credentials: args.credentials.clone(),
            certificates: Certificates {
                authorities: args.cacert.clone(),
                own: args.cert.clone().zip(args.cert_key.clone()),
            },
            fleet: args.fleet_name.clone(),
        },
        name,
        allow: args.allow.clone(),
        trust: args.trust.clone(),
        orphan: args.orphan,
        once: args.once,
        version: env!("CARGO_PKG_VERSION"),
        generator: make_shares,
    };
    serve(&options, &interrupted, &mut report)?;
    Ok(Exit::Success)
}

/// Makes shares of a run. The calibrations are read again, as this machine may have been calibrated since the agent began.
fn make_shares(
    plan: Plan,
    csv: Option<&[u8]>,
    version: &str,
    channel: Channel<Message, Command>,
    interrupted: &AtomicBool,
) -> Result<(), ConductError> {
    let calibrations = calibrations::known();
    let options = FollowOptions { version, calibrations: &calibrations };
    plimsoll_conductor::follow(plan, csv, options, channel, interrupted)
}

fn machine_name() -> anyhow::Result<String> {
    let read = std::fs::read_to_string("/proc/sys/kernel/hostname")
        .context("could not read the name of this machine")?;
    let name: String = read.trim().split('.').next().unwrap_or_default().to_owned();
    values::agent_name(&name).map_err(|error| {
        UsageError(format!("this machine is called {name:?}: {error}; give a --name")).into()
    })
}

fn report(report: &AgentReport<'_>) {
    let text = match report {
        AgentReport::Waiting { agent, broker } => {
            format!("agent {agent} waits for runs at {broker}; Ctrl-C ends it")
        }
        AgentReport::Began { run, target } => format!("run {run}: loads {target}"),
        AgentReport::Refused { run, why } => format!("run {run}: refused: {why}"),
        AgentReport::Ended { run } => format!("run {run}: ended"),
        AgentReport::Failed { run, why } => format!("run {run}: failed: {why}"),
    };
    remark(&format!("plimsoll: {text}"));
}

pub(crate) fn fleet(args: &FleetCommandArgs) -> anyhow::Result<Exit> {
    match &args.command {
        FleetCommand::Up(args) => up(args),
        FleetCommand::Keys(args) => keys::run(args),
        FleetCommand::Status(args) => show(args),
        FleetCommand::Resume(args) => resume::run(args),
        FleetCommand::Down(args) => down(args),
        FleetCommand::Hosted(args) => ssh::hosted(args),
    }
}

impl UpArgs {
    fn allowed(&self) -> Vec<String> {
        match self.allow.is_empty() {
            true => THIS_MACHINE.map(ToOwned::to_owned).to_vec(),
            false => self.allow.iter().map(ToString::to_string).collect(),
        }
    }
}

fn up(args: &UpArgs) -> anyhow::Result<Exit> {
    if args.kubernetes.agents.is_none() && args.ssh.hosts.is_none() {
        args.placed.refuse_with_own_broker()?;
    }
    let image = args.containers.image.as_deref().unwrap_or_default();
    if let Some(agents) = args.compose.agents(image, (args.allowed(), args.placed.calibrate))? {
        let (print, within) = (args.containers.print, args.placed.within());
        return compose::up(&agents, args.folder.or(compose::FOLDER), (print, within));
    }
    let placed = (&args.placed, args.allowed());
    match (args.kubernetes.agents, &args.ssh.hosts) {
        (Some(_), _) => kubernetes::up((&args.kubernetes, &args.containers), placed),
        (None, Some(hosts)) => ssh::up((&args.ssh, hosts), placed, args.folder.or(ssh::FOLDER)),
        (None, None) => up_here(args),
    }
}

fn up_here(args: &UpArgs) -> anyhow::Result<Exit> {
    let folder = std::path::absolute(args.folder.or(FLEET_FOLDER))
        .context("could not find the folder of the fleet")?;
    let options = LocalOptions {
        folder,
        agents: args.local.unwrap_or_default().into(),
        nodes: args.nodes.into(),
        allow: args.allowed(),
        program: std::env::current_exe().context("could not find this program")?,
        fleet: FLEET.to_owned(),
    };
    let interrupted = signals::interrupted()?;
    if let Some(Err(ended)) = args.placed.calibrate.map(|time| calibration::once_for_all(time, &interrupted))
    {
        report_error(&ended);
        return Ok(Exit::Interrupted);
    }
    let fleet = LocalFleet::up(&options, &interrupted)?;
    result(&format!("{}\n", fleet.address))?;
    remark(&format!(
        "plimsoll: {} agents wait there; load with --fleet {}, end them with plimsoll fleet down",
        fleet.agents.len(),
        fleet.address
    ));
    Ok(Exit::Success)
}

fn show(args: &StatusArgs) -> anyhow::Result<Exit> {
    if args.kubernetes.kubernetes {
        kubernetes::show(&args.kubernetes)?;
    }
    if args.ssh {
        ssh::show(args.folder.or(ssh::FOLDER))?;
    }
    if args.compose {
        result(&compose::existing(args.folder.or(compose::FOLDER))?.containers()?)?;
    }
    if (args.kubernetes.kubernetes || args.ssh) && args.address.is_none() {
        return Ok(Exit::Success);
    }
    let broker = known_broker(args)?;
    let found = status(&broker)?;
    result(&status_text(&broker, &found))?;
    Ok(Exit::Success)
}

/// Returns the broker that was named, or that of a fleet on this machine.
fn known_broker(args: &StatusArgs) -> anyhow::Result<Broker> {
    if let Some(address) = &args.address {
        return Ok(args.at.broker(address)?);
    }
    args.at.refuse_without_fleet()?;
    if args.compose {
        return Ok(compose::existing(args.folder.or(compose::FOLDER))?.broker()?);
    }
    let folder = args.folder.or(FLEET_FOLDER);
    let none = || {
        UsageError(format!(
            "{} holds no fleet; name a broker with --fleet nats://HOST:PORT, or start one with plimsoll fleet up --local 3",
            folder.display()
        ))
    };
    Ok(LocalFleet::read(folder)?.ok_or_else(none)?.broker()?)
}

fn status_text(broker: &Broker, found: &FleetStatus) -> String {
    let mut text = format!("broker  {} (nats-server {})\n", broker.address, found.server);
    for agent in &found.agents {
        let doing = match (&agent.run, &agent.left) {
            (Some(run), _) => format!("in run {run}"),
            (None, Some(run)) => format!("free, keeps what it measured of run {run}"),
            (None, None) => "free".to_owned(),
        };
        text.push_str(&format!("agent   {}  {}  {doing}\n", agent.name, agent.version));
    }
    if found.agents.is_empty() {
        text.push_str("no agents\n");
    }
    text
}

fn down(args: &DownArgs) -> anyhow::Result<Exit> {
    if args.kubernetes.kubernetes {
        return kubernetes::down(&args.kubernetes);
    }
    if args.ssh {
        return ssh::down(args.folder.or(ssh::FOLDER));
    }
    if args.compose {
        return compose::down(args.folder.or(compose::FOLDER));
    }
    let folder = args.folder.or(FLEET_FOLDER);
    if !LocalFleet::down(folder)? {
        remark(&format!("plimsoll: {} holds no fleet", folder.display()));
    }
    Ok(Exit::Success)
}
