//! A run and its findings as text, JSON, tables of numbers and figures.
//!
//! Everything here is a pure function of a [`plimsoll_record::Run`] and the
//! [`plimsoll_analyze::Findings`] made from it: no clock, no terminal, no file. So the report of a
//! stored run is byte for byte what the live run printed, and every form is tested by golden files.
//!
//! Deliberately absent: any judgement. A sentence is printed because a finding carries it; what is
//! not known is printed as not known.

mod count;
pub mod csv;
pub mod dat;
pub mod figure;
pub mod json;
mod profiled;
pub mod reason;
mod span;
pub mod text;
mod watched;

pub use profiled::{NoProfile, Order, ProfiledRun};
