//! The load engine: workers that make the load of one step and hand over what they recorded.
//!
//! A worker is one thread that owns its connections, buffers and histograms and shares only two deadlines with others. It
//! runs one loop: wait for the system, advance the connections that became ready, send what is due, hand over the frame when
//! its interval is over. After the warm-up the loop does not allocate, lock or write text.
//!
//! The parts, from pure to impure: `schedule` says when a request is due, `route` from where to where a connection goes,
//! `connection` what a connection's bytes mean, `driver` moves bytes, `worker` puts them together.

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
