//! `plimsoll fleet keys`: makes the keys that decide who may use a broker, and which conductor agents obey.

use std::path::PathBuf;
use std::time::Duration;

use plimsoll_fleet::KeyFolder;
use plimsoll_units::parse_duration;

use crate::args::{FLEET, values};
use crate::exit::Exit;
use crate::terminal::result;

#[derive(Debug, clap::Args)]
#[command(before_help = "\
Examples:
  # Keys, and credentials for two agents
  plimsoll fleet keys keys --agents rack-1,rack-2
  # Credentials for one more; the broker goes on as it is
  plimsoll fleet keys keys --agents rack-3 --valid 7d

nats-server gets keys/broker.conf by a line in its configuration: include \"keys/broker.conf\"
A broker takes the keys of one fleet: of two such lines only the last counts. Another fleet with keys needs a broker of its own.")]
pub(super) struct KeysArgs {
    /// The folder of the keys, which are made if it has none; keep it to yourself
    dir: PathBuf,
    /// Agents to make credentials for; with commas
    #[arg(long, value_name = "NAME,...", value_delimiter = ',', value_parser = values::agent_name)]
    agents: Vec<String>,
    /// How long the credentials are good, those of the conductor too
    #[arg(long, value_name = "TIME", default_value = "24h", value_parser = parse_duration)]
    valid: Duration,
    /// The name of the fleet; agents and loads give the same --fleet-name
    #[arg(long, value_name = "NAME", default_value = FLEET, value_parser = values::agent_name)]
    fleet_name: String,
}

pub(super) fn run(args: &KeysArgs) -> anyhow::Result<Exit> {
    let keys = KeyFolder::open(&args.dir, &args.fleet_name)?;
    keys.mint_conductor(args.valid)?;
    let mut text = format!(
        "broker     include {:?}\nconductor  --fleet-credentials {} --fleet-key {}\n",
        keys.broker_conf().display().to_string(),
        keys.conductor_credentials().display(),
        keys.conductor_key().display()
    );
    let trusted = keys.trusted()?;
    for agent in &args.agents {
        keys.mint_agent(agent, args.valid)?;
        let credentials = keys.agent_credentials(agent);
        text.push_str(&format!(
            "agent      --name {agent} --credentials {} --trust {trusted}\n",
            credentials.display()
        ));
    }
    if args.agents.is_empty() {
        text.push_str(&format!("agents     --trust {trusted}\n"));
    }
    result(&text)?;
    Ok(Exit::Success)
}
