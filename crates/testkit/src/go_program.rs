//! A small Go program that serves its runtime's pages.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use crate::server::{Server, ServerError, command, run, write};

/// `/debug/vars` and `/debug/pprof/`, with some goroutines parked and some collections behind it.
const SOURCE: &str = include_str!("../programs/pages.go");

/// A running Go program; killed and waited for when dropped.
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
        write(&source, SOURCE)?;
        run(command("go").current_dir(folder).args(["build", "-o"]).arg(&program).arg(&source))?;
        Ok(program)
    }

    /// Its expvar page.
    pub fn url(&self) -> String {
        format!("http://{}/debug/vars", self.0.address())
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.0.address()
    }
}
