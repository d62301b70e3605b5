//! Who waits for a disk.

use plimsoll_record::metric::waiting;
use plimsoll_record::{Source, Subject};

use crate::hosts::track::Track;
use crate::verdict::bounds;
use crate::verdict::context::RuleContext;

/// Threads of a process that waited for a disk at any moment, the mean, for the process with the most of them.
pub(in crate::verdict) fn waiting(ctx: &RuleContext<'_>, host: &str) -> Option<(String, f64)> {
    let span = ctx.span();
    let mean = |(subject, track): (Subject<'_>, &Track<'_>)| {
        let samples = track.per_sec(waiting::LOOKS, span).filter(|samples| *samples > 0.0)?;
        Some((subject.name().to_owned(), track.per_sec(waiting::DISK, span)? / samples))
    };
    ctx.samples.hosts.of(host, Source::Waiting).filter_map(mean).max_by(|a, b| a.1.total_cmp(&b.1))
}

/// Whether a thread of a host's processes waited for a disk.
pub(in crate::verdict) fn is_waited_for(ctx: &RuleContext<'_>, host: &str) -> bool {
    waiting(ctx, host).is_some_and(|(_, threads)| threads >= bounds::DISK_WAITING)
}
