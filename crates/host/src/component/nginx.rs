//! nginx, by its page `stub_status`.

use plimsoll_record::metric::nginx;
use plimsoll_record::{CounterSet, Source};

use super::error::{ServerError, collector as server};
use super::page::Page;
use crate::collector::Collector;

/// A collector of one nginx. Each sample is one request of its count.
pub(super) fn collector(url: &str) -> Collector {
    let page = Page::new(url);
    let address = page.address().to_owned();
    server(Source::Nginx, format!("nginx at {address}"), address, move || read(&page.text()?))
}

/// The counters of a page.
pub(super) fn read(text: &str) -> Result<CounterSet, ServerError> {
    counters(text).ok_or_else(|| ServerError::unexpected(text, "a stub_status page of nginx"))
}

/// The seven numbers of the page, which has one form since it was made.
fn counters(text: &str) -> Option<CounterSet> {
    let totals = text.split_once("server accepts handled requests")?.1;
    let mut totals = totals.split_ascii_whitespace().map_while(|total| total.parse::<u64>().ok());
    let after = |label: &str| -> Option<u64> {
        text.split_once(label)?.1.split_ascii_whitespace().next()?.parse().ok()
    };
    Some(CounterSet::from([
        (nginx::ACTIVE, after("Active connections:")?),
        (nginx::ACCEPTS, totals.next()?),
        (nginx::HANDLED, totals.next()?),
        (nginx::REQUESTS, totals.next()?),
        (nginx::READING, after("Reading:")?),
        (nginx::WRITING, after("Writing:")?),
        (nginx::WAITING, after("Waiting:")?),
    ]))
}
