//! The objects that a fleet on Kubernetes is made of.

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use serde_json::{Value, json};

use crate::broker::BrokerAddress;

/// The user and group of the agent: not root, and of no account of the node.
const USER: u32 = 65_532;
/// The exit code for what was typed wrongly: another try would end the same way.
const USAGE_EXIT: i32 = 2;
/// An agent ends its load within this time when its pod is deleted.
const GRACE_SEC: u32 = 15;
/// A Job whose agents have all ended is removed after this time.
const KEPT_SEC: u32 = 3600;
const CREDENTIALS_FOLDER: &str = "/etc/plimsoll";
const CREDENTIALS_FILE: &str = "broker.creds";

/// The agents of a fleet on Kubernetes.
#[derive(Debug, Clone)]
pub struct KubernetesAgents {
    pub count: usize,
    /// The image of this tool.
    pub image: String,
    /// The broker, as pods reach it.
    pub join: BrokerAddress,
    /// What agents may load, as `plimsoll agent --allow` takes it.
    pub allow: Vec<String>,
    /// Cores and memory of each agent, as Kubernetes writes quantities: `1`, `512Mi`.
    pub cpu: String,
    pub memory: String,
    /// The credentials file for the broker.
    pub credentials: Option<Vec<u8>>,
    /// The name of the fleet, where several share a broker.
    pub fleet: String,
}

impl KubernetesAgents {
    /// The name of the agent of an index, at the broker.
    pub(super) fn agent_name(job: &str, index: &dyn std::fmt::Display) -> String {
        format!("{job}-{index}")
    }

    /// The objects in the order in which they are created.
    pub(super) fn objects(&self, namespace: &str, name: &str) -> Vec<Value> {
        let metadata = json!({ "name": name, "namespace": namespace, "labels": labels(name) });
        let account = json!({
            "apiVersion": "v1", "kind": "ServiceAccount", "metadata": metadata,
            "automountServiceAccountToken": false,
        });
        let secret = self.credentials.as_ref().map(|credentials| {
            let encoded = BASE64_STANDARD.encode(credentials);
            json!({
                "apiVersion": "v1", "kind": "Secret", "metadata": metadata, "type": "Opaque",
                "data": { CREDENTIALS_FILE: encoded },
            })
        });
        let job = json!({
            "apiVersion": "batch/v1", "kind": "Job", "metadata": metadata, "spec": self.job(name),
        });
        std::iter::once(account).chain(secret).chain([job]).collect()
    }

    /// Stable indices, one try each: an agent that is lost is not replaced within a run, and its index is not given twice.
    fn job(&self, name: &str) -> Value {
        json!({
            "completionMode": "Indexed",
            "completions": self.count,
            "parallelism": self.count,
            "backoffLimitPerIndex": 0,
            "maxFailedIndexes": self.count,
            "podReplacementPolicy": "Failed",
            "ttlSecondsAfterFinished": KEPT_SEC,
            "podFailurePolicy": { "rules": [
                { "action": "FailJob", "onExitCodes": { "containerName": "agent", "operator": "In", "values": [USAGE_EXIT] } },
                { "action": "FailIndex", "onPodConditions": [{ "type": "DisruptionTarget", "status": "True" }] },
            ] },
            "template": { "metadata": { "labels": labels(name) }, "spec": self.pod(name) },
        })
    }

    fn pod(&self, name: &str) -> Value {
        let mut pod = json!({
            "serviceAccountName": name,
            "automountServiceAccountToken": false,
            "enableServiceLinks": false,
            "restartPolicy": "Never",
            "terminationGracePeriodSeconds": GRACE_SEC,
            "securityContext": {
                "runAsNonRoot": true, "runAsUser": USER, "runAsGroup": USER, "fsGroup": USER,
                "seccompProfile": { "type": "RuntimeDefault" },
            },
            "topologySpreadConstraints": [{
                "maxSkew": 1, "topologyKey": "kubernetes.io/hostname", "whenUnsatisfiable": "ScheduleAnyway",
                "labelSelector": { "matchLabels": labels(name) },
            }],
            "containers": [self.container(name)],
        });
        if self.credentials.is_some() {
            pod["volumes"] =
                json!([{ "name": "credentials", "secret": { "secretName": name, "defaultMode": 0o440 } }]);
        }
        pod
    }

