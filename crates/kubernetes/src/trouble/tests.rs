use super::*;

fn pod(status: &str) -> Pod {
    serde_json::from_str(&format!(r#"{{"metadata": {{"name": "a-0"}}, "status": {status}}}"#)).unwrap()
}

fn event(name: &str) -> Event {
    let text = r#"{"type": "Warning", "reason": "FailedMount", "message": "no secret", "involvedObject": {"name": "NAME"}}"#;
    serde_json::from_str(&text.replace("NAME", name)).unwrap()
}

#[test]
fn the_end_of_a_container_says_more_than_anything_else() {
    let ended = pod(r#"{"phase": "Failed", "containerStatuses": [{"state":
        {"terminated": {"exitCode": 2, "reason": "Error", "message": "plimsoll: no such\n flag\n"}}}]}"#);
    assert_eq!(
        trouble(&ended, &[event("a-0")]).unwrap(),
        "ended with exit code 2 (Error): plimsoll: no such flag"
    );
}

#[test]
fn a_missing_image_a_full_cluster_and_a_missing_secret_are_named() {
    let image = pod(r#"{"phase": "Pending", "containerStatuses": [{"state":
        {"waiting": {"reason": "ErrImageNeverPull", "message": "image is not present"}}}]}"#);
    assert_eq!(trouble(&image, &[]).unwrap(), "ErrImageNeverPull: image is not present");
    let full = pod(r#"{"phase": "Pending", "conditions": [{"type": "PodScheduled", "status": "False",
        "reason": "Unschedulable", "message": "0/1 nodes are available: 1 Insufficient cpu."}]}"#);
    assert_eq!(trouble(&full, &[]).unwrap(), "Unschedulable: 0/1 nodes are available: 1 Insufficient cpu.");
    let creating = pod(r#"{"phase": "Pending", "containerStatuses": [{"state":
        {"waiting": {"reason": "ContainerCreating"}}}]}"#);
    assert_eq!(trouble(&creating, &[event("a-0")]).unwrap(), "FailedMount: no secret");
    assert_eq!(trouble(&creating, &[event("a-1")]), None, "the warning is about another pod");
}

#[test]
fn a_pod_that_runs_is_not_blamed_for_what_it_was_warned_of_before() {
    let runs = pod(r#"{"phase": "Running", "containerStatuses": [{"state": {}}]}"#);
    assert_eq!(trouble(&runs, &[event("a-0")]), None);
    let waits = pod(r#"{"phase": "Running", "containerStatuses": [{"state":
        {"waiting": {"reason": "CrashLoopBackOff"}}}]}"#);
    assert_eq!(trouble(&waits, &[event("a-0")]).unwrap(), "CrashLoopBackOff");
}
