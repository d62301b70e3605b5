//! Loads of several or changing requests, and the checks that responses must pass.
//!
//! The crate takes texts and returns rendered bytes and the outcomes of checks. It opens no file, and reads no clock and no
//! environment. All errors in a file of requests, a template or a check are found when it is parsed, before the load begins;
//! rendering and choosing cannot fail, and do not allocate.
//!
//! Deliberately absent: values from a response used in the next request, loops, and conditions.

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
