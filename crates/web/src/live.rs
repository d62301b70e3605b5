//! The page of a run while it goes on.

use std::io;
use std::net::SocketAddr;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::thread;
use std::time::Duration;

use axum::Router;
use axum::response::Html;
use axum::routing::get;
use plimsoll_analyze::analyze;
use plimsoll_conductor::Progress;
use plimsoll_record::Run;
use plimsoll_report::json::PageDocument;
use plimsoll_report::{ServedPage, Values, page_run_so_far, served_page};
use plimsoll_units::best_effort;

use crate::events::Events;
use crate::facts::{Fact, GrowingRun};
use crate::guard::Guard;
use crate::pace::{Budget, Pace};
use crate::service::{Bound, Service};

/// How long viewers may take to receive the last document.
const GRACE: Duration = Duration::from_secs(2);
/// How soon a new viewer is noticed.
const POLL_INTERVAL: Duration = Duration::from_millis(250);
/// Making and sending documents takes less than a hundredth of the CPU time of the load.
const BUDGET: Budget = Budget { process: 300, core: 600 };
/// The lowest priority: all other work on this machine comes first.
const NICEST: i32 = 19;

/// The page of a run, served until this is dropped.
#[derive(Debug)]
pub struct LivePage {
    url: String,
    events: Events,
    facts: Sender<Fact>,
    _service: Service,
}

/// Sends the facts of a run to its page. It never blocks.
#[derive(Debug)]
pub struct LiveFeed(Sender<Fact>);

impl LiveFeed {
    /// Sends progress of the run to the page.
    pub fn observe(&self, progress: &Progress<'_>) {
        if let Some(fact) = Fact::new(progress) {
            best_effort(
                self.0.send(fact),
                "without the thread that makes documents, pages show the last one",
            );
        }
    }
}

impl LivePage {
    /// Serves the page at this address; port 0 takes a free one.
    ///
    /// # Errors
    /// When the address cannot be listened on, or a thread cannot be started.
    pub fn serve(address: SocketAddr) -> io::Result<Self> {
        let bound = Bound::new(address)?;
        let (html, policy) = served_page(ServedPage::Live);
        let guard = Guard::new(bound.address, &policy)?;
        let url = guard.url();
        let events = Events::new("document");
        let viewed = events.clone();
        let router = Router::new()
            .route("/", get(move || async move { Html(html) }))
            .route("/events", get(move || async move { viewed.stream() }));
        let service = bound.serve("live", guard.protect(router), GRACE)?;
        let (facts, received) = mpsc::channel();
        let writer = DocumentWriter { facts: received, events: events.clone(), pace: Pace::new(BUDGET) };
        thread::Builder::new().name("live document".to_owned()).spawn(move || writer.run())?;
        Ok(Self { url, events, facts, _service: service })
    }

    /// The URL of the page, with its token.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// Returns the handle through which an observer of the run sends progress.
    pub fn feed(&self) -> LiveFeed {
        LiveFeed(self.facts.clone())
    }

    /// Shows the whole run as the last document. Viewers can receive it until two seconds after this is dropped.
    pub fn end(&self, document: &PageDocument) {
        self.events.end(serde_json::to_string(document).ok());
    }
}

impl Drop for LivePage {
    /// A run that failed ends without another document.
    fn drop(&mut self) {
        self.events.end(None);
    }
}

/// Makes documents of the run so far, one for all viewers, in a thread of its own.
struct DocumentWriter {
    facts: Receiver<Fact>,
    events: Events,
    pace: Pace,
}

impl DocumentWriter {
    /// Makes documents until the run is over. Without viewers it only collects the facts.
    fn run(mut self) {
        let lowered = rustix::process::setpriority_process(None, NICEST);
        best_effort(lowered, "documents cost little at any priority");
        let mut run: Option<GrowingRun> = None;
        let mut is_new = false;
        loop {
            match self.facts.recv_timeout(POLL_INTERVAL) {
                Ok(fact) => {
                    take(&mut run, fact);
                    self.facts.try_iter().for_each(|fact| take(&mut run, fact));
                    is_new = true;
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return,
            }
            if let Some(run) =
                run.as_mut().filter(|_| is_new && self.events.are_viewed() && self.pace.is_due())
            {
                is_new = false;
                let made = self.pace.spend(|| run.with_run(document));
                made.into_iter().for_each(|document| self.events.publish(document));
            }
        }
    }
}

/// Adds a fact to the run, and drops facts that come before the manifest.
fn take(run: &mut Option<GrowingRun>, fact: Fact) {
    match (run.as_mut(), fact) {
        (Some(run), fact) => run.add(fact),
        (None, Fact::Begun(manifest)) => *run = Some(GrowingRun::new(*manifest)),
        (None, _) => {}
    }
}

/// Returns the document of the run so far; `None` if it cannot be analysed, which is reported when the run has ended.
fn document(run: &Run) -> Option<String> {
    let findings = analyze(run).ok()?;
    let run = page_run_so_far(run, &findings, Values::Hidden).ok()?;
    serde_json::to_string(&PageDocument::new(vec![run], None)).ok()
}
