//! Server-sent events: each viewer has its own stream, and all streams show the same state.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use axum::http::StatusCode;
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use futures_util::stream;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};

use crate::guard::refused;

/// The maximum number of pages that are served at a time.
const MAX_VIEWERS: usize = 16;
/// How long a page waits before it reconnects.
const RETRY: Duration = Duration::from_secs(1);

/// The state that viewers are shown.
#[derive(Debug, Clone, Default)]
pub(crate) struct Shown {
    /// The number of the state; 0 before the first.
    number: u64,
    data: Arc<str>,
    ended: bool,
}

/// The newest state and its viewers. A slow viewer misses states and delays nothing.
#[derive(Debug, Clone)]
pub(crate) struct Events {
    name: &'static str,
    shown: Arc<watch::Sender<Shown>>,
    places: Arc<Semaphore>,
}

impl Events {
    /// Creates events of this name.
    pub(crate) fn new(name: &'static str) -> Self {
        Self {
            name,
            shown: Arc::new(watch::Sender::default()),
            places: Arc::new(Semaphore::new(MAX_VIEWERS)),
        }
    }

    pub(crate) fn are_viewed(&self) -> bool {
        self.shown.receiver_count() > 0
    }

    /// Sends `data` to all viewers, unless the end was sent already.
    pub(crate) fn publish(&self, data: String) {
        self.change(|shown| {
            shown.number += 1;
            shown.data = data.into();
        });
    }

    /// Sends the end, after the state `last` if that is given.
    pub(crate) fn end(&self, last: Option<String>) {
        self.change(|shown| {
            if let Some(data) = last {
                shown.number += 1;
                shown.data = data.into();
            }
            shown.ended = true;
        });
    }

    fn change(&self, change: impl FnOnce(&mut Shown)) {
        self.shown.send_if_modified(|shown| {
            let changes = !shown.ended;
            if changes {
                change(shown);
            }
            changes
        });
    }

    /// Returns the event stream for one more viewer, or an error response if there are [`MAX_VIEWERS`] already.
    pub(crate) fn stream(&self) -> Response {
        let Ok(place) = Arc::clone(&self.places).try_acquire_owned() else {
            let why = format!("{MAX_VIEWERS} pages are open already; close one");
            return refused(StatusCode::SERVICE_UNAVAILABLE, &why);
        };
        let viewer =
            Viewer { name: self.name, shown: self.shown.subscribe(), sent: 0, over: false, _place: place };
        let keep_alive = KeepAlive::default();
        Sse::new(stream::unfold(viewer, Viewer::next)).keep_alive(keep_alive).into_response()
    }
}

/// One viewer, and what it was sent.
struct Viewer {
    name: &'static str,
    shown: watch::Receiver<Shown>,
    /// The number of the state that was sent last.
    sent: u64,
    /// True if the end was sent.
    over: bool,
    _place: OwnedSemaphorePermit,
}

impl Viewer {
    async fn next(mut self) -> Option<(Result<Event, Infallible>, Self)> {
        loop {
            let newest = self.shown.borrow_and_update().clone();
            if self.over {
                return None;
            }
            if newest.number > self.sent {
                self.sent = newest.number;
                let event = Event::default().event(self.name).retry(RETRY).data(&*newest.data);
                return Some((Ok(event), self));
            }
            if newest.ended {
                self.over = true;
                return Some((Ok(Event::default().event("end").data("over")), self));
            }
            if self.shown.changed().await.is_err() {
                return None;
            }
        }
    }
}
