use std::collections::BTreeSet;
use std::fs;
use std::time::Duration;

use super::*;
use crate::broker::Certificates;
use crate::keys::KeyFolder;
use crate::placement::AgentKeys;

fn agents() -> KubernetesAgents {
    KubernetesAgents {
        count: 3,
        image: "plimsoll.test/plimsoll:1".to_owned(),
        placement: Placement {
            join: "nats://nats:4222".parse().unwrap(),
            allow: vec!["api:80".to_owned()],
            fleet: "default".to_owned(),
            keys: None,
            certificates: Certificates::default(),
            calibrate: None,
        },
        cpu: "2".to_owned(),
        memory: "1Gi".to_owned(),
    }
}

/// Agents with keys and certificates, in a folder.
fn closed(folder: &std::path::Path) -> KubernetesAgents {
    let keys = KeyFolder::open(&folder.join("keys"), "default").unwrap();
    keys.mint_conductor(Duration::from_secs(60)).unwrap();
    let file = |name: &str| {
        let path = folder.join(name);
        fs::write(&path, name).unwrap();
        path
    };
    let own = Some((file("client.crt"), file("client.key")));
    let certificates = Certificates { authorities: Some(file("ca.crt")), own };
    let keys = Some(AgentKeys { folder: keys, valid: Duration::from_secs(60) });
    let agents = agents();
    KubernetesAgents { placement: Placement { keys, certificates, ..agents.placement }, ..agents }
}

fn decoded(secret: &Value, name: &str) -> String {
    let encoded = secret["data"][name].as_str().unwrap_or_else(|| panic!("no {name}: {secret}"));
    String::from_utf8(BASE64_STANDARD.decode(encoded).unwrap()).unwrap()
}

#[test]
fn each_agent_has_credentials_of_its_own_in_one_secret_and_the_conductor_none() {
    let folder = tempfile::tempdir().unwrap();
    let objects = closed(folder.path()).objects("load", "fleet").unwrap();
    let kinds: Vec<&str> = objects.iter().filter_map(|object| object["kind"].as_str()).collect();
    assert_eq!(kinds, ["ServiceAccount", "Secret", "Job"]);
    let names: Vec<&str> = objects[1]["data"].as_object().unwrap().keys().map(String::as_str).collect();
    assert_eq!(
        names,
        ["agent.key", "agent.pem", "ca.pem", "fleet-0.creds", "fleet-1.creds", "fleet-2.creds"]
    );
    let credentials: BTreeSet<String> =
        (0..3).map(|index| decoded(&objects[1], &format!("fleet-{index}.creds"))).collect();
    assert_eq!(credentials.len(), 3);
    assert_eq!(decoded(&objects[1], "ca.pem"), "ca.crt");
    let conductor = fs::read_to_string(folder.path().join("keys/conductor.creds")).unwrap();
    let all = Value::from(objects).to_string();
    assert!(!credentials.contains(&conductor) && !all.contains(&BASE64_STANDARD.encode(&conductor)));
}

#[test]
fn a_pod_sees_only_its_own_credentials_and_names_the_key_that_it_trusts() {
    let folder = tempfile::tempdir().unwrap();
    let agents = closed(folder.path());
    let job = agents.objects("load", "fleet").unwrap().pop().unwrap();
    let pod = &job["spec"]["template"]["spec"];
    let container = &pod["containers"][0];
    assert_eq!(pod["volumes"][0]["secret"]["secretName"], "fleet");
    assert_eq!(
        container["volumeMounts"][0],
        json!({
            "name": "files", "mountPath": "/etc/plimsoll/agent.creds", "readOnly": true,
            "subPathExpr": "fleet-$(JOB_COMPLETION_INDEX).creds",
        })
    );
    let mounts = container["volumeMounts"].as_array().unwrap();
    let paths: Vec<Option<&str>> = mounts.iter().map(|mount| mount["subPath"].as_str()).collect();
    assert_eq!(paths, [None, Some("ca.pem"), Some("agent.pem"), Some("agent.key")]);
    let args: Vec<&str> =
        container["args"].as_array().unwrap().iter().map(|arg| arg.as_str().unwrap()).collect();
    let trusted = agents.placement.keys.unwrap().folder.trusted().unwrap();
    for pair in [
        ["--trust", &trusted],
        ["--credentials", "/etc/plimsoll/agent.creds"],
        ["--cacert", "/etc/plimsoll/ca.pem"],
        ["--cert", "/etc/plimsoll/agent.pem"],
        ["--cert-key", "/etc/plimsoll/agent.key"],
    ] {
        assert!(args.windows(2).any(|two| two == pair), "{pair:?}: {args:?}");
    }
}

#[test]
fn without_keys_and_certificates_there_is_no_secret() {
    let objects = agents().objects("load", "fleet").unwrap();
    assert_eq!(objects.len(), 2);
    let job = Value::from(objects).to_string();
    assert!(!job.contains("volume") && !job.contains("--credentials") && !job.contains("--trust"), "{job}");
}

#[test]
fn pods_calibrate_before_they_join_if_they_are_asked_to() {
    let mut agents = agents();
    agents.placement.calibrate = Some(Duration::from_secs(5));
    let job = agents.objects("load", "fleet").unwrap().pop().unwrap();
    let args = job["spec"]["template"]["spec"]["containers"][0]["args"].as_array().unwrap();
    assert!(args.ends_with(&["--calibrate".into(), "5s".into()]), "{args:?}");
}

#[test]
fn more_than_a_secret_holds_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let agents = closed(folder.path());
    fs::write(folder.path().join("ca.crt"), vec![b'x'; MAX_SECRET_BYTES]).unwrap();
    let error = agents.objects("load", "fleet").unwrap_err();
    assert!(matches!(error, FleetError::SecretTooLarge { agents: 3, .. }), "{error}");
}

#[test]
fn agents_are_guaranteed_what_they_request_and_have_stable_names() {
    let job = agents().objects("load", "fleet").unwrap().pop().unwrap();
    let container = &job["spec"]["template"]["spec"]["containers"][0];
    assert_eq!(container["resources"]["requests"], container["resources"]["limits"]);
    assert_eq!(container["args"][4], "fleet-$(JOB_COMPLETION_INDEX)");
    assert!(!container["args"].to_string().contains("--calibrate"));
    assert_eq!((&job["spec"]["completions"], &job["spec"]["parallelism"]), (&json!(3), &json!(3)));
}
