//! A Go program, by the pages of its packages expvar and net/http/pprof.

use plimsoll_record::metric::go;
use plimsoll_record::{CounterSet, Metric, Source, Subject};
use serde_json::Value;

use super::error::ComponentError;
use super::page::Page;
use crate::collector::{Collector, Read};

/// Fields of `memstats` (Go's runtime.MemStats), and the divisor to our unit.
const MEMSTATS: &[(&str, Metric, u64)] = &[
    ("NumGC", go::GC_CYCLES, 1),
    ("PauseTotalNs", go::GC_PAUSE_US, 1000),
    ("HeapAlloc", go::HEAP_BYTES, 1),
    ("HeapSys", go::HEAP_RESERVED_BYTES, 1),
    ("NextGC", go::NEXT_GC_BYTES, 1),
    ("TotalAlloc", go::ALLOCATED_BYTES, 1),
    ("Mallocs", go::ALLOCATIONS, 1),
    ("Sys", go::SYSTEM_BYTES, 1),
];

/// A Go program's memory and garbage collection, and the number of its goroutines where it serves `/debug/pprof/` too. That
/// number comes from the list of profiles, which only counts them; the profile itself stops the program to walk their
/// stacks.
#[derive(Debug)]
pub(super) struct Expvar {
    variables: Page,
    /// `None` once the program refused to serve it.
    profiles: Option<Page>,
}

impl Expvar {
    pub(super) fn new(url: &str) -> Self {
        let variables = Page::new("go program", url);
        let profiles = Some(variables.sibling("go program", "/debug/pprof/"));
        Self { variables, profiles }
    }

    fn counters(&mut self) -> Result<CounterSet, ComponentError> {
        let text = self.variables.text()?;
        let variables: Value = serde_json::from_str(&text).unwrap_or_default();
        let mut counters = memory(&variables).ok_or_else(|| {
            ComponentError::unexpected(self.variables.place(), &text, "an expvar page with memstats")
        })?;
        counters.put(go::GOROUTINES, self.goroutines()?);
        Ok(counters)
    }

    fn goroutines(&mut self) -> Result<Option<u64>, ComponentError> {
        let Some(page) = &self.profiles else { return Ok(None) };
        match page.text() {
            Ok(text) => Ok(profile_count(&text, "goroutine")),
            Err(ComponentError::Refused { .. }) => {
                self.profiles = None;
                Ok(None)
            }
            Err(error) => Err(error),
        }
    }
}

fn memory(variables: &Value) -> Option<CounterSet> {
    let stats = variables.get("memstats")?.as_object()?;
    let value = |name: &str, divisor: u64| Some(stats.get(name)?.as_u64()? / divisor);
    Some(MEMSTATS.iter().map(|(name, metric, divisor)| (*metric, value(name, *divisor))).collect())
}

/// The count before a profile's name in the table of the page: `<td>7</td><td><a href='…'>goroutine</a>`.
fn profile_count(page: &str, profile: &str) -> Option<u64> {
    let row = page.split("<tr>").find(|row| row.contains(&format!(">{profile}</a>")))?;
    row.split_once("<td>")?.1.split_once("</td>")?.0.trim().parse().ok()
}

impl Collector for Expvar {
    fn read(&mut self) -> Vec<Read> {
        let counters = self.counters().map_err(Into::into);
        vec![Read::new(Source::Go, Subject::Named(self.variables.address()), counters)]
    }
}
