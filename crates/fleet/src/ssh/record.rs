//! The record of what a conductor has started over ssh.

use std::fs;
use std::path::{Path, PathBuf};

use plimsoll_units::best_effort;
use serde::{Deserialize, Serialize};

use super::host::SshHost;
use crate::error::FleetError;
use crate::folder::{read_record, write_record};

const FILE: &str = "ssh.json";

/// The agents of one `plimsoll fleet up --ssh`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Record {
    pub(super) hosts: Vec<HostRecord>,
}

/// The agent of a host.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct HostRecord {
    pub(super) host: SshHost,
    pub(super) agent: String,
    /// The name of its folder there.
    pub(super) id: String,
    /// The program there that started it.
    pub(super) program: String,
}

impl Record {
    pub(super) fn read(folder: &Path) -> Result<Option<Self>, FleetError> {
        read_record(&file(folder), "could not read the record of the fleet")
    }

    pub(super) fn write(&self, folder: &Path) -> Result<(), FleetError> {
        let doing = "could not write the record of the fleet";
        fs::create_dir_all(folder).map_err(FleetError::system(doing))?;
        write_record(&file(folder), self, doing)
    }

    /// Removes the record, and the folder if nothing else is in it.
    pub(super) fn remove(folder: &Path) -> Result<(), FleetError> {
        fs::remove_file(file(folder))
            .map_err(FleetError::system("could not remove the record of the fleet"))?;
        best_effort(fs::remove_dir(folder), "it holds something else");
        Ok(())
    }
}

fn file(folder: &Path) -> PathBuf {
    folder.join(FILE)
}
