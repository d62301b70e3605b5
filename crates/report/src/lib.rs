//! A run and its findings as text, Markdown, JSON, JUnit XML, tables of numbers and figures.
//!
//! Everything here is a pure function of a [`plimsoll_record::Run`] and the [`plimsoll_analyze::Findings`] made from it: no
//! clock, no terminal, no file. So the report of a stored run is byte for byte what the live run printed.
//!
//! This crate judges nothing. It puts the findings into words, and prints unknown values as not known.

mod ab;
mod amount;
pub mod csv;
pub mod dat;
pub mod figure;
pub mod host_view;
mod html;
pub mod json;
mod junit;
mod markdown;
mod plan_view;
mod privacy;
mod profiled;
mod snippet;
pub mod text;
pub mod words;

pub use ab::AbReport;
pub use html::{ServedPage, html, page_run, page_run_so_far, served_page};
pub use junit::{junit, junit_of_ab, junit_of_failure};
pub use markdown::{markdown, markdown_of_ab, markdown_of_comparison, markdown_of_failure};
pub use plan_view::PlanView;
pub use privacy::{
    Values, for_figures, shareable_plan, shown_address, shown_brokers, shown_header, shown_setting,
};
pub use profiled::{NoProfile, Order, ProfiledRun};
pub use snippet::snippet;
