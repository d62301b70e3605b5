//! The pods of a workload on Kubernetes, from the cAdvisor pages of their kubelets.
//!
//! Each container becomes a control group of the host, each network interface of a pod one of its interfaces. cAdvisor measures
//! a group every 10 to 17 s. Only a new measurement becomes a sample, and a kubelet is queried only when it may have one.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use plimsoll_kubernetes::{Cluster, KubernetesError, PlacedPod, pods_behind, pods_of};
use plimsoll_plan::{Workload, WorkloadKind};
use plimsoll_record::{Source, Subject};
use plimsoll_units::{Clock as _, Instant, RealClock};

use super::prometheus::cadvisor::{Measured, measured};
use crate::collector::{Collector, Missing, Read};

/// A long deadline: the API server forwards the request to a kubelet, which collects the page on request.
const DEADLINE: Duration = Duration::from_secs(5);
/// Pods come and go; they are listed again at this interval.
const PODS_INTERVAL: Duration = Duration::from_secs(5);
/// cAdvisor does not measure again sooner than this. A page is expensive for a kubelet with many pods.
const MEASURED_AFTER: Duration = Duration::from_secs(8);
/// A node that does not answer delays the others until the deadline. One that failed twice in a row is retried after this time.
const RETRY_AFTER: Duration = Duration::from_secs(30);

/// The names of pods by the node that they run on.
type Nodes = BTreeMap<String, BTreeSet<String>>;

struct Pods {
    workload: Workload,
    cluster: Option<Cluster>,
    /// The pods of the workload, and when they were listed.
    nodes: Option<(Instant, Nodes)>,
    pages: Pages,
}

/// The last measurement of one subject.
#[derive(Debug, Clone, Copy)]
struct Last {
    /// The time of the measurement, in milliseconds of the node's clock.
    time_ms: u64,
    /// When this process first saw it, less than a second after it was made; `None` for the first measurement of a subject, which
    /// may be older.
    seen: Option<Instant>,
}

/// The state kept from the pages of all nodes.
#[derive(Debug, Default)]
struct Pages {
    subjects: BTreeMap<String, Last>,
    /// When each node may have a new measurement.
    due: BTreeMap<String, Instant>,
    /// Nodes whose last page could not be read.
    failing: BTreeSet<String>,
}

/// Returns a collector of the pods of one workload.
pub(super) fn collector(workload: &Workload) -> Collector {
    let mut pods = Pods { workload: workload.clone(), cluster: None, nodes: None, pages: Pages::default() };
    Collector::subjects(Source::Cgroup, move || {
        let reads = pods.read();
        reads.map_err(|why| Missing::Failed(format!("k8s://{}: {why}", pods.workload)))
    })
}

impl Pods {
    fn read(&mut self) -> Result<Vec<Read>, String> {
        let mut reads = Vec::new();
        for (node, pods) in self.nodes()? {
            if !self.pages.is_due(&node, RealClock.now()) {
                continue;
            }
            let found = self.measured(&node, &pods);
            let now = RealClock.now();
            match found {
                Ok(found) => reads.extend(self.pages.news(&node, found, now)),
                Err(why) => {
                    reads.push(self.pages.failed(&node, &format!("k8s://{}: {why}", self.workload), now))
                }
            }
        }
        Ok(reads)
    }

    fn measured(&mut self, node: &str, pods: &BTreeSet<String>) -> Result<Vec<Measured>, String> {
        let page = self.page(node).map_err(|error| format!("node {node}: {error}"))?;
        let found = measured(&page, &self.workload.namespace, pods);
        found.ok_or_else(|| format!("the page of node {node} is not cAdvisor's"))
    }

    fn page(&mut self, node: &str) -> Result<String, KubernetesError> {
        self.cluster()?.text(&format!("/api/v1/nodes/{node}/proxy/metrics/cadvisor"))
    }

    fn nodes(&mut self) -> Result<Nodes, String> {
        let now = RealClock.now();
        if let Some((at, nodes)) = &self.nodes
            && now.since(*at) < PODS_INTERVAL
        {
            return Ok(nodes.clone());
        }
        let mut nodes = Nodes::new();
        for PlacedPod { name, node } in self.pods().map_err(|error| error.to_string())? {
            nodes.entry(node).or_default().insert(name);
        }
        if nodes.is_empty() {
            return Err("it has no pod that runs; see kubectl get pods".to_owned());
        }
        self.nodes = Some((now, nodes.clone()));
        Ok(nodes)
    }

    fn pods(&mut self) -> Result<Vec<PlacedPod>, KubernetesError> {
        let Workload { namespace, kind, name } = self.workload.clone();
        let controller = match kind {
            WorkloadKind::Deployment => "deployments",
            WorkloadKind::StatefulSet => "statefulsets",
            WorkloadKind::DaemonSet => "daemonsets",
            WorkloadKind::Service => return pods_behind(self.cluster()?, (&namespace, &name)),
        };
        pods_of(self.cluster()?, (&namespace, controller, &name))
    }

    /// Connects at the first read, so that an unreachable cluster is a failed reading.
    fn cluster(&mut self) -> Result<&Cluster, KubernetesError> {
        let cluster = match self.cluster.take() {
            Some(cluster) => cluster,
            None => Cluster::connect(None, DEADLINE)?,
        };
        Ok(self.cluster.insert(cluster))
    }
}

