//! The built-in reference server as a command.

use std::net::SocketAddr;

use anyhow::Context;
use plimsoll_target::Server;

use crate::args::TargetArgs;
use crate::exit::Exit;
use crate::signals;
use crate::terminal::result;

/// Serves until it is interrupted. The first line of standard output is its address, for scripts.
pub(crate) fn target(args: &TargetArgs) -> anyhow::Result<Exit> {
    let interrupted = signals::interrupted().context("could not watch for Ctrl-C")?;
    let server = Server::bind(SocketAddr::new(args.listen, args.port))?;
    result(&format!("{}\n", server.address()))?;
    server.run(&interrupted)?;
    Ok(Exit::Success)
}
