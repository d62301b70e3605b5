//! Requests with a trace id.

use plimsoll_analyze::StepTraces;
use plimsoll_record::Trace;

use super::document::{document, each, ms};

document! {
    /// The recorded requests of one step that carried a trace id.
    pub struct StepTracesDocument(traces: &StepTraces) {
        /// The index of the step, from 0.
        step: u32 = traces.step,
        /// The slowest, at most 10, the slowest first.
        slowest: Vec<TraceDocument> = each(&traces.slowest, TraceDocument::new),
        /// The first without success, at most 10, in the order in which they were sent.
        unsuccessful: Vec<TraceDocument> = each(&traces.unsuccessful, TraceDocument::new),
    }

    /// A request that carried a trace id.
    pub struct TraceDocument(trace: &Trace) {
        /// The id, as the `traceparent` header carried it: 32 hexadecimal digits.
        trace_id: String = trace.id.to_string(),
        /// When it was sent, in seconds since the run began.
        sent_sec: f64 = trace.sent_ns as f64 / 1e9,
        /// From the instant it was due until its response ended or it was given up; null if its connection failed.
        latency_ms: Option<f64> = trace.latency_ns.map(|ns| ms(ns as f64)),
        /// The status of its response; null if it got none.
        status: Option<u16> = trace.status,
        /// Why it got no response; null if it got one.
        failure: Option<String> = trace.failure.map(|kind| kind.name().to_owned()),
    }
}
