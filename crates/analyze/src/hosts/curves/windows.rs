//! The windows in which a host is observed, and curves over them.

use std::collections::BTreeMap;

use plimsoll_record::{Metric, Source, Subject};

use super::curve::Curve;
use super::kind::CurveKind;
use crate::findings::Part;
use crate::hosts::track::{Span, Track};
use crate::hosts::tracks::Hosts;

/// The value of a sampled subject in a window.
pub(super) type Value = fn(&Track<'_>, Span) -> Option<f64>;

/// One host and the windows of its figures.
pub(super) struct Windows<'a> {
    pub(super) hosts: &'a Hosts<'a>,
    pub(super) host: &'a str,
    pub(super) spans: &'a [Span],
}

impl Windows<'_> {
    pub(super) fn curve(&self, kind: CurveKind, part: Part, value: impl Fn(Span) -> Option<f64>) -> Curve {
        let values = self.spans.iter().map(|span| value(*span)).collect();
        Curve { kind, host: self.host.to_owned(), part, values }
    }

    /// A figure of the host itself.
    pub(super) fn whole(&self, kind: CurveKind, source: Source, value: Value) -> Option<Curve> {
        let track = self.hosts.track(self.host, source, Subject::Host)?;
        Some(self.curve(kind, Part::Whole, |span| value(track, span)))
    }

    /// A curve for each part that these sources sample; `join` combines the values of processes of one name.
    pub(super) fn by_part(
        &self,
        kind: CurveKind,
        sources: &[Source],
        value: Value,
        join: fn(f64, f64) -> f64,
    ) -> Vec<Curve> {
        let mut parts: BTreeMap<Part, Vec<&Track<'_>>> = BTreeMap::new();
        for source in sources {
            for (part, track) in self.hosts.parts(self.host, *source) {
                parts.entry(by_name(part)).or_default().push(track);
            }
        }
        let one = |(part, tracks): (Part, Vec<&Track<'_>>)| {
            self.curve(kind, part, |span| tracks.iter().filter_map(|track| value(track, span)).reduce(join))
        };
        parts.into_iter().map(one).collect()
    }
}

/// Replaces a process with all processes of its name, if it has one.
fn by_name(part: Part) -> Part {
    match part {
        Part::Process(process) if !process.name.is_empty() => Part::Processes(process.name),
        other => other,
    }
}

/// The share of the time, from a counter of microseconds.
pub(super) fn share_us(track: &Track<'_>, metric: Metric, span: Span) -> Option<f64> {
    track.per_sec(metric, span).map(|us| us / 1e6)
}
