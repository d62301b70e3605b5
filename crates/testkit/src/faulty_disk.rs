//! Disks that fail: a library that is preloaded into the program under test.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::server::{ServerError, command, run};

/// What happens to one operation on a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DiskFault {
    /// It fails, and later ones do not (EIO).
    Fails,
    /// It and all later ones that need room fail (ENOSPC).
    Full,
    /// A write takes half of its bytes.
    Short,
}

impl DiskFault {
    fn name(self) -> &'static str {
        match self {
            Self::Fails => "eio",
            Self::Full => "enospc",
            Self::Short => "short",
        }
    }
}

/// The compiled library, in a folder of the test.
#[derive(Debug)]
pub struct FaultyDisk {
    library: PathBuf,
    count: PathBuf,
}

impl FaultyDisk {
    /// Compiles it.
    ///
    /// # Errors
    /// When there is no C compiler.
    pub fn new(folder: &Path) -> Result<Self, ServerError> {
        let (source, library) = (folder.join("faulty_disk.c"), folder.join("faulty_disk.so"));
        fs::write(&source, include_str!("../programs/faulty_disk.c"))?;
        run(command("cc").args(["-shared", "-fPIC", "-O1", "-o"]).arg(&library).arg(&source).arg("-ldl"))?;
        Ok(Self { library, count: folder.join("operations") })
    }

    /// The command counts its operations on files whose path contains `part`.
    pub fn counts<'a>(&self, command: &'a mut Command, part: &str) -> &'a mut Command {
        command.env("LD_PRELOAD", &self.library).env("FAULT_IN", part).env("FAULT_COUNT", &self.count)
    }

    /// How many operations were counted.
    ///
    /// # Errors
    /// When no command counted them.
    pub fn operations(&self) -> io::Result<u32> {
        fs::read_to_string(&self.count)?.trim().parse().map_err(io::Error::other)
    }

    /// The operation of this number, from 1, of the command on files whose path contains `part` meets a fault.
    pub fn breaks<'a>(
        &self,
        command: &'a mut Command,
        part: &str,
        fault: DiskFault,
        at: u32,
    ) -> &'a mut Command {
        let command = command.env("LD_PRELOAD", &self.library).env("FAULT_IN", part);
        command.env("FAULT_KIND", fault.name()).env("FAULT_AT", at.to_string())
    }
}
