//! The errors of scripts, in words for their authors.

use std::io;
use std::path::PathBuf;

use thiserror::Error;

/// Why a script could not be loaded, or why its load on a thread ended early.
#[derive(Debug, Error)]
pub enum ScriptError {
    #[error("cannot read the script {}: {source}", .path.display())]
    Read { path: PathBuf, source: io::Error },
    /// Lua raised an error in the file itself or in a hook; Lua's text names the file and the line, without a traceback.
    #[error("the script failed in {place}: {text}")]
    Lua { place: &'static str, text: String },
    /// A thread of the script has not returned from a hook, and `done` could wait for it forever.
    #[error("done() was not called, because a thread of the script is still running")]
    StillRunning,
    #[error("unable to resolve {0}")]
    Resolve(#[from] Unresolved),
    /// The service is the URL's port, or its scheme if it has none; the cause is the error of its first address.
    #[error("unable to connect to {host}:{service} {cause}")]
    Unreachable { host: String, service: String, cause: String },
    /// The position in the returned text, counted from 1; the column is in bytes.
    #[error(
        "the script's request() did not return whole HTTP/1.1 requests: {reason} at {line}:{column} of its text"
    )]
    Request { reason: &'static str, line: usize, column: usize },
}

/// A host and service that could not be turned into addresses.
#[derive(Clone, Debug, Error)]
#[error("{host}:{service} {cause}")]
pub struct Unresolved {
    pub host: String,
    /// The port, or the name of a service.
    pub service: String,
    pub cause: String,
}

impl ScriptError {
    /// Converts an error that Lua raised while `place` was running.
    pub(crate) fn in_lua(place: &'static str, error: &mlua::Error) -> Self {
        match error.downcast_ref::<Unresolved>() {
            Some(unresolved) => Self::Resolve(unresolved.clone()),
            None => Self::Lua { place, text: message(error) },
        }
    }
}

/// Returns the message alone: a traceback has frames that the script's author did not write.
fn message(error: &mlua::Error) -> String {
    let whole = match error {
        mlua::Error::CallbackError { cause, .. } => message(cause),
        mlua::Error::RuntimeError(text) | mlua::Error::SyntaxError { message: text, .. } => text.clone(),
        mlua::Error::FromLuaConversionError { from, to, .. } if to == "BString" => {
            format!("a {from} value was returned where a string was expected")
        }
        other => other.to_string(),
    };
    match whole.find("\nstack traceback:") {
        Some(end) => whole[..end].to_owned(),
        None => whole,
    }
}
