//! The pages of recorded runs: a list, one run, several next to each other.

use std::io;
use std::net::SocketAddr;
use std::sync::{Arc, Weak};
use std::thread;
use std::time::Duration;

use axum::Router;
use axum::extract::{RawQuery, State};
use axum::http::{StatusCode, header};
use axum::response::{Html, IntoResponse, Response};
use axum::routing::get;
use plimsoll_report::{ServedPage, served_page};

use crate::events::Events;
use crate::guard::{Guard, parameter, parameters, refused};
use crate::pace::{Budget, Pace};
use crate::service::{Bound, Service};

/// How long open pages may take to close.
const GRACE: Duration = Duration::from_millis(200);
/// Higher than for a live page: there is no load that listing could disturb.
const BUDGET: Budget = Budget { process: 100, core: 100 };
/// How often the thread checks whether the list is due.
const POLL_INTERVAL: Duration = Duration::from_millis(250);

/// The filters of a list of runs.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RunQuery {
    /// Part of the name or of the URL.
    pub text: Option<String>,
    /// Part of the URL.
    pub target: Option<String>,
    /// `key=value`, or `key` with any value.
    pub tags: Vec<String>,
}

/// Why a library cannot answer.
#[derive(Debug, thiserror::Error)]
pub enum LibraryError {
    /// The query makes no sense.
    #[error("{0}")]
    Mistake(String),
    /// There is no such run.
    #[error("{0}")]
    Missing(String),
    #[error("{0}")]
    Failed(String),
}

/// A collection of recorded runs.
pub trait RunLibrary: Send + Sync + 'static {
    /// Returns the runs that match, as JSON of the schema `plimsoll/runs/1`.
    ///
    /// # Errors
    /// When the query is wrong, or the runs cannot be listed.
    fn list(&self, query: &RunQuery) -> Result<String, LibraryError>;

    /// Returns the runs of these files, in this order, as JSON of the schema `plimsoll/page/1`.
    ///
    /// # Errors
    /// When one of them is missing or cannot be read.
    fn page(&self, files: &[String]) -> Result<String, LibraryError>;
}

/// The pages of a library, served until this is dropped.
#[derive(Debug)]
pub struct RunViewer {
    url: String,
    events: Events,
    _service: Service,
}

impl RunViewer {
    /// Serves the runs at this address; port 0 takes a free one.
    ///
    /// # Errors
    /// When the address cannot be listened on, or a thread cannot be started.
    pub fn serve(address: SocketAddr, library: impl RunLibrary) -> io::Result<Self> {
        let bound = Bound::new(address)?;
        let (html, policy) = served_page(ServedPage::Runs);
        let guard = Guard::new(bound.address, &policy)?;
        let url = guard.url();
        let events = Events::new("changed");
        let viewed = events.clone();
        let library: Arc<dyn RunLibrary> = Arc::new(library);
        watch(Arc::downgrade(&library), events.clone())?;
        let router = Router::new()
            .route("/", get(move || async move { Html(html) }))
            .route("/events", get(move || async move { viewed.stream() }))
            .route("/runs", get(list))
            .route("/page", get(page))
            .with_state(library);
        let service = bound.serve("viewer", guard.protect(router), GRACE)?;
        Ok(Self { url, events, _service: service })
    }

    /// The URL of the list, with its token.
    pub fn url(&self) -> &str {
        &self.url
    }
}

impl Drop for RunViewer {
    fn drop(&mut self) {
        self.events.end(None);
    }
}

/// Sends an event when the list has changed, until the library is dropped. Without viewers it does not list the runs.
fn watch(library: Weak<dyn RunLibrary>, events: Events) -> io::Result<()> {
    let compare = move || {
        let mut pace = Pace::new(BUDGET);
        let mut known = None;
        while let Some(library) = library.upgrade() {
            if events.are_viewed() && pace.is_due() {
                let newest = pace.spend(|| library.list(&RunQuery::default())).ok();
                if newest != known {
                    known = newest;
                    events.publish(String::new());
                }
            }
            drop(library);
            thread::sleep(POLL_INTERVAL);
        }
    };
    thread::Builder::new().name("run list".to_owned()).spawn(compare)?;
    Ok(())
}

async fn list(State(library): State<Arc<dyn RunLibrary>>, RawQuery(query): RawQuery) -> Response {
    let query = query.as_deref();
    let asked = RunQuery {
        text: parameter(query, "match"),
        target: parameter(query, "target"),
        tags: parameters(query, "tag").collect(),
    };
    answer(move || library.list(&asked)).await
}

async fn page(State(library): State<Arc<dyn RunLibrary>>, RawQuery(query): RawQuery) -> Response {
    let files: Vec<String> = parameters(query.as_deref(), "run").collect();
    answer(move || library.page(&files)).await
}

/// Answers from a blocking thread: reading runs takes time, and other pages are served meanwhile.
async fn answer(make: impl FnOnce() -> Result<String, LibraryError> + Send + 'static) -> Response {
    let made = tokio::task::spawn_blocking(make).await;
    match made.unwrap_or_else(|error| Err(LibraryError::Failed(error.to_string()))) {
        Ok(json) => ([(header::CONTENT_TYPE, "application/json")], json).into_response(),
        Err(error) => {
            let status = match &error {
                LibraryError::Mistake(_) => StatusCode::BAD_REQUEST,
                LibraryError::Missing(_) => StatusCode::NOT_FOUND,
                LibraryError::Failed(_) => StatusCode::INTERNAL_SERVER_ERROR,
            };
            refused(status, &error.to_string())
        }
    }
}
