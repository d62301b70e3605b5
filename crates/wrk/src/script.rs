//! wrk's scripting: a Lua file with hooks that make the requests of a run, see its responses and sum it up.
//!
//! The file runs in one Lua state per thread and once more in a main state, where `setup` and `done` are called. The
//! states share nothing: what goes from one to another is copied. All of them are made while loading, before the load
//! begins; then each [`ThreadState`] goes to a worker and comes back at the end.
//!
//! Deliberately absent: any connection of the load. The module returns what to send and when, and takes the responses.

mod address;
mod error;
mod pipeline;
mod samples;
mod state;
mod summary;
mod thread_object;
mod thread_state;

use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;

use mlua::{Function, Table};

use address::Address;
use state::{ScriptFile, State};
use thread_object::{Shared, ThreadObject};
use thread_state::Hooks;

pub use address::ScriptTarget;
pub use error::{ScriptError, Unresolved};
pub use samples::Samples;
pub use summary::{Errors, Summary};
pub use thread_state::ThreadState;

/// A script that is loaded for a run: its main state, and the threads until they are taken.
#[derive(Debug)]
pub struct Script {
    main: State,
    threads: Vec<ThreadState>,
    pipeline: usize,
}

impl Script {
    /// Runs the file in every state, resolves and tries the target's addresses, and calls `setup` and `init` for each
    /// thread in turn. `args` are the URL as it was typed and what followed `--`; `init` gets them.
    ///
    /// The first thread's `request` is called once more than requests are sent, to see how many it pipelines.
    ///
    /// # Errors
    ///
    /// The file cannot be read, the script fails, no address of the target accepts a connection, or the first request
    /// is not HTTP/1.1.
    pub fn load(
        path: &Path,
        target: ScriptTarget,
        args: Vec<String>,
        threads: u32,
    ) -> Result<Self, ScriptError> {
        let (source, target) = (ScriptFile::read(path)?, Arc::new(target));
        let main = State::open(&source, &target)?;
        let first = reachable(&main, &target)?;
        let mut script = Self { main, threads: Vec::new(), pipeline: 1 };
        let mut hooks = None;
        for _ in 0..threads {
            let (state, shared) = script.begin(State::open(&source, &target)?, first, &args)?;
            let thread = settle(state, &mut hooks, shared);
            script.threads.push(thread.map_err(|error| ScriptError::in_lua("init", &error))?);
        }
        if let Some(thread) = script.threads.first_mut() {
            let mut text = Vec::new();
            thread.request(&mut text)?;
            script.pipeline = pipeline::depth(&text)?;
        }
        Ok(script)
    }

    /// Introduces a new thread to the main state, then lets it initialise itself.
    fn begin(
        &self,
        state: State,
        address: SocketAddr,
        args: &[String],
    ) -> Result<(State, Arc<Shared>), ScriptError> {
        let shared = Arc::new(Shared::new(address));
        let object = ThreadObject { lua: state.lua.weak(), shared: Arc::clone(&shared) };
        let failed = |error| ScriptError::in_lua("init", &error);
        state.wrk.set("thread", object.clone()).map_err(failed)?;
        self.main.call_wrk("setup", object)?;
        let table = arguments(&state, args).map_err(failed)?;
        state.call_wrk("init", table)?;
        // Only a thread that runs can be stopped.
        shared.set_stopped(false);
        Ok((state, shared))
    }

    /// The threads of the run, each with its own state, in the order of their `setup`. They are given once.
    #[must_use]
    pub fn threads(&mut self) -> Vec<ThreadState> {
        std::mem::take(&mut self.threads)
    }

    /// How many requests one text of `request()` holds: a connection awaits that many responses to it.
    #[must_use]
    pub fn pipeline(&self) -> usize {
        self.pipeline
    }

    /// Whether the script wants to sum up the run.
    #[must_use]
    pub fn wants_done(&self) -> bool {
        self.main.has_hook("done").unwrap_or(false)
    }

    /// Calls the script's `done`, if it has one. The threads come back so that it can read their variables.
    ///
    /// # Errors
    ///
    /// The script's `done()` failed.
    pub fn done(
        &mut self,
        threads: Vec<ThreadState>,
        summary: Summary,
        latency: Samples,
        requests: Samples,
    ) -> Result<(), ScriptError> {
        if !self.wants_done() {
            return Ok(());
        }
        let hook = self.main.lua.globals().get::<Function>("done");
        let called = hook.and_then(|done| done.call::<()>((summary, latency, requests)));
        drop(threads);
        called.map_err(|error| ScriptError::in_lua("done()", &error))
    }
}

/// Resolves the target in the main state, by a function that a script may have replaced. Gives its first address.
fn reachable(main: &State, target: &ScriptTarget) -> Result<SocketAddr, ScriptError> {
    let service = target.service();
    main.call_wrk("resolve", (target.host.as_str(), service.as_str()))?;
    let first = main.wrk.get::<Table>("addrs").and_then(|addresses| addresses.get::<Option<Address>>(1));
    match first.map_err(|error| ScriptError::in_lua("resolve", &error))? {
        Some(address) => Ok(address.0),
        None => Err(unreachable(target, service)),
    }
}

/// Why no address is left: what the first of them answers when it is tried again.
fn unreachable(target: &ScriptTarget, service: String) -> ScriptError {
    let first = address::lookup(target, &target.host, &service).ok().and_then(|found| found.first().copied());
    let refusal = first.and_then(|first| address::connect(first.0).err());
    let cause =
        refusal.map_or_else(|| "no address of it accepts connections".to_owned(), |error| error.to_string());
    ScriptError::Unreachable { host: target.host.clone(), service, cause }
}

fn arguments(state: &State, args: &[String]) -> mlua::Result<Table> {
    let table = state.lua.create_table()?;
    for (index, argument) in args.iter().enumerate() {
        table.raw_set(index, argument.as_str())?;
    }
    Ok(table)
}

/// A thread after its `init`. The first one's hooks are remembered for the others.
fn settle(state: State, hooks: &mut Option<Hooks>, shared: Arc<Shared>) -> mlua::Result<ThreadState> {
    let known = match *hooks {
        Some(known) => known,
        None => *hooks.insert(Hooks::from_state(&state)?),
    };
    ThreadState::new(state, known, shared)
}
