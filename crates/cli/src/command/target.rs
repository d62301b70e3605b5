//! The built-in reference server as a command.

use std::net::SocketAddr;

use plimsoll_target::Server;

use crate::exit::Exit;
use crate::signals;
use crate::terminal::result;

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Paths:
  /healthz                      {\"status\":\"ok\"}
  /payload?number=N             N records of JSON, from memory
  /sleep?ms=N&workers=K         answers after N ms, at most K at a time, the rest wait in line
  /cpu?us=N                     burns N µs of CPU
  /status/CODE                  that status
  /chunked                      a chunked body
  /close                        closes the connection after the answer
  /stall?every=5s&for=500ms     holds all answers during the last 500 ms of every 5 s")]
pub(crate) struct TargetArgs {
    /// Address to listen on
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1")]
    listen: std::net::IpAddr,
    /// Port to listen on; 0 takes a free one
    #[arg(long, default_value_t = 0)]
    port: u16,
}

/// Serves until it is interrupted. The first line of standard output is its address, for scripts.
pub(crate) fn target(args: &TargetArgs) -> anyhow::Result<Exit> {
    let interrupted = signals::interrupted()?;
    let server = Server::bind(SocketAddr::new(args.listen, args.port))?;
    result(&format!("{}\n", server.address()))?;
    server.run(&interrupted)?;
    Ok(Exit::Success)
}
