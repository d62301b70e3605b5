//! One thread of a scripted run: its Lua state and the hooks that a worker calls.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use mlua::{BString, Either, Function, Lua};

use super::error::ScriptError;
use super::state::State;
use super::thread_object::Shared;

/// The longest delay in milliseconds; a script that asks for more, or for infinity, gets this.
const MAX_DELAY_MS: f64 = 1e12;

/// Which hooks a script defines. The hooks of the first thread after its `init` count for all threads.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Hooks {
    request: bool,
    delay: bool,
    response: bool,
}

impl Hooks {
    pub(crate) fn from_state(state: &State) -> mlua::Result<Self> {
        Ok(Self {
            request: state.has_hook("request")?,
            delay: state.has_hook("delay")?,
            response: state.has_hook("response")?,
        })
    }
}

/// The Lua state of one thread. It moves to the worker that runs it, and comes back for `done`.
///
/// The first error of a hook is the one to report: after it the thread counts as stopped, and what was measured before
/// stays valid.
#[derive(Debug)]
pub struct ThreadState {
    request: Request,
    delay: Option<Function>,
    response: Option<Function>,
    shared: Arc<Shared>,
    /// The functions above refer to the state but do not keep it alive.
    lua: Lua,
}

#[derive(Debug)]
enum Request {
    Fixed(Vec<u8>),
    Scripted(Function),
}

impl ThreadState {
    /// Creates a thread whose `init` has run.
    pub(crate) fn new(state: State, hooks: Hooks, shared: Arc<Shared>) -> mlua::Result<Self> {
        let call = |name: &str, defined: bool| defined.then(|| state.calls.get::<Function>(name)).transpose();
        let request: Function = state.calls.get("request")?;
        let request = match hooks.request {
            true => Request::Scripted(request),
            false => Request::Fixed(request.call::<BString>(())?.into()),
        };
        let (delay, response) = (call("delay", hooks.delay)?, call("response", hooks.response)?);
        Ok(Self { request, delay, response, shared, lua: state.lua })
    }

    /// Returns the text of every request, if the script has no `request` of its own: no Lua runs per request then.
    pub fn fixed_request(&self) -> Option<&[u8]> {
        match &self.request {
            Request::Fixed(text) => Some(text),
            Request::Scripted(_) => None,
        }
    }

    /// Appends the text of the next request to `out`, or of several that are sent together.
    ///
    /// # Errors
    /// The script's `request()` failed or returned no text. The thread is stopped then.
    pub fn request(&mut self, out: &mut Vec<u8>) -> Result<(), ScriptError> {
        match &self.request {
            Request::Fixed(text) => out.extend_from_slice(text),
            // Reading the text as a Lua string would take three locks and as many reference counts.
            Request::Scripted(function) => match function.call::<BString>(()) {
                Ok(text) => out.extend_from_slice(&text),
                Err(error) => return Err(self.end("request()", &error)),
            },
        }
        Ok(())
    }

    /// Returns how long a connection waits before its next request, in whole milliseconds; `None` without a `delay` hook.
    ///
    /// # Errors
    /// The script's `delay()` failed. The thread is stopped then.
    pub fn delay(&mut self) -> Result<Option<Duration>, ScriptError> {
        let Some(function) = &self.delay else { return Ok(None) };
        match function.call::<f64>(()) {
            Ok(delay_ms) => Ok(Some(whole_ms(delay_ms))),
            Err(error) => Err(self.end("delay()", &error)),
        }
    }

    /// Whether the script paces its connections with a `delay` hook.
    pub fn wants_delay(&self) -> bool {
        self.delay.is_some()
    }

    /// Returns true if the script has a `response` hook; without it no body needs to be kept.
    pub fn wants_response(&self) -> bool {
        self.response.is_some()
    }

    /// Passes a response to the script. Of several fields with one name the script gets the last.
    ///
    /// # Errors
    /// The script's `response()` failed. The thread is stopped then.
    pub fn response<'a>(
        &mut self,
        status: u16,
        headers: impl IntoIterator<Item = (&'a str, &'a [u8])>,
        body: &[u8],
    ) -> Result<(), ScriptError> {
        let Some(function) = &self.response else { return Ok(()) };
        let shown = show(&self.lua, function, status, headers, body);
        shown.map_err(|error| self.end("response()", &error))
    }

    /// Returns true if the thread must send nothing more: its script called `thread:stop()` or failed.
    pub fn stopped(&self) -> bool {
        self.shared.stopped()
    }

    /// Lets a thread that its script has stopped run again.
    pub(super) fn resume(&self) {
        self.shared.set_stopped(false);
    }

    /// The address that this thread connects to. A script may change it at any time, for connections yet to be made.
    pub fn address(&self) -> SocketAddr {
        self.shared.address()
    }

    fn end(&self, place: &'static str, error: &mlua::Error) -> ScriptError {
        self.shared.set_stopped(true);
        ScriptError::in_lua(place, error)
    }
}

fn show<'a>(
    lua: &Lua,
    function: &Function,
    status: u16,
    headers: impl IntoIterator<Item = (&'a str, &'a [u8])>,
    body: &[u8],
) -> mlua::Result<()> {
    let fields = headers.into_iter().map(|(name, value)| (name, lua_text(value)));
    let table = lua.create_table_from(fields)?;
    function.call((status, table, lua_text(body)))
}

/// Converts bytes for Lua, which takes any; UTF-8 needs no intermediate buffer.
fn lua_text(bytes: &[u8]) -> Either<&str, BString> {
    match std::str::from_utf8(bytes) {
        Ok(text) => Either::Left(text),
        Err(_) => Either::Right(bytes.into()),
    }
}

/// Converts a delay that Lua returned: it is cut to whole milliseconds, and is 0 if it is negative or NaN.
fn whole_ms(delay_ms: f64) -> Duration {
    Duration::from_millis(delay_ms.clamp(0.0, MAX_DELAY_MS) as u64)
}
