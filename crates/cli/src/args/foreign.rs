//! The options of ab and hey that people have in their fingers, and what becomes of each here.

mod conflict;
mod flags;
mod translate;

pub(crate) use translate::{Translated, refuse_idle_threads, translate};

#[cfg(test)]
mod tests;
