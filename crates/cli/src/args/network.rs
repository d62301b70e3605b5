//! Flags about the way to the target.

use std::path::PathBuf;

use plimsoll_plan::{HostPort, IpRange, Network, ResolveEntry};

#[derive(Debug, Clone, clap::Args)]
#[command(next_help_heading = "Way to the target")]
pub(crate) struct NetworkArgs {
    /// Connect to this unix socket instead of the URL's host, which stays in the request
    #[arg(long, value_name = "PATH")]
    pub(crate) unix: Option<PathBuf>,
    /// Addresses of this machine that connections come from, in turn: 10.0.0.1,10.0.0.5-10.0.0.9 or 10.0.0.0/24
    ///
    /// Each has local ports of its own, so several allow more connections to one address. Without it a target on
    /// 127.0.0.1 gets its connections from all of 127.0.0.0/8 once there are many.
    #[arg(long = "source-ip", value_name = "IP,IP-IP,…", value_delimiter = ',')]
    pub(crate) source_ips: Vec<IpRange>,
    /// Connect to this host instead of the URL's, which stays in the request
    #[arg(long, value_name = "HOST:PORT")]
    pub(crate) connect_to: Option<HostPort>,
    /// Take these addresses for a host, as in api.test:80:10.0.0.1,10.0.0.2; may be given several times
    ///
    /// Connections are dealt out equally over all addresses of a host that take them.
    #[arg(long, value_name = "HOST:PORT:IP,…")]
    pub(crate) resolve: Vec<ResolveEntry>,
    /// Open a new connection for each request, and ask the server to close it
    #[arg(long)]
    pub(crate) no_keepalive: bool,
}

impl NetworkArgs {
    /// Overrides the network of a plan with the flags that were given.
    pub(crate) fn apply_to(&self, network: &mut Network) {
        if self.unix.is_some() {
            network.unix.clone_from(&self.unix);
        }
        if !self.source_ips.is_empty() {
            network.source_ips.clone_from(&self.source_ips);
        }
        if self.connect_to.is_some() {
            network.connect_to.clone_from(&self.connect_to);
        }
        if !self.resolve.is_empty() {
            network.resolve.clone_from(&self.resolve);
        }
        network.keep_alive &= !self.no_keepalive;
    }
}
