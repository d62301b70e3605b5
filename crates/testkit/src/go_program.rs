//! A small Go program that serves its runtime's pages.

use std::fs;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use crate::server::{Server, ServerError, command, run};

/// A running Go program that serves `/debug/vars` and `/debug/pprof/`; killed and waited for when dropped.
pub struct GoProgram(Server);

impl GoProgram {
    /// Goroutines that it keeps parked, at the least.
    pub const GOROUTINES: u64 = 40;
    /// Collections that it has made, at the least.
    pub const COLLECTIONS: u64 = 3;

    /// Compiles it, starts it on a free port of 127.0.0.1 and waits until it accepts.
    ///
    /// # Errors
    /// When there is no Go, or it does not come up.
    pub fn start() -> Result<Self, ServerError> {
        Server::start(|folder, address| {
            let mut pages = command(&Self::compile(folder)?.to_string_lossy());
            pages.arg(address.to_string());
            Ok(pages)
        })
        .map(Self)
    }

    /// Compiles it into a folder; gives the program, which takes the address to listen on.
    ///
    /// # Errors
    /// When there is no Go.
    pub fn compile(folder: &Path) -> Result<PathBuf, ServerError> {
        let (source, program) = (folder.join("pages.go"), folder.join("pages"));
        fs::write(&source, include_str!("../programs/pages.go"))?;
        run(command("go").current_dir(folder).args(["build", "-o"]).arg(&program).arg(&source))?;
        Ok(program)
    }

    /// Its expvar page.
    pub fn url(&self) -> String {
        format!("http://{}/debug/vars", self.address())
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.0.address()
    }
}
