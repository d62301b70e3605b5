//! Names of runs and hosts.

use crate::PlanError;

/// The name of this machine as a host, unless the user chose another.
pub(crate) const LOCAL_HOST: &str = "local";
/// The longest name of a host, in bytes.
const MAX_HOST_BYTES: usize = 100;

/// Checks a name that becomes part of file names: it must not lead out of their folder.
///
/// # Errors
/// When it is empty, too long, begins with a dot, or holds a character that file names should not.
pub fn checked_name(name: String) -> Result<String, PlanError> {
    let allowed = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_' | '.' | '+');
    let plain = !name.is_empty() && !name.starts_with('.') && name.len() <= 100 && name.chars().all(allowed);
    let expected = "letters, digits, - _ + and dots, at most 100 bytes, not starting with a dot";
    if plain { Ok(name) } else { Err(PlanError::range("the name", format!("`{name}`"), expected)) }
}

/// Turns a host into part of a name; the IPv6 address `::1` becomes `ip6-1`, `fe80::2` becomes `ip6-fe80-2`.
pub(crate) fn default_name(host: &str) -> String {
    if !host.contains(':') {
        let plain = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '.';
        return host.chars().map(|c| if plain(c) { c } else { '-' }).collect();
    }
    let groups: Vec<&str> =
        host.split(|c: char| !c.is_ascii_alphanumeric()).filter(|group| !group.is_empty()).collect();
    format!("ip6-{}", if groups.is_empty() { "0".to_owned() } else { groups.join("-") })
}

/// True if a host may have this name. Reports put a colon after it, so it holds none.
pub(crate) fn is_host_name(text: &str) -> bool {
    let allowed = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_' | '.');
    !text.is_empty() && text.len() <= MAX_HOST_BYTES && text.chars().all(allowed)
}
