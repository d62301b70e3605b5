//! The response parser from outside: what it makes of a corpus of responses, and that the way in
//! which a response is cut never changes that.

#![expect(clippy::expect_used, clippy::panic, reason = "a test that cannot read its corpus has to fail")]

mod corpus;
mod invariance;
mod splits;
