//! Steps over before their load could be measured: fewer requests than it takes to keep all connections busy.

use plimsoll_record::StepEnd;

/// Whether a step is measured until its last answer, and not only while its load was on.
///
/// The load of a number of requests is over when a connection has nothing more to send. From then on connections
/// fall idle one by one, which would only blur the throughput of a long step. But where most of the answers are
/// still to come at that instant, as with one request on each connection, the time of the load says nothing; then
/// all answers are divided by the whole time, to the last of them.
pub fn measured_to_the_last_answer(end: StepEnd, answered_under_load: u64, answered: u64) -> bool {
    end == StepEnd::RequestLimit && answered_under_load * 2 < answered
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_number_of_requests_that_was_mostly_answered_after_the_load_is_measured_longer() {
        assert!(measured_to_the_last_answer(StepEnd::RequestLimit, 1, 10));
        assert!(!measured_to_the_last_answer(StepEnd::RequestLimit, 901, 1000));
        assert!(!measured_to_the_last_answer(StepEnd::TimeLimit, 1, 10));
    }
}
