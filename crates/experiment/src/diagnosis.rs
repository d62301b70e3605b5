//! The limit that a verdict names, compared with the one that a file expects.

use std::fmt;

use plimsoll_analyze::{Confidence, Limit, Verdict};
use plimsoll_plan::{Expect, Expected};

/// How far the size of a pool may be from the expected one, as a ratio of that.
const SIZE_TOLERANCE: f64 = 0.1;

/// A limit and the host that it is on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NamedLimit {
    /// What limits.
    pub limit: Limit,
    pub host: String,
}

/// The part of a verdict that a file can expect.
#[derive(Debug, Clone, PartialEq)]
pub struct Diagnosis {
    /// The limit.
    pub named: NamedLimit,
    /// How well it is founded.
    pub confidence: Confidence,
    /// Suspects that the evidence does not rule out.
    pub also: Vec<NamedLimit>,
    /// How many there are of what is used up, such as the workers of a pool.
    pub size: Option<f64>,
}

/// `cpu@web`, the form of an expectation; without a host `cpu`.
impl fmt::Display for NamedLimit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.limit.name())?;
        if self.host.is_empty() { Ok(()) } else { write!(f, "@{}", self.host) }
    }
}

impl NamedLimit {
    fn is(&self, expected: &Expected) -> bool {
        self.limit.name() == expected.limit && expected.host.as_ref().is_none_or(|host| *host == self.host)
    }
}

impl Diagnosis {
    /// The diagnosis of a verdict.
    pub fn new(verdict: &Verdict) -> Self {
        let named = |limit: Limit, host: &str| NamedLimit { limit, host: host.to_owned() };
        Self {
            named: named(verdict.limit, verdict.host()),
            confidence: verdict.confidence,
            also: verdict.also.iter().map(|suspect| named(suspect.limit, suspect.host())).collect(),
            size: verdict.size.map(|size| size.value).filter(|size| size.is_finite()),
        }
    }

    /// True if it is what a file expects. An expectation of several limits, which are too close to be distinguished, is met if
    /// the verdict names all of them, in any order.
    pub fn meets(&self, expected: &Expect) -> bool {
        let named = |one: &Expected| self.named.is(one) || self.also.iter().any(|other| other.is(one));
        let limit = match expected.limits.as_slice() {
            [only] => self.named.is(only),
            all => all.iter().any(|one| self.named.is(one)) && all.iter().all(named),
        };
        let size = expected.size.is_none_or(|expected| {
            self.size.is_some_and(|size| (size - expected as f64).abs() <= expected as f64 * SIZE_TOLERANCE)
        });
        limit && size
    }
}

#[cfg(test)]
mod tests {
    use plimsoll_analyze::{Estimate, Part, Place, Suspect};

    use super::*;

    fn verdict(limit: Limit, place: Place) -> Verdict {
        Verdict::new(limit, place, Confidence::Measured)
    }

    fn expect(limits: &[(&str, Option<&str>)], size: Option<u64>) -> Expect {
        let one = |(limit, host): &(&str, Option<&str>)| Expected {
            limit: (*limit).to_owned(),
            host: host.map(ToOwned::to_owned),
        };
        Expect { limits: limits.iter().map(one).collect(), size }
    }

    #[test]
    fn a_place_within_a_host_is_on_that_host() {
        let found = Diagnosis::new(&verdict(Limit::Thread, Place::process("web", "nginx")));
        assert!(found.meets(&expect(&[("thread", Some("web"))], None)));
        assert!(found.meets(&expect(&[("thread", None)], None)), "the file leaves the host open");
        assert!(!found.meets(&expect(&[("thread", Some("api"))], None)));
        assert!(!found.meets(&expect(&[("cpu", Some("web"))], None)));
    }

    #[test]
    fn two_ports_of_one_address_are_two_hosts() {
        let found = Diagnosis::new(&verdict(Limit::Pool, Place::Target("10.0.0.5:3306".to_owned())));
        assert!(found.meets(&expect(&[("pool", Some("10.0.0.5:3306"))], None)));
        assert!(!found.meets(&expect(&[("pool", Some("10.0.0.5:6379"))], None)));
        assert!(!found.meets(&expect(&[("pool", Some("10.0.0.5"))], None)));
    }

    #[test]
    fn of_a_tie_all_must_be_named_whichever_comes_first() {
        let tie = expect(&[("cpu", Some("web")), ("bandwidth", Some("web"))], None);
        let with_also = |also: &[(Limit, &str)]| {
            let suspect = |(limit, place): &(Limit, &str)| Suspect {
                limit: *limit,
                place: Place::host(*place),
                at_per_sec: None,
            };
            let also = also.iter().map(suspect).collect();
            Diagnosis::new(&Verdict {
                also,
                ..verdict(Limit::Bandwidth, Place::part("web", Part::Interface, "eth0"))
            })
        };
        assert!(with_also(&[(Limit::Cpu, "web")]).meets(&tie));
        assert!(!with_also(&[]).meets(&tie));
        assert!(!with_also(&[(Limit::Cpu, "api")]).meets(&tie));
        let only = expect(&[("cpu", Some("web"))], None);
        assert!(!with_also(&[(Limit::Cpu, "web")]).meets(&only), "a second suspect is not the limit");
    }

    #[test]
    fn the_size_of_a_pool_may_be_a_tenth_off() {
        let of_size = |size: Option<f64>| {
            let size = size.map(|value| Estimate { value, interval: None });
            Diagnosis::new(&Verdict { size, ..verdict(Limit::Pool, Place::host("api")) })
        };
        let pool = expect(&[("pool", Some("api"))], Some(32));
        assert!(of_size(Some(31.0)).meets(&pool) && of_size(Some(35.0)).meets(&pool));
        assert!(!of_size(Some(36.0)).meets(&pool) && !of_size(None).meets(&pool));
    }
}
