//! nginx, from its `stub_status` page.

use plimsoll_record::metric::nginx;
use plimsoll_record::{CounterSet, Source};

use super::error::{ServerError, collector as server};
use super::page::Page;
use crate::collector::Collector;

/// Returns a collector of one nginx. nginx counts each sample as a request.
pub(super) fn collector(url: &str) -> Collector {
    let page = Page::new(url);
    let address = page.address().to_owned();
    server(Source::Nginx, format!("nginx at {address}"), address, move || read(&page.text()?))
}

/// Parses the counters of a `stub_status` page.
pub(super) fn read(text: &str) -> Result<CounterSet, ServerError> {
    counters(text).ok_or_else(|| ServerError::unexpected(text, "a stub_status page of nginx"))
}

/// Parses the seven numbers of the page, whose format has never changed.
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
