//! Flags about the hosts that are sampled during the load.

use std::time::Duration;

use plimsoll_plan::{NamedProbe, Plan, PlanHost, ProfileSpec, Profiler, ProfilerError};
use plimsoll_units::parse_duration;

#[derive(Debug, Clone, clap::Args)]
#[command(next_help_heading = "Hosts")]
pub(crate) struct WatchArgs {
    /// Sample a host, or a component on it, during the load; may be given several times
    ///
    /// local, local:8080 or pid:1234 for this machine and a process on it; ssh://user@host for another, where plimsoll
    /// is installed too; http://host:9100/metrics for a node_exporter or another page in Prometheus' form;
    /// nginx+http://host/stub_status, expvar+http://host:6060/debug/vars, redis://host:6379, memcached://host:11211,
    /// mariadb://user:password@host:3306 and jvm:1234 for components; k8s://namespace/deployment/name for the pods of a
    /// workload on Kubernetes. With NAME= in front it belongs to the host of that name. A target on this machine is found by
    /// its port and sampled without this option, together with what it is connected to here, as the host `local`.
    #[arg(long = "probe", value_name = "[NAME=]PROBE")]
    pub(crate) probes: Vec<NamedProbe>,
    /// Sample no host but the load generator itself
    #[arg(long, conflicts_with = "probes")]
    pub(crate) no_probe: bool,
    /// Take a CPU profile of the target at the plateau, after the load
    ///
    /// http://HOST:PORT/debug/pprof/profile for a page of pprof, as Go programs have; perf for the processes that serve
    /// the target's port on this machine, perf:PID or perf::PORT for others. The level of the plateau is loaded once
    /// more meanwhile, so that no figure comes from a target under a profiler. `plimsoll profile` shows all of it.
    #[arg(long, value_name = "SOURCE")]
    pub(crate) profile: Option<Profiler>,
    /// How long the profile takes, at most a sixth of --budget
    #[arg(long, value_name = "TIME", default_value = "10s", requires = "profile", value_parser = parse_duration)]
    pub(crate) profile_time: Duration,
}

impl WatchArgs {
    /// Returns the hosts in the form of a plan.
    pub(crate) fn hosts(&self) -> Vec<PlanHost> {
        PlanHost::gathered(self.probes.iter().cloned())
    }

    /// Returns the plan with the profile of the flags, or else of its file.
    pub(super) fn profiled(
        &self,
        mut plan: Plan,
        in_file: Option<&ProfileSpec>,
    ) -> Result<Plan, ProfilerError> {
        let typed = self
            .profile
            .as_ref()
            .map(|profiler| ProfileSpec { source: profiler.to_string(), time: self.profile_time });
        plan.profile = typed.as_ref().or(in_file).map(ProfileSpec::freeze).transpose()?;
        Ok(plan)
    }
}
