//! The binary as its users meet it: arguments in; text, JSON, files and exit codes out.
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::print_stderr,
    reason = "in tests, a failed step is the failure"
)]

mod ab;
mod ablate;
mod answer;
mod bench;
mod borrowed;
mod ci;
mod diff;
mod documents;
mod echo;
mod explain;
mod faults;
mod faulty_disk;
mod fleet;
mod full_disk;
mod generator;
mod history;
mod hosts;
mod http2;
mod https;
mod lab;
mod lab_run;
mod live;
mod loss;
mod mistyped;
mod network;
mod otlp;
mod overload;
mod pages;
mod plan;
mod probe;
mod production;
mod profile;
mod published;
mod recorded;
mod run;
mod same_request;
mod scenario;
mod screen;
mod search;
mod served;
mod sweep;
mod tiers;
mod traces;
mod usage;
mod verdicts;
mod wrk_https;
