//! wrk's scripting: a Lua file with hooks that make the requests of a run, see its responses and sum it up.
//!
//! The file runs in one Lua state per thread and once more in a main state, where `setup` and `done` are called. The
//! states share nothing: what goes from one to another is copied. All of them are made while loading, before the load
//! begins; then each [`ThreadState`] goes to a worker and comes back at the end.
//!
//! The module opens no connection of the load: it returns what to send and when, and takes the responses.

mod address;
mod error;
mod pipeline;
mod state;
mod summary;
mod thread_object;
mod thread_state;

use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;

use mlua::{Function, Table};

use crate::options::{Options, Url};
use crate::stats::Measured;
use address::Address;
pub(crate) use address::first_reachable;
use state::State;
use thread_object::{Shared, ThreadObject};
use thread_state::Hooks;

pub use error::{ScriptError, Unresolved};
pub use thread_state::ThreadState;

/// A script that is loaded for a run: its main state, and the threads until they are taken.
#[derive(Debug)]
pub struct Script {
    main: State,
    threads: Vec<ThreadState>,
    pipeline: usize,
}

/// The longest script that is read, in bytes.
const MAX_SCRIPT_BYTES: u64 = 64 << 20;

impl Script {
    /// Runs the file in every state, resolves and tries the target's addresses, and calls `setup` and `init` for each
    /// thread in turn. `init` gets the URL as it was typed and what followed `--`.
    ///
    /// The first thread's `request` is called once more than requests are sent, to count how many it pipelines.
    ///
    /// # Errors
    /// The file cannot be read, the script fails, no address of the target accepts a connection, or the first request
    /// is not HTTP/1.1.
    pub fn load(path: &Path, options: &Options) -> Result<Self, ScriptError> {
        let text = plimsoll_sys::read_regular(path, MAX_SCRIPT_BYTES)
            .map_err(|source| ScriptError::Read { path: path.to_owned(), source })?;
        let main = State::open(path, &text, options)?;
        let first = reachable(&main, &options.url)?;
        let mut script = Self { main, threads: Vec::new(), pipeline: 1 };
        let mut hooks = None;
        for _ in 0..options.threads {
            let state = State::open(path, &text, options)?;
            let shared = script.begin(&state, first, options)?;
            let thread = settle(state, &mut hooks, shared);
            script.threads.push(thread.map_err(|error| ScriptError::in_lua("init", &error))?);
        }
        if let Some(thread) = script.threads.first_mut() {
            let mut text = Vec::new();
            thread.request(&mut text)?;
            // As in init: only a thread that runs can be stopped.
            thread.resume();
            script.pipeline = pipeline::depth(&text)?;
        }
        Ok(script)
    }

    /// Calls `setup` for a new thread in the main state, then `init` in its own state.
    fn begin(
        &self,
        state: &State,
        address: SocketAddr,
        options: &Options,
    ) -> Result<Arc<Shared>, ScriptError> {
        let shared = Arc::new(Shared::new(address));
        let object = ThreadObject { lua: state.lua.weak(), shared: Arc::clone(&shared) };
        let failed = |error| ScriptError::in_lua("init", &error);
        state.wrk.set("thread", object.clone()).map_err(failed)?;
        self.main.call_wrk("setup", object)?;
        let arguments = std::iter::once(&options.url_text).chain(&options.args);
        let table = state.lua.create_table_from((0..).zip(arguments.map(String::as_str)));
        state.call_wrk("init", table.map_err(failed)?)?;
        // Only a thread that runs can be stopped.
        shared.set_stopped(false);
        Ok(shared)
    }

    /// Takes the threads of the run, each with its own state, in the order of their `setup`. A second call returns none.
    pub fn threads(&mut self) -> Vec<ThreadState> {
        std::mem::take(&mut self.threads)
    }

    /// The number of requests in one text of `request()`: a connection awaits that many responses to it.
    pub fn pipeline(&self) -> usize {
        self.pipeline
    }

    /// Calls the script's `done`, if it has one. The threads are passed back so that it can read their variables.
    ///
    /// # Errors
    /// The script's `done()` failed.
    pub fn done(&mut self, threads: Vec<ThreadState>, measured: &Measured) -> Result<(), ScriptError> {
        if !self.main.has_hook("done").unwrap_or(false) {
            return Ok(());
        }
        let lua = &self.main.lua;
        let called = lua.globals().get::<Function>("done").and_then(|done| {
            done.call::<()>((
                summary::totals(lua, measured)?,
                measured.latency_us(),
                measured.rates_per_sec(),
            ))
        });
        drop(threads);
        called.map_err(|error| ScriptError::in_lua("done()", &error))
    }
}

/// Resolves the target in the main state, by a function that a script may have replaced. Returns its first address.
fn reachable(main: &State, url: &Url) -> Result<SocketAddr, ScriptError> {
    main.call_wrk("resolve", (url.host.as_str(), url.service()))?;
    let first = main.wrk.get::<Table>("addrs").and_then(|addresses| addresses.get::<Option<Address>>(1));
    match first.map_err(|error| ScriptError::in_lua("resolve", &error))? {
        Some(address) => Ok(address.0),
        None => Err(unreachable(url)),
    }
}

/// Returns the error for a target without an address that accepts connections: why its first one refuses a new attempt.
fn unreachable(url: &Url) -> ScriptError {
    let (host, service) = (url.host.clone(), url.service().to_owned());
    let first = address::lookup(&host, &service).ok().and_then(|found| found.first().copied());
    let refusal = first.and_then(|first| address::connect(first.0).err());
    let cause =
        refusal.map_or_else(|| "no address of it accepts connections".to_owned(), |error| error.to_string());
    ScriptError::Unreachable { host, service, cause }
}

/// Creates a thread after its `init`. The hooks of the first thread are kept for the others.
fn settle(state: State, hooks: &mut Option<Hooks>, shared: Arc<Shared>) -> mlua::Result<ThreadState> {
    let known = match *hooks {
        Some(known) => known,
        None => *hooks.insert(Hooks::from_state(&state)?),
    };
    ThreadState::new(state, known, shared)
}
