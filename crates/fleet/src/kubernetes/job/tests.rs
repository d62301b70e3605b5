use std::fs;
use std::sync::atomic::{AtomicUsize, Ordering};

use plimsoll_testkit::{PageServer, Reply, refused_address};
use serde_json::json;

use super::*;
use crate::kubernetes::KubernetesFleet;

const KIND_LISTS: [(&str, &str); 3] = [
    ("ServiceAccount", "/api/v1/namespaces/load/serviceaccounts"),
    ("Secret", "/api/v1/namespaces/load/secrets"),
    ("Job", "/apis/batch/v1/namespaces/load/jobs"),
];

/// An API server that answers a target with this status and text, and a fleet `mine` there.
fn fleet_on(reply: impl Fn(&str) -> (u16, String) + Send + Sync + 'static) -> (PageServer, FleetJob) {
    let server = PageServer::start(move |target| {
        let (status, body) = reply(target);
        Reply::Page { status, body }
    });
    let job = fleet_at(&server.url());
    (server, job)
}

/// A fleet `mine` at the API server of this address.
fn fleet_at(server: &str) -> FleetJob {
    let folder = tempfile::tempdir().unwrap();
    let config = folder.path().join("config");
    let text = format!(
        "current-context: a\ncontexts: [{{name: a, context: {{cluster: a}}}}]\n\
         clusters: [{{name: a, cluster: {{server: \"{server}\"}}}}]\n"
    );
    fs::write(&config, text).unwrap();
    let cluster = Cluster::connect_by(&[config], None, ANSWER_WITHIN).unwrap();
    let place =
        KubernetesPlace { context: None, namespace: Some("load".to_owned()), name: "mine".to_owned() };
    FleetJob::on(cluster, &place)
}

fn objects() -> Vec<Value> {
    KIND_LISTS.iter().map(|(kind, _)| json!({ "kind": kind })).collect()
}

/// The lists whose objects were deleted.
fn deleted(server: &PageServer) -> Vec<String> {
    let target = |head: &String| {
        let target = head.strip_prefix("DELETE ")?.split('?').next()?;
        target.strip_suffix("/mine").map(str::to_owned)
    };
    server.heads().iter().filter_map(target).collect()
}

/// Creates the objects of a fleet, whose Secret is answered so, and undoes that.
fn failed_at_secret(status: u16) -> (PageServer, Created, FleetError) {
    let (server, job) = fleet_on(move |target| match target.ends_with("/secrets") {
        true => (status, r#"{"message": "no"}"#.to_owned()),
        false if target.ends_with("/secrets/mine") => {
            (200, labelled(&[("app.kubernetes.io/name", "other"), ("app.kubernetes.io/instance", "mine")]))
        }
        false => (200, "{}".to_owned()),
    });
    let mut created = Created::default();
    let error = job.create(&objects(), &mut created).unwrap_err();
    job.undo(&created).unwrap();
    (server, created, error)
}

fn labelled(labels: &[(&str, &str)]) -> String {
    let labels: BTreeMap<&str, &str> = labels.iter().copied().collect();
    json!({ "metadata": { "name": "mine", "labels": labels } }).to_string()
}

#[test]
fn only_what_was_created_is_deleted_again() {
    for status in [409, 403, 429] {
        let (server, created, error) = failed_at_secret(status);
        assert_eq!(deleted(&server), [KIND_LISTS[0].1], "{status}");
        assert_eq!((created.sure.as_slice(), created.unsure), (&["ServiceAccount".to_owned()][..], None));
        assert_eq!(matches!(error, FleetError::KubernetesTaken { .. }), status == 409, "{error}");
    }
    let (server, job) = fleet_on(|_| (409, String::new()));
    let mut created = Created::default();
    assert!(matches!(job.create(&objects(), &mut created), Err(FleetError::KubernetesTaken { .. })));
    assert!(created.is_empty());
    job.undo(&created).unwrap();
    assert_eq!(deleted(&server), Vec::<String>::new(), "all of it is another's");
}

#[test]
fn an_object_that_may_have_been_created_is_deleted_only_with_our_labels() {
    let (server, created, _) = failed_at_secret(504);
    assert_eq!(created.unsure.as_deref(), Some("Secret"));
    assert_eq!(deleted(&server), [KIND_LISTS[0].1]);
}

#[test]
fn the_first_object_may_have_been_created_if_its_request_was_sent() {
    let own = labelled(&[("app.kubernetes.io/name", "plimsoll"), ("app.kubernetes.io/instance", "mine")]);
    let (server, job) = fleet_on(move |target| match target.ends_with("/serviceaccounts") {
        true => (504, String::new()),
        false => (200, own.clone()),
    });
    let mut created = Created::default();
    job.create(&objects(), &mut created).unwrap_err();
    assert!(!created.is_empty());
    job.undo(&created).unwrap();
    assert_eq!(deleted(&server), [KIND_LISTS[0].1]);

    let mut created = Created::default();
    let away = fleet_at(&format!("http://{}", refused_address()));
    away.create(&objects(), &mut created).unwrap_err();
    assert!(created.is_empty(), "nothing was sent");
}

#[test]
fn pods_are_waited_for_although_the_server_is_busy_and_not_if_they_may_not_be_listed() {
    let asked = AtomicUsize::new(0);
    let (server, job) = fleet_on(move |_| match asked.fetch_add(1, Ordering::SeqCst) {
        0 => (429, String::new()),
        1 => (503, String::new()),
        _ => (200, json!({ "items": [] }).to_string()),
    });
    KubernetesFleet(job).await_end().unwrap();
    assert_eq!(server.heads().len(), 3);
    let (_server, job) = fleet_on(|_| (403, String::new()));
    let refused = KubernetesFleet(job).await_end();
    assert!(matches!(refused, Err(FleetError::Kubernetes(KubernetesError::Forbidden { .. }))), "{refused:?}");
}

#[test]
fn what_cannot_be_deleted_again_is_named() {
    let (_server, job) = fleet_on(|target| match target.contains("/mine?") {
        true => (403, r#"{"message": "no"}"#.to_owned()),
        false => (201, "{}".to_owned()),
    });
    let mut created = Created::default();
    job.create(&objects(), &mut created).unwrap();
    let left = job.undo(&created).unwrap_err();
    assert!(left.starts_with("Job mine, Secret mine, ServiceAccount mine ("), "{left}");
}

#[test]
fn a_fleet_ends_without_objects_of_others_that_have_its_name() {
    let own = [("app.kubernetes.io/name", "plimsoll"), ("app.kubernetes.io/instance", "mine")];
    let others: [&[(&str, &str)]; 3] = [&[], &own[..1], &[own[0], ("app.kubernetes.io/instance", "theirs")]];
    for labels in others {
        let secret = labelled(labels);
        let (server, job) = fleet_on(move |target| match target.ends_with("/secrets/mine") {
            true => (200, secret.clone()),
            false => (200, labelled(&own)),
        });
        assert!(job.delete().unwrap());
        assert_eq!(deleted(&server), [KIND_LISTS[2].1, KIND_LISTS[0].1], "{labels:?}");
    }
    let (server, job) = fleet_on(|_| (404, String::new()));
    assert!(!job.delete().unwrap());
    assert_eq!(deleted(&server), Vec::<String>::new());
}
