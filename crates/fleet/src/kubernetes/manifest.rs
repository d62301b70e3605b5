//! The objects that a fleet on Kubernetes is made of.

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use serde_json::{Value, json};

use crate::error::FleetError;
use crate::placement::{AgentFile, CREDENTIALS, Placement};

/// The user and group of the agent: not root, and no account of the node.
const USER: u32 = 65_532;
/// The exit code of a usage error: another try would end the same way.
const USAGE_EXIT: i32 = 2;
/// How long an agent may take to end its load after its pod is deleted.
const GRACE_SEC: u32 = 15;
/// How long a Job is kept after all its agents have ended.
const KEPT_SEC: u32 = 3600;
/// Where an agent finds its files.
const FOLDER: &str = "/etc/plimsoll";
/// The largest size of a Secret.
const MAX_SECRET_BYTES: usize = 1 << 20;
/// The environment variable with the index of a pod of an Indexed Job.
const INDEX: &str = "$(JOB_COMPLETION_INDEX)";

/// The label of all objects of this tool, and the key of the label that names the fleet.
pub(super) const OF_APP: (&str, &str) = ("app.kubernetes.io/name", "plimsoll");
pub(super) const INSTANCE: &str = "app.kubernetes.io/instance";

/// The agents of a fleet on Kubernetes.
#[derive(Debug, Clone)]
pub struct KubernetesAgents {
    pub count: usize,
    /// The image of this tool.
    pub image: String,
    /// The configuration of the agents, with the broker as pods reach it.
    pub placement: Placement,
    /// Cores and memory of each agent, as Kubernetes writes quantities: `1`, `512Mi`.
    pub cpu: String,
    pub memory: String,
}

/// The files of all agents, in one Secret of the Job's name.
struct Files {
    /// Every pod has all of these.
    shared: Vec<AgentFile>,
    /// Credentials, each named after its agent. A pod has only its own.
    own: Vec<AgentFile>,
}

impl Files {
    fn is_empty(&self) -> bool {
        self.shared.is_empty() && self.own.is_empty()
    }

    fn encoded(&self) -> Value {
        let encoded = |file: &AgentFile| (file.name.clone(), BASE64_STANDARD.encode(&file.content).into());
        Value::Object(self.shared.iter().chain(&self.own).map(encoded).collect())
    }

    /// Mounts single files, so that a pod sees only the credentials of its own index.
    fn mounts(&self, name: &str) -> Vec<Value> {
        let mount = |file: &str| json!({ "name": "files", "mountPath": format!("{FOLDER}/{file}"), "readOnly": true });
        let own = (!self.own.is_empty()).then(|| {
            let mut mount = mount(CREDENTIALS);
            mount["subPathExpr"] = credentials_name(&KubernetesAgents::agent_name(name, &INDEX)).into();
            mount
        });
        let shared = self.shared.iter().map(|file| {
            let mut mount = mount(&file.name);
            mount["subPath"] = file.name.clone().into();
            mount
        });
        own.into_iter().chain(shared).collect()
    }

    fn bytes(&self) -> usize {
        self.shared.iter().chain(&self.own).map(|file| file.content.len()).sum()
    }
}

/// Returns the name of an agent's credentials in the Secret.
fn credentials_name(agent: &str) -> String {
    format!("{agent}.creds")
}

impl KubernetesAgents {
    /// Returns the name, at the broker, of the agent with this index.
    pub(super) fn agent_name(job: &str, index: &dyn std::fmt::Display) -> String {
        format!("{job}-{index}")
    }

    /// Returns the names of all agents of a Job.
    pub(super) fn names(&self, job: &str) -> Vec<String> {
        (0..self.count).map(|index| Self::agent_name(job, &index)).collect()
    }

    /// Returns the objects in the order in which they are created.
    ///
    /// # Errors
    /// When credentials cannot be minted, a file cannot be read, or all are too much for a Secret.
    pub(super) fn objects(&self, namespace: &str, name: &str) -> Result<Vec<Value>, FleetError> {
        let files = self.files(name)?;
        let metadata = json!({ "name": name, "namespace": namespace, "labels": labels(name) });
        let account = json!({
            "apiVersion": "v1", "kind": "ServiceAccount", "metadata": metadata,
            "automountServiceAccountToken": false,
        });
        let secret = json!({
            "apiVersion": "v1", "kind": "Secret", "metadata": metadata, "type": "Opaque", "data": files.encoded(),
        });
        let job = json!({
            "apiVersion": "batch/v1", "kind": "Job", "metadata": metadata, "spec": self.job(name, &files)?,
        });
        let secret = (!files.is_empty()).then_some(secret);
        Ok(std::iter::once(account).chain(secret).chain([job]).collect())
    }

    fn files(&self, name: &str) -> Result<Files, FleetError> {
        let mut files = Files { shared: self.placement.shared_files()?, own: Vec::new() };
        for index in 0..self.count {
            let agent = Self::agent_name(name, &index);
            let minted = self.placement.mint(&agent)?;
            files.own.extend(minted.map(|file| AgentFile { name: credentials_name(&agent), ..file }));
        }
        match files.bytes() {
            bytes if bytes > MAX_SECRET_BYTES => {
                Err(FleetError::SecretTooLarge { agents: self.count, bytes })
            }
            _ => Ok(files),
        }
    }

    /// Returns the spec of the Job: stable indices, one try each. A lost agent is not replaced, and its index is not given twice.
    fn job(&self, name: &str, files: &Files) -> Result<Value, FleetError> {
        Ok(json!({
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
            "template": { "metadata": { "labels": labels(name) }, "spec": self.pod(name, files)? },
        }))
    }

    fn pod(&self, name: &str, files: &Files) -> Result<Value, FleetError> {
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
            "containers": [self.container(name, files)?],
        });
        if !files.is_empty() {
            pod["volumes"] =
                json!([{ "name": "files", "secret": { "secretName": name, "defaultMode": 0o440 } }]);
        }
        Ok(pod)
    }

    /// Returns the container of the agent. Its requests equal its limits, so that the pod is of the QoS class Guaranteed.
    fn container(&self, name: &str, files: &Files) -> Result<Value, FleetError> {
        let resources = json!({ "cpu": self.cpu, "memory": self.memory });
        let mut container = json!({
            "name": "agent",
            "image": self.image,
            "imagePullPolicy": "IfNotPresent",
            "args": self.placement.args(&Self::agent_name(name, &INDEX), FOLDER)?,
            "resources": { "requests": resources, "limits": resources },
            // The last output of the agent is read from the pod when it ends.
            "terminationMessagePolicy": "FallbackToLogsOnError",
            "securityContext": {
                "allowPrivilegeEscalation": false, "readOnlyRootFilesystem": true,
                "capabilities": { "drop": ["ALL"] },
            },
        });
        if !files.is_empty() {
            container["volumeMounts"] = files.mounts(name).into();
        }
        Ok(container)
    }
}

fn labels(name: &str) -> Value {
    json!({ (OF_APP.0): OF_APP.1, (INSTANCE): name, "app.kubernetes.io/component": "agent" })
}

#[cfg(test)]
mod tests;
