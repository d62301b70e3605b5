//! The load engine: workers that make the load of one step and hand over what they recorded.
//!
//! A worker is one thread that owns its connections, buffers and histograms. It shares only two deadlines with other
//! threads. Its loop waits for events, advances the connections that became ready, sends the requests that are due and
//! hands over the frame at the end of its interval. After the warm-up the loop does not allocate, lock or format text.
//!
//! The modules, from pure to impure: `schedule` decides when a request is due, `route` chooses the addresses of a
//! connection, `connection` is the state machine of one connection, `driver` moves bytes, `worker` connects them.

mod connection;
mod control;
mod driver;
mod failure;
mod frame_recorder;
mod requests;
mod route;
mod running_step;
mod schedule;
mod slowest;
mod step_spec;
mod traced;
mod worker;

pub use control::FirstConnection;
pub use failure::{connect_failure, malformed_failure, tls_failure};
pub use requests::{
    CheckResult, FixedRequest, MAX_KEPT_BODY_BYTES, RequestMeta, RequestSource, ResponseInterest,
    ResponseView, SourceFactory, SourceFault, Traffic,
};
pub use running_step::{EngineError, RunningStep, StepEvent, available_driver};
pub use step_spec::{MAX_CONNECTING, PeerGroup, StepSpec, TlsConfig};
pub use traced::Traced;