impl Pages {
    fn is_due(&self, node: &str, now: Instant) -> bool {
        self.due.get(node).is_none_or(|due| now >= *due)
    }

    /// Returns the measurements made since the last page of this node; cAdvisor repeats older ones.
    fn news(&mut self, node: &str, found: Vec<Measured>, now: Instant) -> Vec<Read> {
        let mut reads = Vec::new();
        let mut due = None;
        for measured in found {
            let (seen, is_new) = self.note(&measured, now);
            let again = seen.map_or(now, |seen| seen + MEASURED_AFTER);
            due = Some(due.map_or(again, |due: Instant| due.min(again)));
            if is_new {
                let Measured { source, subject, counters, .. } = measured;
                reads.push(Read::new(source, Subject::Named(&subject), Ok(counters)));
            }
        }
        self.due.insert(node.to_owned(), due.unwrap_or(now));
        self.failing.remove(node);
        reads
    }

    /// Returns when the last measurement of a subject was first seen, if known, and whether `measured` is new. The first one seen
    /// of a subject does not count as new: it may be 17 s old and would be taken for current.
    fn note(&mut self, measured: &Measured, now: Instant) -> (Option<Instant>, bool) {
        let Some(time_ms) = measured.time_ms else { return (None, true) };
        let key = format!("{} {}", measured.source, measured.subject);
        let before = self.subjects.get(&key).copied();
        let is_new = before.is_some_and(|before| before.time_ms != time_ms);
        let seen = if is_new { Some(now) } else { before.and_then(|before| before.seen) };
        self.subjects.insert(key, Last { time_ms, seen });
        (seen, is_new)
    }

    /// Returns a failed read for a node whose page could not be read; other nodes are not affected.
    fn failed(&mut self, node: &str, why: &str, now: Instant) -> Read {
        let is_first = self.failing.insert(node.to_owned());
        self.due.insert(node.to_owned(), if is_first { now } else { now + RETRY_AFTER });
        Read::new(Source::Cgroup, Subject::Named(node), Err(Missing::Failed(why.to_owned())))
    }
}

#[cfg(test)]
mod tests {
    use plimsoll_record::{CounterSet, Reading};

    use super::*;
    use crate::collector::tests::subjects;

    fn at(sec: u64) -> Instant {
        Instant::from_nanos(sec * 1_000_000_000)
    }

    fn group(subject: &str, time_ms: u64) -> Measured {
        let counters = CounterSet::default();
        Measured { source: Source::Cgroup, subject: subject.to_owned(), time_ms: Some(time_ms), counters }
    }

    #[test]
    fn a_measurement_is_a_sample_once_and_the_first_of_a_subject_is_none() {
        let mut pages = Pages::default();
        let times = [(0, 100), (1, 100), (2, 112), (3, 112), (14, 124)];
        let seen = times.map(|(sec, time_ms)| pages.news("n1", vec![group("api/a", time_ms)], at(sec)).len());
        assert_eq!(seen, [0, 0, 1, 0, 1]);
    }

    #[test]
    fn a_node_is_asked_again_when_the_first_of_its_subjects_may_be_measured_again() {
        let mut pages = Pages::default();
        let mut due = |sec: u64, a: u64, b: u64| {
            assert!(pages.is_due("n1", at(sec)), "{sec}");
            pages.news("n1", vec![group("api/a", a), group("api/b", b)], at(sec));
            (sec + 1..).find(|sec| pages.is_due("n1", at(*sec)))
        };
        assert_eq!(due(0, 100, 105), Some(1), "how old they are is not known");
        assert_eq!(due(3, 112, 105), Some(4), "the other's age is not known");
        assert_eq!(due(8, 112, 117), Some(11), "8 s after the first was measured");
        assert_eq!(due(11, 112, 117), Some(12), "each second from then on");
        assert_eq!(due(15, 124, 117), Some(16), "8 s after the second was measured");
        assert!(pages.is_due("n2", at(0)), "another node");
    }

    #[test]
    fn a_subject_without_a_time_is_always_new() {
        let mut pages = Pages::default();
        for sec in 0..3 {
            let undated = Measured { time_ms: None, ..group("api/a", 0) };
            assert_eq!(subjects(&pages.news("n1", vec![undated], at(sec))), ["api/a"]);
            assert!(pages.is_due("n1", at(sec + 1)));
        }
    }

    #[test]
    fn a_node_that_fails_is_one_failed_read_and_is_left_alone_for_a_while() {
        let mut pages = Pages::default();
        let read = pages.failed("n1", "not ready", at(4));
        assert_eq!((read.source, read.subject.as_str()), (Source::Cgroup, "n1"));
        assert_eq!(read.reading, Reading::Failed("not ready".to_owned()));
        assert!(pages.is_due("n1", at(5)), "it may answer the next time");
        pages.failed("n1", "not ready", at(5));
        assert!(!pages.is_due("n1", at(34)) && pages.is_due("n1", at(35)) && pages.is_due("n2", at(6)));
        pages.news("n2", vec![group("api/a", 100)], at(6));
        assert_eq!(pages.news("n2", vec![group("api/a", 112)], at(7)).len(), 1, "the others go on");
        pages.news("n1", Vec::new(), at(35));
        pages.failed("n1", "not ready", at(36));
        assert!(pages.is_due("n1", at(37)), "it answered in between");
    }
}
