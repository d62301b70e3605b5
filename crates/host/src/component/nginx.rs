//! nginx, by its page `stub_status`.

use plimsoll_record::Reading;

use super::page::Page;
use super::told;
use super::trouble::Trouble;
use crate::source::{Counters, Source};

/// `accepts`, `handled` and `requests` are counted since nginx began; `active`, `reading`, `writing` and `waiting` are
/// connections at this moment. Accepted but not handled is what `worker_connections` turned away. Each sample is one request.
#[derive(Debug)]
pub(super) struct Nginx {
    page: Page,
}

impl Nginx {
    pub(super) fn new(url: &str) -> Self {
        Self { page: Page::new("nginx", url) }
    }

    fn counters(&self) -> Result<Counters, Trouble> {
        let text = self.page.text()?;
        counters(&text)
            .ok_or_else(|| Trouble::strange(self.page.place(), &text, "a stub_status page of nginx"))
    }
}

/// The seven numbers of the page, which has one form since it was made.
fn counters(text: &str) -> Option<Counters> {
    let totals = text.split_once("server accepts handled requests")?.1;
    let mut totals = totals.split_ascii_whitespace().map_while(|total| total.parse::<u64>().ok());
    let after = |label: &str| -> Option<u64> {
        text.split_once(label)?.1.split_ascii_whitespace().next()?.parse().ok()
    };
    let counters = [
        ("active", after("Active connections:")?),
        ("accepts", totals.next()?),
        ("handled", totals.next()?),
        ("requests", totals.next()?),
        ("reading", after("Reading:")?),
        ("writing", after("Writing:")?),
        ("waiting", after("Waiting:")?),
    ];
    Some(counters.into_iter().map(|(name, value)| (name.to_owned(), value)).collect())
}

impl Source for Nginx {
    fn name(&self) -> &'static str {
        "nginx"
    }

    fn read(&mut self) -> Vec<(String, Reading)> {
        vec![(self.page.address().to_owned(), told(self.counters()))]
    }
}
