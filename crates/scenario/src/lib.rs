//! Loads of several or changing requests, and the checks that responses must pass.
//!
//! Texts come in, rendered bytes and the outcomes of checks go out: this crate opens no file, reads no clock and
//! no environment. Whatever can be wrong with a file of requests, a template or a check is found when
//! it is parsed, before the load begins; rendering and choosing cannot fail, and do not allocate.
//!
//! Deliberately absent: values carried from an answer into the next request, loops and conditions.

mod check;
mod feeder;
mod mix;
mod requests;
mod suggestion;
mod template;
mod values;

pub use check::{Check, CheckError, CheckedResponse, Needs};
pub use feeder::{Feeder, FeederError, Order};
pub use mix::{Mix, MixError, MixPosition};
pub use requests::{Body, Fault, RequestText, RequestsError, parse_requests};
pub use template::{Position, Template, TemplateError, TemplateScope, UnfitError};
pub use values::{RowSource, Share, Start, Values};
