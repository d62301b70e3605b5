//! Settings that protect a service: what the real programs say of them, and the texts.

use std::path::{Path, PathBuf};
use std::process::Command;

use plimsoll_analyze::Protection;
use plimsoll_plan::Protector;
use plimsoll_report::snippet;

const LIMITS: Protection = Protection {
    rate_per_sec: 742.7,
    burst: 37,
    concurrency: 75,
    in_progress: 9.4,
    limit_ms: Some(200.0),
    wait_ms: 50.0,
};
/// A rate that is no whole number.
const SLOW: Protection = Protection { rate_per_sec: 7.89, burst: 20, ..LIMITS };

fn text(protector: Protector) -> String {
    of(protector, &LIMITS)
}

fn of(protector: Protector, limits: &Protection) -> String {
    snippet(protector, limits, "http://api.test:8080/orders")
}

/// A program of the system, which may be in a folder for administrators.
fn program(name: &str) -> PathBuf {
    let folders = ["/usr/sbin", "/usr/local/sbin", "/usr/bin", "/usr/local/bin"];
    let found = folders.iter().map(|folder| Path::new(folder).join(name)).find(|path| path.is_file());
    found.unwrap_or_else(|| panic!("{name} is not installed; `make setup` installs it"))
}

fn accepts(command: &mut Command) {
    let output = command.output().unwrap();
    let said = String::from_utf8_lossy(&[output.stderr, output.stdout].concat()).into_owned();
    assert!(output.status.success(), "{said}");
}

/// More at a time than nginx counts.
const MANY: Protection = Protection { rate_per_sec: 70_000.0, concurrency: 70_000, ..LIMITS };

#[test]
fn nginx_takes_its_settings_as_an_included_file() {
    for limits in [LIMITS, SLOW, MANY] {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        std::fs::write(path("overload.conf"), of(Protector::Nginx, &limits)).unwrap();
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
}

#[test]
fn haproxy_takes_its_settings_within_a_backend() {
    for limits in [LIMITS, SLOW] {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("haproxy.cfg");
        let whole = format!(
            "defaults\n    mode http\n    timeout connect 1s\n    timeout client 9s\n    timeout server 9s\n\
             frontend front\n    bind 127.0.0.1:8080\n    default_backend api\n\
             backend api\n{}    server one 127.0.0.1:8081\n",
            of(Protector::Haproxy, &limits)
        );
        std::fs::write(&path, whole).unwrap();
        accepts(Command::new(program("haproxy")).args(["-c", "-q", "-f"]).arg(&path));
    }
}

/// A proxy in front of a service, with the filters and the circuit breakers of the settings in their places.
fn envoy_configuration(settings: &str) -> String {
    let (breakers, filters) = settings.split_once("http_filters:\n").unwrap();
    let indented = |text: &str, by: &str| -> String {
        text.lines().filter(|line| !line.starts_with('#')).map(|line| format!("{by}{line}\n")).collect()
    };
    format!(
        r#"static_resources:
  listeners:
  - address: {{ socket_address: {{ address: 127.0.0.1, port_value: 0 }} }}
    filter_chains:
    - filters:
      - name: envoy.filters.network.http_connection_manager
        typed_config:
          "@type": type.googleapis.com/envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager
          stat_prefix: front
          route_config:
            virtual_hosts:
            - {{ name: all, domains: ["*"], routes: [{{ match: {{ prefix: "/" }}, route: {{ cluster: api }} }}] }}
          http_filters:
{}          - name: envoy.filters.http.router
            typed_config: {{ "@type": type.googleapis.com/envoy.extensions.filters.http.router.v3.Router }}
  clusters:
  - name: api
    load_assignment:
      cluster_name: api
      endpoints:
      - lb_endpoints:
        - endpoint: {{ address: {{ socket_address: {{ address: 127.0.0.1, port_value: 8081 }} }} }}
{}"#,
        indented(filters, "          "),
        indented(breakers, "    ")
    )
}

#[test]
fn envoy_takes_its_settings_within_a_listener_and_a_cluster() {
    for limits in [LIMITS, SLOW] {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("envoy.yaml");
        std::fs::write(&path, envoy_configuration(&of(Protector::Envoy, &limits))).unwrap();
        accepts(Command::new(program("envoy")).args(["--mode", "validate", "-c"]).arg(&path));
    }
}

/// Compiles the settings, and calls a server that has them.
#[test]
fn a_grpc_server_with_its_settings_refuses_calls_and_streams_beyond_them() {
    let folder = tempfile::tempdir().unwrap();
    let slow = Protection { rate_per_sec: 1.5, burst: 5, concurrency: 2, ..LIMITS };
    for (name, text) in [
        ("go.mod", include_str!("grpc/go.mod")),
        ("go.sum", include_str!("grpc/go.sum")),
        ("limits_test.go", include_str!("grpc/limits_test.go")),
        ("limits.go", &of(Protector::Grpc, &slow)),
    ] {
        std::fs::write(folder.path().join(name), text).unwrap();
    }
    accepts(Command::new("go").args(["vet", "."]).current_dir(folder.path()));
    accepts(Command::new("go").args(["test", "."]).current_dir(folder.path()));
}

#[test]
fn every_program_gets_the_limits_in_its_own_words() {
    for protector in Protector::ALL {
        insta::assert_snapshot!(format!("settings_of_{}", protector.name()), text(protector));
    }
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
