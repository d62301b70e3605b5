//! Redis, memcached, MariaDB.

use plimsoll_plan::Probe;
use plimsoll_record::metric::{mariadb, memcached, redis};
use plimsoll_record::{Metric, Source};
use plimsoll_testkit::Server;

use crate::{Probed, connect, say};

fn redis(address: &str, password: Option<&str>) -> Probed {
    let password = password.map(ToOwned::to_owned);
    Probed::new(&Probe::Redis { password, address: address.parse().unwrap() })
}

fn mariadb(address: &str, password: &str) -> Probed {
    let (user, password) = (Server::MARIADB_USER.to_owned(), Some(password.to_owned()));
    Probed::new(&Probe::Mariadb { user, password, address: address.parse().unwrap() })
}

#[test]
fn redis_reports_its_commands_clients_and_memory() {
    let redis = Server::redis(&["--maxmemory", "64mb", "--maxclients", "50"]).unwrap();
    let address = redis.address().to_string();
    let mut probed = self::redis(&address, None);
    let before = probed.counters_once(Source::Redis, &address, &[(redis::CONNECTED_CLIENTS, 1)]);
    let mut user = connect(redis.address());
    for _ in 0..10 {
        say(&mut user, "SET a 1\r\n", "+OK\r\n");
    }
    let after = probed.counters(Source::Redis, &address);
    let grown = after[redis::COMMANDS] - before[redis::COMMANDS];
    assert!((11..=11 + probed.missed).contains(&grown), "{grown}: ten of the user, one of the probe");
    let clients = after[redis::CONNECTED_CLIENTS];
    assert!((2..=2 + probed.missed).contains(&clients), "{clients}: the probe keeps its connection");
    assert_eq!(after[redis::MAX_CLIENTS], 50);
    assert_eq!(after[redis::MAXMEMORY_BYTES], 64 << 20);
    assert!(after[redis::USED_MEMORY_BYTES] > 100_000 && after[redis::CPU_US] >= before[redis::CPU_US]);
    assert!(after[redis::MAIN_THREAD_CPU_US] <= after[redis::CPU_US], "{after:?}");
    assert_eq!((after[redis::REJECTED_CONNECTIONS], after[redis::BLOCKED_CLIENTS]), (0, 0));
}

#[test]
fn redis_without_a_limit_of_memory_has_none_of_zero() {
    let redis = Server::redis(&[]).unwrap();
    let address = redis.address().to_string();
    // A password that is not required is not sent either.
    let mut probed = self::redis(&address, Some("not required"));
    assert!(probed.counters(Source::Redis, &address).get(redis::MAXMEMORY_BYTES).is_none());
}

#[test]
fn redis_with_a_password_answers_a_user_who_knows_it() {
    let redis = Server::redis(&["--requirepass", "open sesame"]).unwrap();
    let address = redis.address().to_string();
    let mut knows = self::redis(&address, Some("open sesame"));
    knows.counters_once(Source::Redis, &address, &[(redis::CONNECTED_CLIENTS, 1)]);
    let mut user = connect(redis.address());
    say(&mut user, "AUTH \"open sesame\"\r\n", "+OK\r\n");
    say(&mut user, "CLIENT KILL TYPE normal SKIPME yes\r\n", "\r\n");
    // It is let in again after a cut.
    knows.counters_once(Source::Redis, &address, &[(redis::CONNECTED_CLIENTS, 2)]);
    let why = self::redis(&address, None).failure();
    assert!(why.contains("NOAUTH") && why.contains("redis://:password@host"), "{why}");
    let why = self::redis(&address, Some("guess")).failure();
    assert!(why.contains("WRONGPASS") && !why.contains("guess"), "{why}");
}

#[test]
fn memcached_reports_its_commands_and_connections() {
    let memcached = Server::memcached().unwrap();
    let address = memcached.address().to_string();
    let mut probed = Probed::new(&Probe::Memcached(address.parse().unwrap()));
    // The connection that waited for the server's start is closed by then. Whether it was counted depends on the server's
    // threads.
    let before = probed.counters_once(Source::Memcached, &address, &[(memcached::CURR_CONNECTIONS, 1)]);
    let mut user = connect(memcached.address());
    say(&mut user, "set a 0 0 1\r\nx\r\n", "STORED\r\n");
    for _ in 0..3 {
        say(&mut user, "get a\r\n", "END\r\n");
    }
    let after = probed.counters_once(Source::Memcached, &address, &[(memcached::CURR_CONNECTIONS, 2)]);
    let grown = |metric: Metric| after[metric] - before[metric];
    assert_eq!(
        (grown(memcached::COMMANDS_GET), grown(memcached::COMMANDS_SET), grown(memcached::GET_MISSES)),
        (3, 1, 0)
    );
    assert!(grown(memcached::CONNECTIONS) >= 1);
    assert_eq!((after[memcached::THREADS], after[memcached::LISTEN_DISABLED]), (2, 0));
    assert!(after[memcached::MAX_CONNECTIONS] >= 1000 && after.get(memcached::CPU_US).is_some(), "{after:?}");
}

#[test]
fn mariadb_reports_its_questions_threads_and_limits_to_users_it_knows() {
    let mariadb = Server::mariadb(&["--max-connections=17"]).unwrap();
    let address = mariadb.address().to_string();
    let mut probed = self::mariadb(&address, Server::MARIADB_PASSWORD);
    let first = probed.counters_once(Source::Mariadb, &address, &[(mariadb::THREADS_CONNECTED, 1)]);
    let second = probed.counters(Source::Mariadb, &address);
    if probed.missed == 0 {
        let questions = second[mariadb::QUESTIONS] - first[mariadb::QUESTIONS];
        assert_eq!(questions, 2, "two of the probe, over one connection");
        assert_eq!(second[mariadb::CONNECTIONS], first[mariadb::CONNECTIONS]);
        assert_eq!(second[mariadb::THREADS_CONNECTED], 1);
    }
    assert_eq!(second[mariadb::MAX_CONNECTIONS], 17);
    let all = [
        mariadb::THREADS_RUNNING,
        mariadb::INNODB_ROW_LOCK_TIME_MS,
        mariadb::INNODB_ROW_LOCK_WAITS,
        mariadb::INNODB_DATA_FSYNCS,
        mariadb::COMMITS,
        mariadb::ABORTED_CONNECTS,
        mariadb::CONNECTION_ERRORS_MAX_CONNECTIONS,
    ];
    for metric in all {
        assert!(second.get(metric).is_some(), "{metric:?} of {second:?}");
    }
    let why = self::mariadb(&address, "guess").failure();
    assert!(why.contains(Server::MARIADB_USER) && why.contains("mariadb://user:password@host"), "{why}");
    assert!(!why.contains("guess"), "{why}");
}
