//! The checks of a plan, applied to the responses of one worker.

use plimsoll_engine::{CheckResult, ResponseInterest, ResponseView};
use plimsoll_scenario::{Check, CheckedResponse, Needs};

#[derive(Debug)]
pub(super) struct Judge {
    checks: Vec<Check>,
    needs: Needs,
    /// True if a check decides which statuses are successes; otherwise 200 to 399 are.
    decides_status: bool,
    /// The head of the current response, rebuilt for the checks that read it.
    head: Vec<u8>,
}

impl Judge {
    /// Creates a judge with its own copies of the checks: regular expressions are slower when threads share them.
    pub(super) fn new(checks: &[Check]) -> Self {
        Self {
            needs: checks.iter().map(Check::needs).max().unwrap_or_default(),
            decides_status: checks.iter().any(Check::is_of_status),
            checks: checks.to_vec(),
            head: Vec::new(),
        }
    }

    pub(super) fn interest(&self) -> ResponseInterest {
        match self.needs {
            _ if self.checks.is_empty() => ResponseInterest::None,
            Needs::Nothing => ResponseInterest::Outcome,
            Needs::Head | Needs::Body => ResponseInterest::Full,
        }
    }

    pub(super) fn judge(&mut self, answer: &ResponseView<'_>) -> CheckResult {
        if self.needs >= Needs::Head {
            self.keep_head(answer);
        }
        let ResponseView { status, body, body_bytes, .. } = *answer;
        let seen = CheckedResponse { status, body_bytes, head: &self.head, body };
        let failed = self.checks.iter().zip(0..).filter(|(check, _)| !check.holds(&seen));
        match failed.fold(0_u32, |bits, (_, index)| bits | 1 << index) {
            0 if self.decides_status => CheckResult::Passed,
            0 => CheckResult::ByStatus,
            failed => CheckResult::Failed(failed),
        }
    }

    /// Stores the head with an empty first line, because checks search for a field in the lines after the first.
    fn keep_head(&mut self, answer: &ResponseView<'_>) {
        self.head.clear();
        for field in answer.fields {
            self.head.extend_from_slice(b"\r\n");
            self.head.extend_from_slice(field.name.as_bytes());
            self.head.extend_from_slice(b": ");
            self.head.extend_from_slice(field.value);
        }
    }
}
