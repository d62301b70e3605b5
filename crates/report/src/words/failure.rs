//! What helps against requests that failed.

use plimsoll_analyze::FailureAdvice;

/// What helps.
pub(crate) fn failure_advice(advice: FailureAdvice) -> &'static str {
    match advice {
        FailureAdvice::Usual(kind) => kind.row().remedy,
        FailureAdvice::OverUnixSocket(kind) => kind.row().remedy_over(true),
        FailureAdvice::OutOfDescriptors => crate::reason::OUT_OF_DESCRIPTORS,
        FailureAdvice::OutOfTime => {
            "the generator itself was at its limit, and more connections would not help: lower the rate, use more workers (-t) if cores are free, or another machine"
        }
        FailureAdvice::OutOfConnections => {
            "no connection was free: raise --max-connections, or lower the rate"
        }
    }
}
