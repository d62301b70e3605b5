//! Flags of a fleet of containers.

use plimsoll_fleet::ComposeAgents;

use super::fleet::FLEET;

/// A fleet to start with Docker Compose.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Docker Compose")]
pub(crate) struct ComposeArgs {
    /// Start a broker and N agents as containers of this machine, with `docker compose`
    ///
    /// PLIMSOLL_COMPOSE names another program, with options: docker-compose, podman-compose.
    #[arg(long = "compose", id = "compose", value_name = "N", requires_all = ["image", "allow"],
        value_parser = clap::value_parser!(u16).range(1..=256))]
    agents: Option<u16>,
    /// The image of the broker
    #[arg(long, value_name = "IMAGE", requires = "compose", default_value = "nats:2.14")]
    broker_image: String,
}

impl ComposeArgs {
    /// The agents to start from this image; `None` unless some are to start.
    pub(crate) fn agents(&self, image: &str, allow: Vec<String>) -> Option<ComposeAgents> {
        Some(ComposeAgents {
            count: self.agents?.into(),
            image: image.to_owned(),
            broker_image: self.broker_image.clone(),
            allow,
            fleet: FLEET.to_owned(),
        })
    }
}
