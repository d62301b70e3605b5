//! What is sent when not every request is the same, and what an answer must look like to count.
//!
//! Texts come in, rendered bytes and judgements go out: this crate opens no file, reads no clock and
//! no environment. Whatever can be wrong with a file of requests, a template or a check is found when
//! it is parsed, before the load begins; rendering and choosing cannot fail, and do not allocate.
//!
//! Deliberately absent: values carried from an answer into the next request, loops and conditions.

mod check;
mod feeder;
mod fit;
mod mix;
mod requests;
mod suggestion;
mod template;
mod values;

pub use check::{Answer, BODY_KEPT_BYTES_MAX, Check, CheckError, Judgement, Needs};
pub use feeder::{Feeder, FeederError, Order};
pub use fit::{Place, UnfitError};
pub use mix::{Mix, MixError, Turn};
pub use requests::{Body, Fault, RequestText, RequestsError, parse_requests};
pub use template::{Known, Position, Template, TemplateError};
pub use values::{Feed, Share, Start, Values};
