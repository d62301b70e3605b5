//! Names of runs and hosts.

use crate::error::PlanError;

/// The name of this machine as a host, unless the user chose another.
pub(crate) const LOCAL_HOST: &str = "local";
/// The longest name of a host, in bytes.
const MAX_HOST_BYTES: usize = 100;

/// A name as part of file names: it must not lead out of their folder.
///
/// # Errors
/// When it is empty, too long, begins with a dot, or holds a character that file names should not.
pub fn checked_name(name: String) -> Result<String, PlanError> {
    let allowed = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_' | '.' | '+');
    let plain = !name.is_empty() && !name.starts_with('.') && name.len() <= 100 && name.chars().all(allowed);
    let expected = "letters, digits, - _ + and dots, at most 100 bytes, not starting with a dot".to_owned();
    if plain {
        Ok(name)
    } else {
        Err(PlanError::Range { what: "the name", value: format!("`{name}`"), expected })
    }
}

/// A host as part of a name.
pub(crate) fn default_name(host: &str) -> String {
    if host.contains(':') {
        return ip6_name(host);
    }
    host.chars().map(|c| if c.is_ascii_alphanumeric() || c == '-' || c == '.' { c } else { '-' }).collect()
}

/// An IPv6 address as a name: `::1` is `ip6-1`, `fe80::2` is `ip6-fe80-2`.
fn ip6_name(host: &str) -> String {
    let groups: Vec<&str> =
        host.split(|c: char| !c.is_ascii_alphanumeric()).filter(|group| !group.is_empty()).collect();
    if groups.is_empty() { "ip6-0".to_owned() } else { format!("ip6-{}", groups.join("-")) }
}

/// Whether a host may have this name. Reports put a colon after it, so it holds none.
pub(crate) fn is_host_name(text: &str) -> bool {
    let allowed = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_' | '.');
    !text.is_empty() && text.len() <= MAX_HOST_BYTES && text.chars().all(allowed)
}
