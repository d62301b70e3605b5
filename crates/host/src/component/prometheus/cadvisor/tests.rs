use super::*;

/// Rows of a kubelet 1.33's page about one pod under load; paths of groups, images and ids are cut out.
const PAGE: &str = include_str!("page.txt");
const POD: &str = "api-8546d674c4-vk4dq";

fn of_pod(namespace: &str, pod: &str) -> Vec<Measured> {
    measured(PAGE, namespace, &BTreeSet::from([pod.to_owned()])).unwrap()
}

#[test]
fn a_container_has_its_group_and_a_pod_its_network() {
    let [network, group] = &of_pod("default", POD)[..] else { panic!("two subjects") };
    assert_eq!((group.source, group.subject.as_str()), (Source::Cgroup, "api-8546d674c4-vk4dq/target"));
    assert_eq!(group.time_ms, Some(1_795_655_147_368));
    let expected = [
        (cgroup::USAGE_US, 7_693_647),
        (cgroup::PERIODS, 157),
        (cgroup::THROTTLED_PERIODS, 151),
        (cgroup::THROTTLED_US, 1_775_348),
        (cgroup::QUOTA_US, 50_000),
        (cgroup::PERIOD_US, 100_000),
        (cgroup::MEMORY_LIMIT_BYTES, 134_217_728),
    ];
    for (metric, value) in expected {
        assert_eq!(group.counters.get(metric), Some(value), "{}", metric.name);
    }
    assert_eq!((network.source, network.subject.as_str()), (Source::Interface, "api-8546d674c4-vk4dq/eth0"));
    assert_eq!(network.counters.get(interface::SENT_PACKETS), Some(23_803));
}

#[test]
fn other_pods_and_other_namespaces_are_left_out() {
    assert!(of_pod("default", "api-other").is_empty());
    assert!(of_pod("shop", POD).is_empty());
}
