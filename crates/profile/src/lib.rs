//! CPU profiles as stacks of functions, and their cost per request.
//!
//! A profile is parsed from what a run keeps of it: the protobuf of pprof as the server sent it, or the text of `perf
//! script`. Both become [`Stacks`], and every table and figure is made from these. Pure: no file, no clock.

mod difference;
mod error;
mod gzip;
mod per_request;
mod perf;
mod pprof;
mod stacks;

pub use difference::{Change, difference};
pub use error::ProfileError;
pub use gzip::pack;
pub use per_request::{Micros, PerRequest};
pub use stacks::{Cost, FunctionCost, MAX_FRAMES, Stacks};

use plimsoll_record::ProfileForm;

/// Reads a profile in the form in which a run keeps it.
///
/// # Errors
/// When it is damaged, not of this form, too large, or holds no CPU time.
pub fn parse(form: ProfileForm, content: &[u8]) -> Result<Stacks, ProfileError> {
    let content = gzip::unpacked(content)?;
    match form {
        ProfileForm::Pprof => pprof::parse(&content),
        ProfileForm::Perf => perf::parse(&content),
    }
}
