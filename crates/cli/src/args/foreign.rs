//! The options of ab and hey that users know, and how each is handled here.

mod conflict;
mod flags;
mod translate;

pub(crate) use translate::{Translated, refuse_idle_threads, translate};

#[cfg(test)]
mod tests;
