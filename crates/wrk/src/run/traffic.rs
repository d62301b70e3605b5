//! Hands a script's requests to the engine, and its threads to the workers.
//!
//! Each thread of a script goes to the worker of the same number and comes back when the worker has ended. If the requests
//! of a script are all the same, and it has neither delays nor a hook for responses, no Lua runs under load.

use std::io;
use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use plimsoll_engine::{
    CheckResult, FixedRequest, RequestMeta, RequestSource, ResponseInterest, ResponseView, SourceFactory,
    SourceFault, Traffic,
};
use plimsoll_plan::{MAX_WORKERS, Shard};

use super::outcome;
use crate::options::{Exit, Options, Url};
use crate::script::{Script, ScriptError, ThreadState, first_reachable};
use crate::stats::Measured;

/// The threads of a script, by number; `None` while a worker has one.
#[derive(Debug, Default)]
struct Threads(Mutex<Vec<Option<ThreadState>>>);

impl Threads {
    fn take(&self, index: u32) -> Option<ThreadState> {
        self.0.lock().get_mut(index as usize)?.take()
    }

    fn put(&self, index: u32, thread: ThreadState) {
        if let Some(place) = self.0.lock().get_mut(index as usize) {
            *place = Some(thread);
        }
    }

    fn any(&self, holds: fn(&ThreadState) -> bool) -> bool {
        self.0.lock().iter().flatten().any(holds)
    }

    /// Takes every thread; `None` if a worker still has one.
    fn take_all(&self) -> Option<Vec<ThreadState>> {
        let mut places = self.0.lock();
        std::mem::take(&mut *places).into_iter().collect()
    }
}

/// The requests of a run.
pub(super) struct Requests {
    pub(super) traffic: Traffic,
    script: Option<Script>,
    threads: Arc<Threads>,
    /// The number of requests that are sent together.
    pub(super) batch: u16,
    addresses: Vec<SocketAddr>,
    pauses: bool,
}

impl Requests {
    /// Returns the requests of these options; a script is loaded and initialised.
    pub(super) fn from_options(options: &Options) -> Result<Self, Exit> {
        match &options.script {
            Some(file) => {
                check_threads(options)?;
                Self::scripted(Script::load(Path::new(file), options)?)
            }
            None => Ok(Self {
                traffic: Traffic::Fixed(FixedRequest::new(plain_request(options), "GET")),
                script: None,
                threads: Arc::default(),
                batch: 1,
                addresses: Vec::new(),
                pauses: false,
            }),
        }
    }

    fn scripted(mut script: Script) -> Result<Self, Exit> {
        let depth = script.pipeline();
        let batch = u16::try_from(depth).map_err(|_| {
            outcome::failed(&format!(
                "request() returned {depth} requests at once; at most 10000 are possible"
            ))
        })?;
        let states = script.threads();
        let addresses = states.iter().map(ThreadState::address).collect();
        let pauses = states.iter().any(ThreadState::wants_delay);
        // A fixed request is one request for the engine, so it cannot be a text of several.
        let fixed = if depth == 1 { fixed(&states) } else { None };
        let threads = Arc::new(Threads(Mutex::new(states.into_iter().map(Some).collect())));
        let traffic = match fixed {
            Some(request) => Traffic::Fixed(request),
            None => {
                Traffic::Generated(Arc::new(ScriptSourceFactory { threads: Arc::clone(&threads), batch }))
            }
        };
        Ok(Self { traffic, script: Some(script), threads, batch, addresses, pauses })
    }

    /// Returns the address of all connections, as in wrk: that of the script's first thread, or the first of the URL's host
    /// that accepts a connection. `None` if none does.
    pub(super) fn address(&self, url: &Url) -> Option<SocketAddr> {
        self.addresses.first().copied().or_else(|| first_reachable(&url.host, url.service()))
    }

    /// Returns true if connections were idle because of the script: it paused them, or stopped a thread.
    pub(super) fn idles(&self) -> bool {
        self.pauses || self.threads.any(ThreadState::stopped)
    }

    /// Returns a remark on what the script asks for and does not get.
    pub(super) fn remark(&self) -> Option<String> {
        let first = *self.addresses.first()?;
        let differs = self.addresses.iter().any(|address| *address != first);
        differs.then(|| {
            format!("the script gives its threads several addresses; all of them connect to that of the first, {first}")
        })
    }

    /// Calls the script's `done` with the figures that were printed.
    pub(super) fn sum_up(&mut self, measured: &Measured) -> Result<(), ScriptError> {
        let Some(script) = &mut self.script else { return Ok(()) };
        let threads = self.threads.take_all().ok_or(ScriptError::StillRunning)?;
        script.done(threads, measured)
    }
}

