//! The objects that a fleet on Kubernetes is made of.

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use serde_json::{Value, json};

use crate::error::FleetError;
use crate::placement::{AgentFile, CREDENTIALS, Placement};

/// The user and group of the agent: not root, and of no account of the node.
const USER: u32 = 65_532;
/// The exit code for what was typed wrongly: another try would end the same way.
const USAGE_EXIT: i32 = 2;
/// An agent ends its load within this time when its pod is deleted.
const GRACE_SEC: u32 = 15;
/// A Job whose agents have all ended is removed after this time.
const KEPT_SEC: u32 = 3600;
/// Where an agent finds its files.
const FOLDER: &str = "/etc/plimsoll";
/// What a Secret holds at most.
const MAX_SECRET_BYTES: usize = 1 << 20;
/// The variable of each pod of an Indexed Job that has its index.
const INDEX: &str = "$(JOB_COMPLETION_INDEX)";

/// The label of everything of this tool, and the one that names the fleet.
pub(super) const OF_APP: (&str, &str) = ("app.kubernetes.io/name", "plimsoll");
pub(super) const INSTANCE: &str = "app.kubernetes.io/instance";

/// The agents of a fleet on Kubernetes.
#[derive(Debug, Clone)]
pub struct KubernetesAgents {
    pub count: usize,
    /// The image of this tool.
    pub image: String,
    /// Who they are, and how they join the broker, as pods reach it.
    pub placement: Placement,
    /// Cores and memory of each agent, as Kubernetes writes quantities: `1`, `512Mi`.
    pub cpu: String,
    pub memory: String,
}

/// The files of all agents, in one Secret of the Job's name.
struct Files {
    /// A pod has all of these.
    shared: Vec<AgentFile>,
    /// Of these, which are named for their agents, a pod has only its own.
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

    /// A pod sees single files: of credentials the one that its index names.
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

/// What the credentials of an agent are called in the Secret.
fn credentials_name(agent: &str) -> String {
    format!("{agent}.creds")
}

impl KubernetesAgents {
    /// The name of the agent of an index, at the broker.
    pub(super) fn agent_name(job: &str, index: &dyn std::fmt::Display) -> String {
        format!("{job}-{index}")
    }

    /// The names of all agents of a Job.
    pub(super) fn names(&self, job: &str) -> Vec<String> {
        (0..self.count).map(|index| Self::agent_name(job, &index)).collect()
    }

    /// The objects in the order in which they are created.
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

    /// Stable indices, one try each: an agent that is lost is not replaced within a run, and its index is not given twice.
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

    /// Requests are limits, so that the pod is of the class Guaranteed.
    fn container(&self, name: &str, files: &Files) -> Result<Value, FleetError> {
        let resources = json!({ "cpu": self.cpu, "memory": self.memory });
        let mut container = json!({
            "name": "agent",
            "image": self.image,
            "imagePullPolicy": "IfNotPresent",
            "args": self.placement.args(&Self::agent_name(name, &INDEX), FOLDER)?,
            "resources": { "requests": resources, "limits": resources },
            // Its last words are read from the pod when it ends.
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
