//! A CPU profile from a page, such as Go's `/debug/pprof/profile`.

use std::time::Duration;

use plimsoll_host::page_agent;
use plimsoll_record::ProfileForm;

use super::error::{GRACE, ProfileError};

/// A profile may be this long as it is sent.
const MAX_BYTES: u64 = 64 << 20;

const SAID_CHARS: usize = 120;

/// Asks the page for a profile of so long, in whole seconds, and waits for it.
pub(super) fn take(url: &str, time: Duration) -> Result<Vec<u8>, ProfileError> {
    let seconds = time.as_millis().div_ceil(1000);
    let joint = if url.contains('?') { '&' } else { '?' };
    let asked = format!("{url}{joint}seconds={seconds}");
    let unreachable = |error: ureq::Error| match error {
        ureq::Error::Timeout(_) => ProfileError::Late(GRACE),
        other => ProfileError::Unreachable { url: url.to_owned(), reason: other.to_string() },
    };
    let mut answer = page_agent(url, time + GRACE).get(&asked).call().map_err(unreachable)?;
    let status = answer.status().as_u16();
    let body = answer.body_mut().with_config().limit(MAX_BYTES).read_to_vec().map_err(unreachable)?;
    if status != 200 {
        return Err(refused(url, status, &body));
    }
    // A profile without a sample is right for a target that is idle, as it is before the load.
    let read = plimsoll_profile::parse(ProfileForm::Pprof, &body);
    read.map_err(|reason| ProfileError::NoProfile { source_name: url.to_owned(), reason })?;
    Ok(body)
}

fn refused(url: &str, status: u16, body: &[u8]) -> ProfileError {
    let text = String::from_utf8_lossy(body);
    let said: String = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let said: String = said.chars().take(SAID_CHARS).collect();
    let advice = match status {
        404 => "; Go serves it where net/http/pprof is imported, at /debug/pprof/profile",
        _ if said.contains("WriteTimeout") => "; ask for less with --profile-time",
        _ if said.contains("already in use") => "; another profile is being taken just now",
        _ => "",
    };
    ProfileError::Refused { url: url.to_owned(), status, said, advice }
}
