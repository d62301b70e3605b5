//! A Go program, by the pages of its packages expvar and net/http/pprof.

use plimsoll_record::Reading;
use serde_json::Value;

use super::page::Page;
use super::told;
use super::trouble::Trouble;
use crate::source::{Counters, Source};

/// Fields of `memstats` (Go's runtime.MemStats): theirs, ours, and what theirs is divided by.
const MEMSTATS: &[(&str, &str, u64)] = &[
    ("NumGC", "gc_cycles", 1),
    ("PauseTotalNs", "gc_pause_us", 1000),
    ("HeapAlloc", "heap_bytes", 1),
    ("HeapSys", "heap_reserved_bytes", 1),
    ("NextGC", "next_gc_bytes", 1),
    ("TotalAlloc", "allocated_bytes", 1),
    ("Mallocs", "allocations", 1),
    ("Sys", "system_bytes", 1),
];

/// A Go program's memory and garbage collection, and how many goroutines it has (`goroutines`, where it serves
/// `/debug/pprof/` too). The numbers of goroutines come from the list of profiles: it only counts them, where
/// the profile itself stops the program to walk their stacks.
#[derive(Debug)]
pub(super) struct Expvar {
    variables: Page,
    /// `None` once the program turned out not to serve it.
    profiles: Option<Page>,
}

impl Expvar {
    pub(super) fn new(url: &str) -> Self {
        let variables = Page::new("go program", url);
        let profiles = Some(variables.sibling("go program", "/debug/pprof/"));
        Self { variables, profiles }
    }

    fn counters(&mut self) -> Result<Counters, Trouble> {
        let text = self.variables.text()?;
        let variables: Value = serde_json::from_str(&text).unwrap_or_default();
        let mut counters = memory(&variables)
            .ok_or_else(|| Trouble::strange(self.variables.place(), &text, "an expvar page with memstats"))?;
        if let Some(goroutines) = self.goroutines()? {
            counters.insert("goroutines".to_owned(), goroutines);
        }
        Ok(counters)
    }

    fn goroutines(&mut self) -> Result<Option<u64>, Trouble> {
        let Some(page) = &self.profiles else { return Ok(None) };
        match page.text() {
            Ok(text) => Ok(profile_count(&text, "goroutine")),
            Err(Trouble::Refused { .. }) => {
                self.profiles = None;
                Ok(None)
            }
            Err(trouble) => Err(trouble),
        }
    }
}

fn memory(variables: &Value) -> Option<Counters> {
    let stats = variables.get("memstats")?.as_object()?;
    let counter = |(theirs, ours, divisor): &(&str, &str, u64)| {
        Some(((*ours).to_owned(), stats.get(*theirs)?.as_u64()? / divisor))
    };
    Some(MEMSTATS.iter().filter_map(counter).collect())
}

/// The count before a profile's name in the table of the page: `<td>7</td><td><a href='…'>goroutine</a>`.
fn profile_count(page: &str, profile: &str) -> Option<u64> {
    let row = page.split("<tr>").find(|row| row.contains(&format!(">{profile}</a>")))?;
    row.split_once("<td>")?.1.split_once("</td>")?.0.trim().parse().ok()
}

impl Source for Expvar {
    fn name(&self) -> &'static str {
        "go"
    }

    fn read(&mut self) -> Vec<(String, Reading)> {
        let told = told(self.counters());
        vec![(self.variables.address().to_owned(), told)]
    }
}
