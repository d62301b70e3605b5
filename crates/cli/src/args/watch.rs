//! Flags about the hosts that are looked at while a load is made.

use plimsoll_plan::{NamedProbe, PlanHost, PlanHostError};

#[derive(Debug, Clone, clap::Args)]
#[command(next_help_heading = "Hosts")]
pub(crate) struct WatchArgs {
    /// Look at a host, or at a component on it, while the load is on; may be given several times
    ///
    /// local, local:8080 or pid:1234 for this machine and a process on it; ssh://user@host for another, where plimsoll
    /// is installed too; http://host:9100/metrics for a node_exporter or another page in Prometheus' form;
    /// nginx+http://host/stub_status, expvar+http://host:6060/debug/vars, redis://host:6379, memcached://host:11211,
    /// mariadb://user:password@host:3306 and jvm:1234 for components. With NAME= in front it belongs to the host
    /// of that name. A target on this machine is found by its port and looked at without any of that, together
    /// with what it is connected to here, as the host `local`.
    #[arg(long = "probe", value_name = "[NAME=]PROBE", value_parser = probe)]
    pub(crate) probes: Vec<NamedProbe>,
    /// Look at no host but the load generator itself
    #[arg(long, conflicts_with = "probes")]
    pub(crate) no_probe: bool,
}

fn probe(text: &str) -> Result<NamedProbe, PlanHostError> {
    text.parse()
}

impl WatchArgs {
    /// The hosts as a plan says them.
    pub(crate) fn hosts(&self) -> Vec<PlanHost> {
        PlanHost::gathered(self.probes.iter().cloned())
    }
}
