//! The pods of a workload on Kubernetes, by cAdvisor's page of their kubelets.
//!
//! Each container is a control group of the host, each interface of a pod one of its interfaces. cAdvisor measures a group
//! every 10 to 17 s; only a new measurement becomes a sample.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use plimsoll_kubernetes::{Cluster, KubernetesError, PlacedPod, pods_behind, pods_of};
use plimsoll_plan::{Workload, WorkloadKind};
use plimsoll_record::{Source, Subject};
use plimsoll_units::{Clock as _, Instant, RealClock};

use super::prometheus::cadvisor::{Measured, measured};
use crate::collector::{Collector, Missing, Read};

/// The API server passes a page on from its kubelet, which collects it when it is asked.
const DEADLINE: Duration = Duration::from_secs(5);
/// Pods come and go: they are looked up at this interval.
const PODS_INTERVAL: Duration = Duration::from_secs(5);

/// The names of pods by the node that they run on.
type Nodes = BTreeMap<String, BTreeSet<String>>;

struct Pods {
    workload: Workload,
    cluster: Option<Cluster>,
    /// Its pods, and when they were looked up.
    nodes: Option<(Instant, Nodes)>,
    /// When each subject was last measured, in milliseconds of its node's clock.
    times_ms: BTreeMap<String, u64>,
}

/// A collector of the pods of one workload.
pub(super) fn collector(workload: &Workload) -> Collector {
    let mut pods = Pods { workload: workload.clone(), cluster: None, nodes: None, times_ms: BTreeMap::new() };
    Collector::subjects(Source::Cgroup, move || {
        let reads = pods.read();
        reads.map_err(|why| Missing::Failed(format!("k8s://{}: {why}", pods.workload)))
    })
}

impl Pods {
    fn read(&mut self) -> Result<Vec<Read>, String> {
        let mut all = Vec::new();
        for (node, pods) in self.nodes()? {
            let page = self.page(&node).map_err(|error| error.to_string())?;
            let found = measured(&page, &self.workload.namespace, &pods);
            all.extend(found.ok_or_else(|| format!("the page of node {node} is not cAdvisor's"))?);
        }
        Ok(all.into_iter().filter_map(|measured| self.news(measured)).collect())
    }

    /// What was measured since the last read; cAdvisor repeats the rest. The first that is seen of a subject may be 17 s old,
    /// and would stand for now.
    fn news(&mut self, measured: Measured) -> Option<Read> {
        let Measured { source, subject, time_ms, counters } = measured;
        if let Some(time_ms) = time_ms {
            let before = self.times_ms.insert(format!("{source} {subject}"), time_ms);
            before.filter(|before| *before != time_ms)?;
        }
        Some(Read::new(source, Subject::Named(&subject), Ok(counters)))
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

    /// Found at the first read, so that a probe that cannot be asked is a failed reading.
    fn cluster(&mut self) -> Result<&Cluster, KubernetesError> {
        let cluster = match self.cluster.take() {
            Some(cluster) => cluster,
            None => Cluster::connect(None, DEADLINE)?,
        };
        Ok(self.cluster.insert(cluster))
    }
}
