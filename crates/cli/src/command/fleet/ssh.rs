//! `plimsoll fleet` over ssh.

use std::io::{self, BufReader};
use std::path::Path;

use anyhow::Context as _;
use clap::Subcommand;
use plimsoll_fleet::{HostStatus, HostedAgent, SshFleet, SshOptions};

use crate::args::{PlacedArgs, SshArgs, SshHosts, values};
use crate::exit::Exit;
use crate::signals;
use crate::terminal::{remark, result};

/// The default folder of the record of a fleet over ssh.
pub(super) const FOLDER: &str = "plimsoll-fleet-ssh";

/// The commands that a conductor runs on this host over ssh.
#[derive(Debug, clap::Args)]
pub(super) struct HostedArgs {
    #[command(subcommand)]
    command: HostedCommand,
}

#[derive(Debug, Subcommand)]
enum HostedCommand {
    /// Start the agent that standard input describes, and wait until the conductor keeps it
    Start(OfAgent),
    /// Show the state of the agent
    Status(OfAgent),
    /// End the agent, and remove its files
    End(OfAgent),
}

#[derive(Debug, clap::Args)]
struct OfAgent {
    /// The conductor's id of the agent on this host
    #[arg(value_parser = values::agent_name)]
    id: String,
}

/// Starts the agents.
pub(super) fn up(
    (args, hosts): (&SshArgs, &SshHosts),
    (placed, allow): (&PlacedArgs, Vec<String>),
    folder: &Path,
) -> anyhow::Result<Exit> {
    let (broker, placement) = placed.resolve(allow)?;
    let flags = placed.conductor_flags((&broker, &placement));
    let this = || std::env::current_exe().context("could not find this program");
    let options = SshOptions {
        hosts: hosts.0.clone(),
        placement,
        copied: args.copy.then(this).transpose()?,
        version: env!("CARGO_PKG_VERSION"),
        within: placed.within(),
        folder: folder.to_owned(),
    };
    SshFleet::up(&options, &broker, signals::interrupted()?.as_ref())?;
    result(&format!("{}\n", broker.address))?;
    remark(&format!(
        "plimsoll: {} agents wait there; load with {flags}, end them with plimsoll fleet down --ssh",
        options.hosts.len()
    ));
    Ok(Exit::Success)
}

/// Shows the state of the agents, as their hosts report it.
pub(super) fn show(folder: &Path) -> anyhow::Result<()> {
    let fleet = SshFleet::read(folder)?;
    let text: String = fleet.iter().flat_map(SshFleet::status).map(|status| line(&status)).collect();
    result(if text.is_empty() { "no hosts\n" } else { &text })?;
    Ok(())
}

fn line(status: &HostStatus) -> String {
    let HostStatus { host, agent, state } = status;
    format!("host    {host}  {agent}  {state}\n")
}

/// Ends the agents.
pub(super) fn down(folder: &Path) -> anyhow::Result<Exit> {
    match SshFleet::read(folder)? {
        Some(fleet) => fleet.down()?,
        None => remark(&format!("plimsoll: {} has no record of a fleet over ssh", folder.display())),
    }
    Ok(Exit::Success)
}

/// Runs a conductor's command on this host.
pub(super) fn hosted(args: &HostedArgs) -> anyhow::Result<Exit> {
    match &args.command {
        HostedCommand::Start(of) => {
            HostedAgent::of(&of.id).start(BufReader::new(io::stdin()), &mut io::stdout())?;
        }
        HostedCommand::Status(of) => result(&format!("{}\n", HostedAgent::of(&of.id).status()?))?,
        HostedCommand::End(of) => HostedAgent::of(&of.id).end()?,
    }
    Ok(Exit::Success)
}
