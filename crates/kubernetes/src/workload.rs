//! The pods of a workload, and the nodes that they run on.

use std::collections::BTreeMap;

use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use serde::Deserialize;

use crate::cluster::Cluster;
use crate::error::KubernetesError;
use crate::pod::{Pod, PodList};

/// A pod that runs on a node.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlacedPod {
    pub name: String,
    pub node: String,
}

#[derive(Deserialize)]
struct Controller {
    spec: ControllerSpec,
}

#[derive(Deserialize)]
struct ControllerSpec {
    selector: Selector,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Selector {
    match_labels: BTreeMap<String, String>,
    match_expressions: Vec<Expression>,
}

#[derive(Deserialize)]
struct Expression {
    key: String,
    operator: String,
    #[serde(default)]
    values: Vec<String>,
}

#[derive(Deserialize)]
struct SliceList {
    #[serde(default)]
    items: Vec<Slice>,
}

#[derive(Deserialize)]
struct Slice {
    /// `null` while there are none.
    endpoints: Option<Vec<Endpoint>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Endpoint {
    node_name: Option<String>,
    target_ref: Option<Target>,
}

#[derive(Deserialize)]
struct Target {
    kind: String,
    name: String,
}

impl Selector {
    /// Returns the selector in the form of a query of the API.
    fn query(&self) -> String {
        let labels = self.match_labels.iter().map(|(key, value)| format!("{key}={value}"));
        let all: Vec<String> = labels.chain(self.match_expressions.iter().map(Expression::query)).collect();
        utf8_percent_encode(&all.join(","), NON_ALPHANUMERIC).to_string()
    }
}

impl Expression {
    fn query(&self) -> String {
        let (key, values) = (&self.key, self.values.join(","));
        match self.operator.as_str() {
            "In" => format!("{key} in ({values})"),
            "NotIn" => format!("{key} notin ({values})"),
            "DoesNotExist" => format!("!{key}"),
            _ => key.clone(),
        }
    }
}

/// Returns the pods of a Deployment, a StatefulSet or a DaemonSet that have a node and have not ended. `kind` is as in the API's
/// paths: `deployments`.
///
/// # Errors
/// When the API server does not answer, refuses, or has no such workload.
pub fn pods_of(
    cluster: &Cluster,
    (namespace, kind, name): (&str, &str, &str),
) -> Result<Vec<PlacedPod>, KubernetesError> {
    let found: Controller = cluster.get(&format!("/apis/apps/v1/namespaces/{namespace}/{kind}/{name}"))?;
    let query = found.spec.selector.query();
    let pods: PodList = cluster.get(&format!("/api/v1/namespaces/{namespace}/pods?labelSelector={query}"))?;
    let placed = |pod: Pod| {
        let node = pod.spec.node_name.clone().filter(|_| pod.is_live())?;
        Some(PlacedPod { name: pod.metadata.name, node })
    };
    Ok(pods.items.into_iter().filter_map(placed).collect())
}

/// Returns the pods behind a Service, by its EndpointSlices.
///
/// # Errors
/// When the API server does not answer, or refuses.
pub fn pods_behind(
    cluster: &Cluster,
    (namespace, service): (&str, &str),
) -> Result<Vec<PlacedPod>, KubernetesError> {
    let slices: SliceList = cluster.get(&format!(
        "/apis/discovery.k8s.io/v1/namespaces/{namespace}/endpointslices?labelSelector=kubernetes.io%2Fservice-name%3D{service}"
    ))?;
    let endpoints = slices.items.into_iter().flat_map(|slice| slice.endpoints.unwrap_or_default());
    let placed = |endpoint: Endpoint| {
        let target = endpoint.target_ref.filter(|target| target.kind == "Pod")?;
        Some(PlacedPod { name: target.name, node: endpoint.node_name? })
    };
    Ok(endpoints.filter_map(placed).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_selector_is_asked_for_as_kubectl_writes_it() {
        let selector: Selector = serde_json::from_str(
            r#"{"matchLabels": {"app": "api"}, "matchExpressions": [
                {"key": "tier", "operator": "In", "values": ["a", "b"]}, {"key": "old", "operator": "DoesNotExist"}]}"#,
        )
        .unwrap();
        let decoded =
            percent_encoding::percent_decode_str(&selector.query()).decode_utf8().unwrap().into_owned();
        assert_eq!(decoded, "app=api,tier in (a,b),!old");
    }
}
