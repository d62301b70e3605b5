//! Flags of a fleet of containers.

use std::time::Duration;

use plimsoll_fleet::ComposeAgents;

use super::fleet::FLEET;
use crate::exit::UsageError;

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
    /// Returns the agents to start from this image; `None` without --compose.
    ///
    /// # Errors
    /// When several are to calibrate on one machine at the same time.
    pub(crate) fn agents(
        &self,
        image: &str,
        (allow, calibrate): (Vec<String>, Option<Duration>),
    ) -> Result<Option<ComposeAgents>, UsageError> {
        let Some(count) = self.agents else { return Ok(None) };
        if count > 1 && calibrate.is_some() {
            return Err(UsageError(format!(
                "{count} containers of one machine would calibrate at the same time, and none would find its ceiling; leave out \
                 --calibrate: they count alike, as they are on one machine"
            )));
        }
        Ok(Some(ComposeAgents {
            count: count.into(),
            image: image.to_owned(),
            broker_image: self.broker_image.clone(),
            allow,
            fleet: FLEET.to_owned(),
            calibrate,
        }))
    }
}
