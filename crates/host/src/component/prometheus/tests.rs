use plimsoll_record::metric::{core, cpu, disk, go, interface, jvm, memory, tcp};
use plimsoll_record::{Counters, Reading};

use super::*;

fn read(page: &str) -> Vec<Read> {
    super::read(page, "10.0.0.1:8080").unwrap()
}

fn counters<'a>(reads: &'a [Read], source: Source, subject: &str) -> &'a Counters {
    let found = reads.iter().find(|read| read.source == source && read.subject == subject);
    match found.map(|read| &read.reading) {
        Some(Reading::Ok(counters)) => counters,
        other => panic!("{source} {subject}: {other:?} of {reads:?}"),
    }
}

#[test]
fn an_exporters_page_reads_like_the_hosts_own_files() {
    let reads = read(
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
         node_network_receive_bytes_total{device=\"tun0\"} 3\n\
         node_network_speed_bytes{device=\"tun0\"} 1.25e6\n\
         node_netstat_TcpExt_ListenDrops 4\n\
         go_goroutines 9\nprocess_cpu_seconds_total 3\n",
    );
    let cpu = counters(&reads, Source::Cpu, "");
    assert_eq!((cpu[cpu::USER_MS], cpu[cpu::TOTAL_MS], cpu[cpu::CORES]), (11_500, 101_000, 2));
    assert_eq!(counters(&reads, Source::Core, "1")[core::TOTAL_MS], 1000);
    assert_eq!(counters(&reads, Source::Memory, "")[memory::SWAP_USED_BYTES], 40);
    assert_eq!(counters(&reads, Source::Disk, "sda")[disk::BUSY_MS], 1250);
    assert_eq!(counters(&reads, Source::Interface, "eth0")[interface::SPEED_BITS_PER_SEC], 1_000_000_000);
    for made_up in ["veth1", "tun0"] {
        let counters = counters(&reads, Source::Interface, made_up);
        assert!(counters.get(interface::SPEED_BITS_PER_SEC).is_none(), "{made_up}");
        assert_eq!(counters[interface::RECEIVED_BYTES], 3, "{made_up}");
    }
    assert_eq!(counters(&reads, Source::Tcp, "")[tcp::LISTEN_DROPS], 4);
    let of_exporter = |read: &Read| matches!(read.source, Source::Go | Source::Prometheus);
    assert!(!reads.iter().any(of_exporter), "nothing of the exporter itself: {reads:?}");
    assert!(!reads.iter().any(|read| read.subject == "lo"), "there is another interface");
    let absent = reads.iter().find(|read| read.source == Source::Conntrack).unwrap();
    assert_eq!(absent.reading, Reading::Absent, "missing is never zero");
}

#[test]
fn a_spring_boot_page_is_a_jvm() {
    let reads = read(
        "jvm_gc_pause_seconds_sum{action=\"minor\",gc=\"G1\"} 1.5\njvm_gc_pause_seconds_sum{action=\"major\"} 0.25\n\
         jvm_gc_pause_seconds_count{action=\"minor\"} 3\n\
         jvm_memory_used_bytes{area=\"heap\",id=\"Eden\"} 10\njvm_memory_used_bytes{area=\"heap\",id=\"Old\"} 20\n\
         jvm_memory_used_bytes{area=\"nonheap\",id=\"Meta\"} 99\n\
         jvm_memory_max_bytes{area=\"heap\",id=\"Eden\"} -1\njvm_memory_max_bytes{area=\"heap\",id=\"Old\"} 64\n\
         jvm_threads_live_threads 21\ntomcat_threads_busy_threads{name=\"http\"} 7\n\
         tomcat_threads_config_max_threads{name=\"http\"} 200\nhttp_requests_total 5\n",
    );
    let jvm = counters(&reads, Source::Jvm, "10.0.0.1:8080");
    assert_eq!((jvm[jvm::GC_TIME_MS], jvm[jvm::GC_COUNT]), (1750, 3));
    assert_eq!((jvm[jvm::HEAP_USED_BYTES], jvm[jvm::HEAP_MAX_BYTES]), (30, 64));
    assert_eq!((jvm[jvm::REQUEST_THREADS_BUSY], jvm[jvm::REQUEST_THREADS_MAX]), (7, 200));
    assert!(jvm.get(jvm::POOL_MAX).is_none(), "missing is never zero");
    assert_eq!(counters(&reads, Source::Prometheus, "10.0.0.1:8080").named("http_requests_total"), Some(5));
}

#[test]
fn the_java_clients_and_the_go_clients_names_are_known_too() {
    let reads = read(
        "jvm_gc_collection_seconds_sum{gc=\"Copy\"} 0.5\njvm_memory_bytes_used{area=\"heap\"} 8\n\
         jvm_threads_current 4\ngo_goroutines 12\ngo_gc_duration_seconds{quantile=\"0\"} 1\n\
         go_gc_duration_seconds_sum 0.001\n",
    );
    let jvm = counters(&reads, Source::Jvm, "10.0.0.1:8080");
    assert_eq!((jvm[jvm::GC_TIME_MS], jvm[jvm::HEAP_USED_BYTES], jvm[jvm::THREADS]), (500, 8, 4));
    let go = counters(&reads, Source::Go, "10.0.0.1:8080");
    assert_eq!((go[go::GOROUTINES], go[go::GC_PAUSE_US]), (12, 1000));
}

#[test]
fn a_page_of_which_nothing_is_kept_is_a_failure() {
    for page in ["a_bucket{le=\"1\"} 3\na{quantile=\"0.5\"} 1\n", "temperature -4\n"] {
        assert!(super::read(page, "10.0.0.1:8080").is_err(), "{page}");
    }
}
