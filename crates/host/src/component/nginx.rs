//! nginx, by its page `stub_status`.

use plimsoll_record::metric::nginx;
use plimsoll_record::{CounterSet, Source, Subject};

use super::error::ComponentError;
use super::page::Page;
use crate::collector::{Collector, Read};

/// One nginx. Each sample is one request of its count.
#[derive(Debug)]
pub(super) struct Nginx {
    page: Page,
}

impl Nginx {
    pub(super) fn new(url: &str) -> Self {
        Self { page: Page::new("nginx", url) }
    }

    fn counters(&self) -> Result<CounterSet, ComponentError> {
        let text = self.page.text()?;
        counters(&text).ok_or_else(|| {
            ComponentError::unexpected(self.page.place(), &text, "a stub_status page of nginx")
        })
    }
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

impl Collector for Nginx {
    fn read(&mut self) -> Vec<Read> {
        let counters = self.counters().map_err(Into::into);
        vec![Read::new(Source::Nginx, Subject::Named(self.page.address()), counters)]
    }
}
