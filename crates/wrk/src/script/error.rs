//! What can go wrong with a script, in words for the one who wrote it.

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
    /// A thread of the script has not come back from a hook, and `done` could wait for it for ever.
    #[error("done() was not called, because a thread of the script is still running")]
    StillRunning,
    #[error("unable to resolve {0}")]
    Resolve(#[from] Unresolved),
    /// The service is the URL's port, or its scheme where it names none; the cause is what its first address answers.
    #[error("unable to connect to {host}:{service} {cause}")]
    Unreachable { host: String, service: String, cause: String },
    /// Line and column, in bytes, count from 1 in the returned text.
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
    /// An error that came out of Lua while `place` was running.
    pub(crate) fn in_lua(place: &'static str, error: &mlua::Error) -> Self {
        match error.downcast_ref::<Unresolved>() {
            Some(unresolved) => Self::Resolve(unresolved.clone()),
            None => Self::Lua { place, text: message(error) },
        }
    }
}

/// The message alone: a traceback goes through frames that the script's author never wrote.
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
