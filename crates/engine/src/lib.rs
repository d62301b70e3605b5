//! The load engine: workers that make one step's load and hand over what came of it.
//!
//! A worker is one thread that owns its connections, buffers and histograms and shares nothing but
//! two deadlines. It goes round one loop: wait for the system, advance the connections that became
//! ready, send what is due, hand over the frame when its interval is over. After the warm-up that
//! loop allocates nothing, takes no lock and writes no text.
//!
//! The parts, from pure to impure: `schedule` says when a request is due, `route` which way a connection takes, `connection` what a
//! connection's bytes mean, `drive` moves bytes, `worker` puts them together.

mod classify;
mod connection;
mod control;
mod drive;
mod layers;
mod order;
mod recorder;
mod route;
mod running;
mod schedule;
mod traffic;
mod worker;

pub use classify::{connect_failure, malformed_failure};
pub use drive::choice::available_driver;
pub use layers::tls_failure;
pub use order::{Company, OPENING_MAX, StepOrder, TlsOrder};
pub use running::{EngineError, Running, Turn};
pub use traffic::{
    Answer, BODY_KEPT_MOST_BYTES, Curiosity, FixedRequest, Judgement, Note, RequestMaker, RequestSource,
    SourceFault, Traffic,
};
