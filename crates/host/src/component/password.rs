//! Where a probe's password comes from: the probe itself, an environment variable, or a file.

use std::path::Path;

use plimsoll_sys::read_regular;

/// The size limit of a password file, in bytes.
const MAX_BYTES: u64 = 4096;

/// Resolves the password that a probe names. `env:NAME` is the value of a variable, `file:PATH` the content of a file without
/// its line end; anything else is the password itself.
///
/// # Errors
/// When the variable is not set, or the file cannot be read or is not text.
pub fn resolve(typed: Option<&str>) -> Result<Option<String>, String> {
    let Some(typed) = typed else { return Ok(None) };
    if let Some(name) = typed.strip_prefix("env:") {
        let value = std::env::var(name);
        return value
            .map(Some)
            .map_err(|_| format!("the variable {name}, which holds its password, is not set"));
    }
    let Some(path) = typed.strip_prefix("file:") else { return Ok(Some(typed.to_owned())) };
    let unread = |reason: &dyn std::fmt::Display| {
        format!("the file {path}, which holds its password, cannot be read ({reason})")
    };
    let bytes = read_regular(Path::new(path), MAX_BYTES).map_err(|error| unread(&error))?;
    let text = String::from_utf8(bytes).map_err(|error| unread(&error))?;
    Ok(Some(text.trim_end_matches(['\r', '\n']).to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_password_is_read_from_where_it_stands() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("word");
        std::fs::write(&path, "p@ss word\r\n").unwrap();
        let file = format!("file:{}", path.display());
        assert_eq!(resolve(Some(&file)).unwrap().as_deref(), Some("p@ss word"));
        assert_eq!(resolve(Some("env:PATH")).unwrap(), std::env::var("PATH").ok());
        assert_eq!(resolve(Some("plain:word")).unwrap().as_deref(), Some("plain:word"));
        assert_eq!(resolve(None), Ok(None));
        assert!(resolve(Some("env:PLIMSOLL_NOT_SET")).unwrap_err().contains("PLIMSOLL_NOT_SET"));
        assert!(resolve(Some("file:/dev/zero")).unwrap_err().contains("not a regular file"));
    }
}
