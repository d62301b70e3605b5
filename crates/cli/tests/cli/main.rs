//! The binary as its users meet it: arguments in; text, JSON, files and exit codes out.

mod answer;
mod bench;
mod diff;
mod faults;
mod recorded;
mod run;
mod sweep;
mod usage;
