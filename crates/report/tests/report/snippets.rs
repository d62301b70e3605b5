//! Settings that protect a service: what the real programs say of them, and the texts.

use std::path::{Path, PathBuf};
use std::process::Command;

use plimsoll_analyze::Protection;
use plimsoll_plan::Protector;
use plimsoll_report::snippet;

const LIMITS: Protection = Protection {
    rate_per_sec: 742.7,
    burst: 19,
    concurrency: 75,
    in_progress: 9.4,
    limit_ms: Some(200.0),
    wait_ms: 50.0,
};

fn text(protector: Protector) -> String {
    snippet(protector, &LIMITS, "http://api.test:8080/orders")
}

/// A program of the system, which may be in a folder for administrators.
fn program(name: &str) -> PathBuf {
    let folders = ["/usr/sbin", "/usr/local/sbin", "/usr/bin", "/usr/local/bin"];
    let found = folders.iter().map(|folder| Path::new(folder).join(name)).find(|path| path.is_file());
    found.unwrap_or_else(|| panic!("{name} is not installed; `make setup` installs it"))
}

fn accepts(command: &mut Command) {
    let output = command.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn nginx_takes_its_settings_as_an_included_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    std::fs::write(path("overload.conf"), text(Protector::Nginx)).unwrap();
    let whole = "error_log stderr; pid nginx.pid; events {} http { include overload.conf; access_log off; \
                 client_body_temp_path b; proxy_temp_path p; fastcgi_temp_path f; uwsgi_temp_path u; scgi_temp_path s; \
                 server { listen 127.0.0.1:1; location / { proxy_pass http://127.0.0.1:2; } } }";
    std::fs::write(path("nginx.conf"), whole).unwrap();
    let prefix = folder.path().to_str().unwrap();
    accepts(
        Command::new(program("nginx"))
            .args(["-t", "-q", "-e", "stderr", "-p", prefix, "-c"])
            .arg(path("nginx.conf")),
    );
}

#[test]
fn haproxy_takes_its_settings_within_a_backend() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("haproxy.cfg");
    let whole = format!(
        "defaults\n    mode http\n    timeout connect 1s\n    timeout client 9s\n    timeout server 9s\n\
         frontend front\n    bind 127.0.0.1:8080\n    default_backend api\nbackend api\n{}    server one 127.0.0.1:8081\n",
        text(Protector::Haproxy)
    );
    std::fs::write(&path, whole).unwrap();
    accepts(Command::new(program("haproxy")).args(["-c", "-q", "-f"]).arg(&path));
}

#[test]
fn every_program_gets_the_limits_in_its_own_words() {
    let all = Protector::ALL.map(|protector| format!("==== {}\n{}", protector.name(), text(protector)));
    insta::assert_snapshot!(all.concat());
}

#[test]
fn a_url_cannot_leave_its_comment() {
    let url = "http://api.test/\n*/ daemon off;";
    for protector in Protector::ALL {
        let text = snippet(protector, &LIMITS, url);
        let line = text.lines().find(|line| line.contains("daemon off")).unwrap();
        assert!(line.starts_with('#') || line.starts_with("//"), "{text}");
    }
}

#[test]
fn a_low_rate_is_let_in_once_a_second() {
    let slow = Protection { rate_per_sec: 7.0, ..LIMITS };
    let text = snippet(Protector::Resilience4j, &slow, "http://api.test/");
    assert!(text.contains("limitForPeriod: 7\n") && text.contains("limitRefreshPeriod: 1000ms"), "{text}");
}
