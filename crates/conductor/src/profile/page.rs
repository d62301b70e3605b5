//! A CPU profile from a page, such as Go's `/debug/pprof/profile`.

use std::time::Duration;

use plimsoll_host::page_agent;
use plimsoll_record::ProfileForm;

use super::error::{GRACE, ProfileError};

/// The longest profile in bytes, as it is transferred.
const MAX_BYTES: u64 = 64 << 20;

const SAID_CHARS: usize = 120;

/// Hides the query of a page's address, which may hold a token, for names that are recorded, shown or passed on.
pub(crate) fn without_query(address: &str) -> String {
    address.split_once('?').map_or_else(|| address.to_owned(), |(page, _)| format!("{page}?…"))
}

/// A page that returns CPU profiles.
#[derive(Debug, Clone)]
pub(super) struct ProfilePage {
    url: String,
}

impl ProfilePage {
    pub(super) fn new(url: &str) -> Self {
        Self { url: url.to_owned() }
    }

    pub(super) fn name(&self) -> String {
        without_query(&self.url)
    }

    /// Requests a profile of this length, rounded up to whole seconds, and waits for it.
    pub(super) fn take(&self, time: Duration) -> Result<Vec<u8>, ProfileError> {
        let seconds = time.as_millis().div_ceil(1000);
        let joint = if self.url.contains('?') { '&' } else { '?' };
        let asked = format!("{}{joint}seconds={seconds}", self.url);
        let unreachable = |error: ureq::Error| match error {
            ureq::Error::Timeout(_) => ProfileError::Late(GRACE),
            other => ProfileError::Unreachable { url: self.name(), reason: other.to_string() },
        };
        let mut answer = page_agent(&self.url, time + GRACE).get(&asked).call().map_err(unreachable)?;
        let status = answer.status().as_u16();
        let body = answer.body_mut().with_config().limit(MAX_BYTES).read_to_vec().map_err(unreachable)?;
        if status != 200 {
            return Err(refused(self.name(), status, &body));
        }
        // A profile without samples is valid: the target is idle before the load.
        let read = plimsoll_profile::parse(ProfileForm::Pprof, &body);
        read.map_err(|reason| ProfileError::NoProfile { source_name: self.name(), reason })?;
        Ok(body)
    }
}

fn refused(url: String, status: u16, body: &[u8]) -> ProfileError {
    let text = String::from_utf8_lossy(body);
    let said: String = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let said: String = said.chars().take(SAID_CHARS).collect();
    let advice = match status {
        404 => "; Go serves it where net/http/pprof is imported, at /debug/pprof/profile",
        _ if said.contains("WriteTimeout") => "; ask for less with --profile-time",
        _ if said.contains("already in use") => "; another profile is being taken just now",
        _ => "",
    };
    ProfileError::Refused { url, status, said, advice }
}

#[cfg(test)]
mod tests {
    use plimsoll_testkit::{BadServer, Script, refused_address};

    use super::*;

    #[test]
    fn the_query_of_a_page_is_in_no_name() {
        assert_eq!(without_query("nginx+http://web/status?key=s3cret"), "nginx+http://web/status?…");
        assert_eq!(without_query("redis://cache:6379"), "redis://cache:6379");
    }

    #[test]
    fn a_page_without_a_profile_is_named_without_its_query() {
        let server = BadServer::start(Script::Correct { body: b"no profile".to_vec() });
        for (address, reason) in [(server.address(), "no profile"), (refused_address(), "cannot be asked")] {
            let page = ProfilePage::new(&format!("http://{address}/profile?token=s3cret"));
            let error = page.take(Duration::from_secs(1)).unwrap_err().to_string();
            assert!(error.contains("/profile?…") && error.contains(reason), "{error}");
            assert!(!error.contains("s3cret"), "{error}");
        }
    }
}
