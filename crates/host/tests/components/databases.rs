//! Redis, memcached, MariaDB.

use plimsoll_host::{Component, Login};
use plimsoll_testkit::{Mariadb, Memcached, Redis};

use crate::{Probed, connect, say};

#[test]
fn redis_tells_its_commands_clients_and_memory() {
    let redis = Redis::start(&["--maxmemory", "64mb", "--maxclients", "50"]).unwrap();
    let address = redis.address().to_string();
    let mut probed = Probed::new(Component::redis(&address, None));
    let before = probed.counters_once("redis", &address, &[("connected_clients", 1)]);
    let mut user = connect(redis.address());
    for _ in 0..10 {
        say(&mut user, "SET a 1\r\n", "+OK\r\n");
    }
    let after = probed.counters("redis", &address);
    assert_eq!(after["commands"] - before["commands"], 11, "ten of the user, one of the probe");
    assert_eq!((after["connected_clients"], after["max_clients"]), (2, 50), "the probe keeps its connection");
    assert_eq!(after["maxmemory_bytes"], 64 << 20);
    assert!(after["used_memory_bytes"] > 100_000 && after["cpu_us"] >= before["cpu_us"]);
    assert!(after["main_thread_cpu_us"] <= after["cpu_us"], "{after:?}");
    assert_eq!((after["rejected_connections"], after["blocked_clients"]), (0, 0));
}

#[test]
fn redis_without_a_limit_of_memory_has_none_of_zero() {
    let redis = Redis::start(&[]).unwrap();
    let address = redis.address().to_string();
    // A password that is not wanted is not sent either.
    let mut probed = Probed::new(Component::redis(&address, Some("not wanted")));
    assert!(!probed.counters("redis", &address).contains_key("maxmemory_bytes"));
}

#[test]
fn redis_with_a_password_tells_whoever_knows_it() {
    let redis = Redis::start(&["--requirepass", "open sesame"]).unwrap();
    let address = redis.address().to_string();
    let mut knows = Probed::new(Component::redis(&address, Some("open sesame")));
    knows.counters_once("redis", &address, &[("connected_clients", 1)]);
    let mut user = connect(redis.address());
    say(&mut user, "AUTH \"open sesame\"\r\n", "+OK\r\n");
    say(&mut user, "CLIENT KILL TYPE normal SKIPME yes\r\n", "\r\n");
    assert_eq!(knows.counters("redis", &address)["connected_clients"], 2, "it is let in again after a cut");
    let why = Probed::new(Component::redis(&address, None)).failure();
    assert!(why.contains("NOAUTH") && why.contains("redis://:password@host"), "{why}");
    let why = Probed::new(Component::redis(&address, Some("guess"))).failure();
    assert!(why.contains("WRONGPASS") && !why.contains("guess"), "{why}");
}

#[test]
fn memcached_tells_its_commands_and_connections() {
    let memcached = Memcached::start().unwrap();
    let address = memcached.address().to_string();
    let mut probed = Probed::new(Component::memcached(&address));
    // The listener is a connection too.
    let settled = [("connections", 3), ("curr_connections", 1)];
    let before = probed.counters_once("memcached", &address, &settled);
    let mut user = connect(memcached.address());
    say(&mut user, "set a 0 0 1\r\nx\r\n", "STORED\r\n");
    for _ in 0..3 {
        say(&mut user, "get a\r\n", "END\r\n");
    }
    let after = probed.counters("memcached", &address);
    let grown = |name: &str| after[name] - before[name];
    assert_eq!((grown("commands_get"), grown("commands_set"), grown("get_misses")), (3, 1, 0));
    assert_eq!((after["threads"], grown("curr_connections"), after["listen_disabled"]), (2, 1, 0));
    assert!(after["max_connections"] >= 1000 && after.contains_key("cpu_us"), "{after:?}");
}

#[test]
fn mariadb_tells_its_questions_threads_and_limits_to_users_it_knows() {
    let mariadb = Mariadb::start(&["--max-connections=17"]).unwrap();
    let address = mariadb.address().to_string();
    let login =
        |password: &str| Login { user: Mariadb::USER.to_owned(), password: Some(password.to_owned()) };
    let mut probed = Probed::new(Component::mariadb(&address, login(Mariadb::PASSWORD)));
    let first = probed.counters_once("mariadb", &address, &[("threads_connected", 1)]);
    let second = probed.counters("mariadb", &address);
    assert_eq!(second["questions"] - first["questions"], 2, "two of the probe, over one connection");
    assert_eq!(second["connections"], first["connections"]);
    assert_eq!((second["threads_connected"], second["max_connections"]), (1, 17));
    let all = ["threads_running", "innodb_row_lock_time_ms", "innodb_row_lock_waits", "innodb_data_fsyncs"];
    let rest = ["commits", "aborted_connects", "connection_errors_max_connections"];
    for name in all.iter().chain(&rest) {
        assert!(second.contains_key(name), "{name} of {second:?}");
    }
    let why = Probed::new(Component::mariadb(&address, login("guess"))).failure();
    assert!(why.contains(Mariadb::USER) && why.contains("mariadb://user:password@host"), "{why}");
    assert!(!why.contains("guess"), "{why}");
}
