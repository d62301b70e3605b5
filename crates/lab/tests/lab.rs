//! Labs as they are made on a real kernel. A test that is not permitted to make one says so and shows nothing.
#![expect(clippy::unwrap_used, clippy::print_stderr, reason = "in tests, a failed step is the failure")]

mod lab {
    mod caps;
    mod ends;
    mod hosts;
    mod stage;
}
