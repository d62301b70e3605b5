//! What to run: the plan as typed, the checked and frozen plan, and its arrivals.
//!
//! [`PlanSpec`] is as close to the flags as possible; [`PlanSpec::freeze`] checks it and fills in the
//! defaults. Nothing after that sees a flag. A [`Plan`] says everything a run needs, and its JSON is
//! stored with the run, so a recorded run knows what it was.

mod arrivals;
mod driver;
mod error;
mod file;
mod hosts;
mod name;
mod network;
mod plan;
mod profile;
mod profiler;
mod requests;
mod slo;
mod spec;
mod target;
mod tls;
mod transport;
mod volume;

pub use arrivals::{ArrivalProcess, Arrivals, Shard};
pub use driver::{DriverKind, UnknownDriver};
pub use error::PlanError;
pub use file::{
    Combinations, Compare, Expect, Expected, GeneratorSpec, LabHostSpec, MachineGoal, PlanFile,
    PlanFileError, Positions, Problem, Ready, RowSpec, Switch, Turn, UnknownSign, Variant,
};
pub use hosts::{Cap, Capacity, NamedProbe, PlanHost, PlanHostError, Probe};
pub use name::checked_name;
pub use network::{HostPort, IpRange, Network, NetworkError, ResolveEntry};
pub use plan::{Generator, Level, Load, Plan, Rungs, UnreadablePlan};
pub use profile::{ProfileError, RateProfile, Stage};
pub use profiler::{ProfileOrder, ProfileSpec, Profiled, Profiler, ProfilerError};
pub use requests::{CsvFile, HostError, MixedRequest, RequestGroup, RequestSpec, RowOrder, ScenarioSpec};
pub use slo::Slo;
pub use spec::{LoadSpec, PlanSpec};
pub use target::{Target, TargetError};
pub use tls::TlsSpec;
pub use transport::{TransportError, TransportSpec};