/// Refuses too many threads before they exist: the Lua state of each takes memory.
fn check_threads(options: &Options) -> Result<(), Exit> {
    let threads = options.threads;
    if threads <= MAX_WORKERS {
        return Ok(());
    }
    Err(outcome::failed(&format!("{threads} threads are too many: at most {MAX_WORKERS} are possible (-t)")))
}

/// Returns the request that wrk sends without a script: a GET with a Host and the headers of the command line. It is the
/// text of wrk's own `wrk.format`, which does not check headers.
fn plain_request(options: &Options) -> Vec<u8> {
    let url = &options.url;
    let mut text = format!("GET {} HTTP/1.1\r\n", url.path);
    if !options.headers.iter().any(|(name, _)| name == "Host") {
        text += &format!("Host: {}\r\n", url.authority());
    }
    // Without a body, wrk.format drops a Content-Length header.
    for (name, value) in options.headers.iter().filter(|(name, _)| name != "Content-Length") {
        text += &format!("{name}: {value}\r\n");
    }
    (text + "\r\n").into_bytes()
}

/// Returns the request of all threads, if there is just one and no hook runs under load.
fn fixed(threads: &[ThreadState]) -> Option<FixedRequest> {
    let text = threads.first()?.fixed_request()?;
    let hooked = |thread: &ThreadState| thread.wants_response() || thread.wants_delay();
    let same = |thread: &ThreadState| thread.fixed_request() == Some(text) && !hooked(thread);
    threads.iter().all(same).then(|| FixedRequest::new(text.to_vec(), method(text)))
}

/// Returns the method of the first request in a text.
fn method(text: &[u8]) -> &str {
    let length = text.iter().take_while(|byte| byte.is_ascii_uppercase()).count();
    std::str::from_utf8(&text[..length]).unwrap_or_default()
}

/// Gives each worker its thread of the script.
struct ScriptSourceFactory {
    threads: Arc<Threads>,
    batch: u16,
}

impl SourceFactory for ScriptSourceFactory {
    fn create(&self, shard: Shard) -> io::Result<Box<dyn RequestSource>> {
        let thread = self.threads.take(shard.index).ok_or(io::ErrorKind::NotFound)?;
        let threads = Arc::clone(&self.threads);
        Ok(Box::new(ThreadSource { thread: Some(thread), threads, index: shard.index, batch: self.batch }))
    }
}

/// A thread of the script with its worker. Dropping this puts the thread back, however the worker ended.
struct ThreadSource {
    /// `None` only after the drop.
    thread: Option<ThreadState>,
    threads: Arc<Threads>,
    index: u32,
    batch: u16,
}

impl ThreadSource {
    fn call<T>(
        &mut self,
        hook: impl FnOnce(&mut ThreadState) -> Result<T, ScriptError>,
    ) -> Result<T, SourceFault> {
        match &mut self.thread {
            Some(thread) => hook(thread).map_err(|error| SourceFault(error.to_string())),
            None => Err(SourceFault("the script's thread was put back before its worker ended".to_owned())),
        }
    }
}

impl Drop for ThreadSource {
    fn drop(&mut self) {
        if let Some(thread) = self.thread.take() {
            self.threads.put(self.index, thread);
        }
    }
}

impl RequestSource for ThreadSource {
    fn write(&mut self, out: &mut Vec<u8>) -> Result<RequestMeta, SourceFault> {
        let begin = out.len();
        self.call(|thread| thread.request(out))?;
        let text = &out[begin..];
        Ok(RequestMeta::for_text(method(text), text))
    }

    fn batch(&self) -> u16 {
        self.batch
    }

    fn think_time(&mut self) -> Result<Duration, SourceFault> {
        self.call(|thread| Ok(thread.delay()?.unwrap_or_default()))
    }

    fn interest(&self) -> ResponseInterest {
        match &self.thread {
            Some(thread) if thread.wants_response() => ResponseInterest::Full,
            _ => ResponseInterest::None,
        }
    }

    fn inspect(&mut self, _request: u16, answer: &ResponseView<'_>) -> Result<CheckResult, SourceFault> {
        let fields = answer.fields.iter().map(|field| (field.name, field.value));
        self.call(|thread| thread.response(answer.status, fields, answer.body))?;
        Ok(CheckResult::ByStatus)
    }

    fn stopped(&self) -> bool {
        self.thread.as_ref().is_none_or(ThreadState::stopped)
    }
}
