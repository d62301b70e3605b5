//! What to run: the plan as typed, the checked and frozen plan, and its arrivals.
//!
//! [`PlanSpec`] is as close to the flags as possible; [`PlanSpec::freeze`] checks it and fills in the
//! defaults. Nothing after that sees a flag. A [`Plan`] says everything a run needs, and its JSON is
//! stored with the run, so a recorded run knows what it was.

mod address;
mod arrivals;
mod condition;
mod error;
mod file;
mod hidden;
mod hosts;
mod limit;
mod name;
mod network;
mod overload;
mod overload_spec;
mod plan;
mod profile;
mod profiler;
mod requests;
mod shares;
mod slo;
mod spec;
mod target;
mod transport;
mod typed;

pub use address::{AddressError, check_address, destination, is_public};
pub use arrivals::{ArrivalProcess, Arrivals};
pub use condition::{Condition, ConditionError};
pub use error::{HostError, PlanError, PlanHostError};
pub use file::{
    Combinations, Compare, Expect, Expected, FleetSpec, GeneratorSpec, LabHostSpec, MachineGoal, PlanFile,
    PlanFileError, Positions, Problem, Ready, RowSpec, Switch, Turn, Variant,
};
pub use hidden::{HIDDEN, HIDDEN_VALUE, is_credential, without_query_values};
pub use hosts::{Cap, Capacity, NamedProbe, PlanHost, Probe, Workload, WorkloadKind};
pub use limit::Limit;
pub use name::checked_name;
pub use network::{HostPort, IpRange, Network, NetworkError, ResolveEntry};
pub use overload::{
    BACK_WINDOWS, MIN_DUE, MIN_WINDOW_SEC, Onset, OverloadClass, OverloadOrder, Protector, RampEffect,
    hold_for_requests, queue_gone_sec, window_sec,
};
pub use overload_spec::{OverloadSpec, open_level};
pub use plan::{
    DriverKind, Generator, LadderSteps, Level, Load, Plan, RateSearchOrder, UnknownDriver, UnreadablePlan,
};
pub use profile::{ProfileError, RateProfile, Stage};
pub use profiler::{ProfileOrder, ProfileSpec, Profiled, Profiler, ProfilerError};
pub use requests::{CsvFile, MixedRequest, RequestGroup, RequestSpec, RowOrder, ScenarioSpec};
pub use shares::{Dealt, Portion, Shard, Shares};
pub use slo::{LatencyLimit, Slo};
pub use spec::{LoadSpec, MAX_WORKERS, PlanSpec};
pub use target::{Target, TargetError, host_end};
pub use transport::{TlsSpec, TransportError, TransportSpec};
