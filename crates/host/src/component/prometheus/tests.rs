use super::*;

fn told(page: &str) -> Told {
    sources(&rows(page).unwrap(), "10.0.0.1:8080")
}

fn counters<'a>(told: &'a Told, source: &str, subject: &str) -> &'a plimsoll_record::Counters {
    let found = told.iter().find(|(name, of, _)| *name == source && of == subject);
    match found {
        Some((_, _, Reading::Ok(counters))) => counters,
        other => panic!("{source} {subject}: {other:?} of {told:?}"),
    }
}

#[test]
fn an_exporters_page_reads_like_the_hosts_own_files() {
    let told = told(
        "node_cpu_seconds_total{cpu=\"0\",mode=\"user\"} 10.5\n\
         node_cpu_seconds_total{cpu=\"0\",mode=\"idle\"} 89.5\n\
         node_cpu_seconds_total{cpu=\"1\",mode=\"user\"} 1\n\
         node_cpu_guest_seconds_total{cpu=\"0\",mode=\"user\"} 5\n\
         node_memory_SwapTotal_bytes 100\nnode_memory_SwapFree_bytes 60\n\
         node_disk_io_time_seconds_total{device=\"sda\"} 1.25\n\
         node_network_receive_bytes_total{device=\"lo\"} 5\n\
         node_network_receive_bytes_total{device=\"eth0\"} 1e9\n\
         node_network_speed_bytes{device=\"eth0\"} 1.25e8\n\
         node_network_receive_bytes_total{device=\"veth1\"} 3\n\
         node_network_speed_bytes{device=\"veth1\"} 1.25e9\n\
         node_netstat_TcpExt_ListenDrops 4\n\
         go_goroutines 9\nprocess_cpu_seconds_total 3\n",
    );
    let cpu = counters(&told, "cpu", "");
    assert_eq!((cpu["user_ms"], cpu["total_ms"], cpu["cores"]), (11_500, 101_000, 2));
    assert_eq!(counters(&told, "core", "1")["total_ms"], 1000);
    assert_eq!(counters(&told, "memory", "")["swap_used_bytes"], 40);
    assert_eq!(counters(&told, "disk", "sda")["busy_ms"], 1250);
    assert_eq!(counters(&told, "interface", "eth0")["speed_bits_per_sec"], 1_000_000_000);
    assert!(!counters(&told, "interface", "veth1").contains_key("speed_bits_per_sec"));
    assert_eq!(counters(&told, "tcp", "")["listen_drops"], 4);
    let names: Vec<&str> = told.iter().map(|(name, ..)| *name).collect();
    assert!(!names.contains(&"go") && !names.contains(&"prometheus"), "the exporter itself: {names:?}");
    assert!(!told.iter().any(|(_, subject, _)| subject == "lo"), "there is another interface");
    let absent = told.iter().find(|(name, ..)| *name == "conntrack").unwrap();
    assert_eq!(absent.2, Reading::Absent, "missing is never zero");
}

#[test]
fn a_spring_boot_page_is_a_jvm() {
    let told = told(
        "jvm_gc_pause_seconds_sum{action=\"minor\",gc=\"G1\"} 1.5\njvm_gc_pause_seconds_sum{action=\"major\"} 0.25\n\
         jvm_gc_pause_seconds_count{action=\"minor\"} 3\n\
         jvm_memory_used_bytes{area=\"heap\",id=\"Eden\"} 10\njvm_memory_used_bytes{area=\"heap\",id=\"Old\"} 20\n\
         jvm_memory_used_bytes{area=\"nonheap\",id=\"Meta\"} 99\n\
         jvm_memory_max_bytes{area=\"heap\",id=\"Eden\"} -1\njvm_memory_max_bytes{area=\"heap\",id=\"Old\"} 64\n\
         jvm_threads_live_threads 21\ntomcat_threads_busy_threads{name=\"http\"} 7\n\
         tomcat_threads_config_max_threads{name=\"http\"} 200\nhttp_requests_total 5\n",
    );
    let jvm = counters(&told, "jvm", "10.0.0.1:8080");
    assert_eq!((jvm["gc_time_ms"], jvm["gc_count"]), (1750, 3));
    assert_eq!((jvm["heap_used_bytes"], jvm["heap_max_bytes"]), (30, 64));
    assert_eq!((jvm["request_threads_busy"], jvm["request_threads_max"]), (7, 200));
    assert!(!jvm.contains_key("pool_max"), "missing is never zero");
    assert_eq!(counters(&told, "prometheus", "10.0.0.1:8080")["http_requests_total"], 5);
}

#[test]
fn the_java_clients_and_the_go_clients_names_are_known_too() {
    let told = told(
        "jvm_gc_collection_seconds_sum{gc=\"Copy\"} 0.5\njvm_memory_bytes_used{area=\"heap\"} 8\n\
         jvm_threads_current 4\ngo_goroutines 12\ngo_gc_duration_seconds{quantile=\"0\"} 1\n\
         go_gc_duration_seconds_sum 0.001\n",
    );
    let jvm = counters(&told, "jvm", "10.0.0.1:8080");
    assert_eq!((jvm["gc_time_ms"], jvm["heap_used_bytes"], jvm["threads"]), (500, 8, 4));
    let go = counters(&told, "go", "10.0.0.1:8080");
    assert_eq!((go["goroutines"], go["gc_pause_us"]), (12, 1000));
}
