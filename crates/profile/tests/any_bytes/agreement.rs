//! What holds for every profile that is read at all, shared by the tests and the fuzz target.

use plimsoll_profile::{Cost, MAX_FRAMES, parse};
use plimsoll_record::ProfileForm;

/// Takes bytes as a profile of either form.
pub(crate) fn check(content: &[u8]) {
    for form in [ProfileForm::Pprof, ProfileForm::Perf] {
        let Ok(stacks) = parse(form, content) else { continue };
        let total = stacks.total();
        let mut sum = Cost::default();
        for (stack, cost) in stacks.iter() {
            assert!(stack.len() <= MAX_FRAMES);
            sum += cost;
        }
        assert_eq!(sum, total);
        for function in stacks.functions() {
            assert!(function.flat.cpu_ns <= function.cumulative.cpu_ns);
            assert!(function.cumulative.cpu_ns <= total.cpu_ns);
        }
    }
}
