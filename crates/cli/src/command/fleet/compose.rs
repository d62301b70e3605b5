//! `plimsoll fleet` with Docker Compose.

use std::path::Path;
use std::time::Duration;

use anyhow::Context as _;
use plimsoll_fleet::{ComposeAgents, ComposeFleet};

use crate::exit::{Exit, UsageError};
use crate::signals;
use crate::terminal::{remark, result};

/// The default folder of the compose file of a fleet.
pub(super) const FOLDER: &str = "plimsoll-fleet-compose";

/// Writes the compose file, and starts the fleet or prints the file.
pub(super) fn up(
    agents: &ComposeAgents,
    folder: &Path,
    (print, within): (bool, Duration),
) -> anyhow::Result<Exit> {
    let folder = std::path::absolute(folder).context("could not find the folder of the fleet")?;
    let mut fleet = ComposeFleet::write(&folder, agents)?;
    let (broker, keys) = (fleet.broker()?, fleet.keys());
    let flags = format!(
        "--fleet {} --fleet-credentials {} --fleet-key {}",
        broker.address,
        keys.conductor_credentials().display(),
        keys.conductor_key().display()
    );
    if print {
        result(&fleet.text()?)?;
        let options = fleet.options().join(" ");
        remark(&format!("plimsoll: start it with docker compose {options} up -d; load with {flags}"));
        return Ok(Exit::Success);
    }
    fleet.up(within, &signals::interrupts()?)?;
    result(&format!("{}\n", broker.address))?;
    remark(&format!(
        "plimsoll: {} agents wait there; load with {flags}, end them with plimsoll fleet down --compose",
        agents.count
    ));
    Ok(Exit::Success)
}

/// Returns the fleet of a folder; fails if it has none.
pub(super) fn existing(folder: &Path) -> anyhow::Result<ComposeFleet> {
    let none = || UsageError(format!("{} holds no compose file of a fleet", folder.display()));
    Ok(ComposeFleet::read(folder)?.ok_or_else(none)?)
}

/// Removes the containers.
pub(super) fn down(folder: &Path) -> anyhow::Result<Exit> {
    match ComposeFleet::read(folder)? {
        Some(mut fleet) => fleet.down(&signals::interrupts()?)?,
        None => remark(&format!("plimsoll: {} holds no compose file of a fleet", folder.display())),
    }
    Ok(Exit::Success)
}