    /// Requests are limits, so that the pod is of the class Guaranteed.
    fn container(&self, name: &str) -> Value {
        let resources = json!({ "cpu": self.cpu, "memory": self.memory });
        let mut container = json!({
            "name": "agent",
            "image": self.image,
            "imagePullPolicy": "IfNotPresent",
            "args": self.args(name),
            "resources": { "requests": resources, "limits": resources },
            // Its last words are read from the pod when it ends.
            "terminationMessagePolicy": "FallbackToLogsOnError",
            "securityContext": {
                "allowPrivilegeEscalation": false, "readOnlyRootFilesystem": true,
                "capabilities": { "drop": ["ALL"] },
            },
        });
        if self.credentials.is_some() {
            container["volumeMounts"] =
                json!([{ "name": "credentials", "mountPath": CREDENTIALS_FOLDER, "readOnly": true }]);
        }
        container
    }

    fn args(&self, name: &str) -> Vec<String> {
        let own_name = Self::agent_name(name, &"$(JOB_COMPLETION_INDEX)");
        let join = self.join.to_string();
        let fixed = ["agent", "--join", &join, "--name", &own_name, "--fleet-name", &self.fleet];
        let allow = self.allow.iter().flat_map(|target| ["--allow".to_owned(), target.clone()]);
        let file = format!("{CREDENTIALS_FOLDER}/{CREDENTIALS_FILE}");
        let credentials = self.credentials.is_some().then(|| ["--credentials".to_owned(), file]);
        fixed
            .map(ToOwned::to_owned)
            .into_iter()
            .chain(allow)
            .chain(credentials.into_iter().flatten())
            .collect()
    }
}

fn labels(name: &str) -> Value {
    json!({ "app.kubernetes.io/name": "plimsoll", "app.kubernetes.io/instance": name, "app.kubernetes.io/component": "agent" })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn agents(credentials: Option<Vec<u8>>) -> KubernetesAgents {
        KubernetesAgents {
            count: 3,
            image: "plimsoll.test/plimsoll:1".to_owned(),
            join: "nats://nats:4222".parse().unwrap(),
            allow: vec!["api:80".to_owned()],
            cpu: "2".to_owned(),
            memory: "1Gi".to_owned(),
            credentials,
            fleet: "default".to_owned(),
        }
    }

    #[test]
    fn credentials_are_in_a_secret_and_only_there() {
        let objects = agents(Some(b"jwt".to_vec())).objects("load", "fleet");
        let kinds: Vec<&str> = objects.iter().filter_map(|object| object["kind"].as_str()).collect();
        assert_eq!(kinds, ["ServiceAccount", "Secret", "Job"]);
        assert_eq!(objects[1]["data"]["broker.creds"], BASE64_STANDARD.encode("jwt"));
        assert!(!objects[2].to_string().contains(&BASE64_STANDARD.encode("jwt")));
        assert!(objects[2].to_string().contains("/etc/plimsoll/broker.creds"));
        assert_eq!(agents(None).objects("load", "fleet").len(), 2, "without credentials there is no secret");
    }

    #[test]
    fn agents_are_guaranteed_what_they_request_and_have_stable_names() {
        let job = agents(None).objects("load", "fleet").pop().unwrap();
        let container = &job["spec"]["template"]["spec"]["containers"][0];
        assert_eq!(container["resources"]["requests"], container["resources"]["limits"]);
        assert_eq!(container["args"][4], "fleet-$(JOB_COMPLETION_INDEX)");
        assert_eq!((&job["spec"]["completions"], &job["spec"]["parallelism"]), (&json!(3), &json!(3)));
    }
}
