//! What can go wrong with a script, in words for the one who wrote it.

use std::io;
use std::path::PathBuf;

use thiserror::Error;

/// Why a script could not be loaded, or why its load on a thread ended early.
#[derive(Debug, Error)]
pub enum ScriptError {
    /// The file of the script cannot be read.
    #[error("cannot read the script {}: {source}", .path.display())]
    Read {
        /// The file as it was named.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// Lua raised an error; its text names the file and the line.
    #[error("the script failed in {place}: {text}")]
    Lua {
        /// What of the script was running: the file itself or the name of a hook.
        place: &'static str,
        /// Lua's own message, without a traceback.
        text: String,
    },
    /// A thread of the script has not come back from a hook, and `done` could wait for it for ever.
    #[error("done() was not called, because a thread of the script is still running")]
    StillRunning,
    /// The name of the target has no address.
    #[error("unable to resolve {0}")]
    Resolve(#[from] Unresolved),
    /// Not one address of the target accepts connections.
    #[error("unable to connect to {host}:{service} {cause}")]
    Unreachable {
        /// The host of the URL.
        host: String,
        /// The port of the URL, or its scheme where it names no port.
        service: String,
        /// What the first address answered.
        cause: String,
    },
    /// What the first `request()` returned is not a sequence of whole HTTP/1.1 requests.
    #[error(
        "the script's request() did not return whole HTTP/1.1 requests: {reason} at {line}:{column} of its text"
    )]
    Request {
        /// What is wrong with the text.
        reason: &'static str,
        /// The line in the returned text, counted from 1.
        line: usize,
        /// The column in that line in bytes, counted from 1.
        column: usize,
    },
}

/// A host and service that could not be turned into addresses.
#[derive(Clone, Debug, Error)]
#[error("{host}:{service} {cause}")]
pub struct Unresolved {
    /// The host that was asked for.
    pub host: String,
    /// The port, or the name of a service.
    pub service: String,
    /// What the resolver said.
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
