//! The user's label matchers, reduced for each exporter to those that its rows can match.

use crate::promql::{label, matchers};

/// Labels of containers. In rows of node_exporter, these labels describe the exporter's own pod, if any.
const OF_CONTAINERS: [&str; 6] = ["namespace", "pod", "container", "name", "image", "id"];
/// Labels that rows of kube-state-metrics lack, or in which they describe the scraped exporter itself.
const NOT_OF_LIMITS: [&str; 8] =
    ["name", "image", "id", "instance", "job", "service", "endpoint", "metrics_path"];

/// Matchers separated by commas, without braces; empty if there are none.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Matchers {
    /// All matchers, for containers, processes and deployments.
    pub(crate) all: String,
    /// The matchers for hosts.
    pub(crate) hosts: String,
    /// The matchers that are left out for hosts.
    pub(crate) not_of_hosts: String,
    /// The matchers for limits from kube-state-metrics. Limits are assigned to containers by name, so fewer matchers do not change results.
    pub(crate) limits: String,
}

impl Matchers {
    /// Parses a selector, with or without braces.
    pub(crate) fn new(selector: &str) -> Self {
        let all = matchers(selector);
        let those = |is_kept: &dyn Fn(&str) -> bool| {
            let kept: Vec<&str> = all.iter().copied().filter(|matcher| is_kept(label(matcher))).collect();
            kept.join(",")
        };
        Self {
            all: those(&|_| true),
            hosts: those(&|label| !OF_CONTAINERS.contains(&label)),
            not_of_hosts: those(&|label| OF_CONTAINERS.contains(&label)),
            limits: those(&|label| !NOT_OF_LIMITS.contains(&label)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_exporter_gets_the_matchers_that_its_rows_can_meet() {
        let read = Matchers::new(r#"{namespace="shop", pod=~"a{1,2},b", job!="x", cluster="eu",}"#);
        assert_eq!(read.all, r#"namespace="shop",pod=~"a{1,2},b",job!="x",cluster="eu""#);
        assert_eq!(read.hosts, r#"job!="x",cluster="eu""#);
        assert_eq!(read.not_of_hosts, r#"namespace="shop",pod=~"a{1,2},b""#);
        assert_eq!(read.limits, r#"namespace="shop",pod=~"a{1,2},b",cluster="eu""#);
        let none = Matchers::new(" {} ");
        assert_eq!([none.all, none.hosts, none.not_of_hosts, none.limits].concat(), "");
    }
}
