#!/usr/bin/env bash
# Installs the programs that tests (no argument) or benchmarks (`bench`) need beside the toolchains; the demo
# (`demo`) needs none, only cargo.
# What is already there is left as it is, whoever put it there.
set -euo pipefail

POLICY=/usr/sbin/policy-rc.d
POLICY_SAVED=/usr/sbin/policy-rc.d.before-plimsoll
POLICY_MARK="# written by Plimsoll's setup for one installation"

fail() {
    printf 'setup: %s\n' "$1" >&2
    exit 1
}

# Servers live in /usr/sbin, which is not on the PATH of an ordinary user.
have() {
    PATH="$PATH:/usr/sbin:/sbin" command -v "$1" >/dev/null 2>&1
}

as_root() {
    if [ "$(id -u)" -eq 0 ]; then
        "$@"
    else
        sudo "$@"
    fi
}

missing_packages() {
    if [ "${1:-}" = demo ]; then
        return 0
    elif [ "${1:-}" = bench ]; then
        have ab || printf 'apache2-utils\n'
        have hey || printf 'hey\n'
        have taskset || printf 'util-linux\n'
        have python3 || printf 'python3-minimal\n'
        [ -e /usr/lib/nginx/modules/ngx_http_echo_module.so ] || printf 'libnginx-mod-http-echo\n'
    else
        have nginx || printf 'nginx-light\n'
        have wrk || printf 'wrk\n'
        have nghttpd || printf 'nghttp2-server\n'
    fi
}

require_means() {
    have cargo || fail "cargo is not on the PATH; install Rust with rustup, the version is in rust-toolchain.toml"
    [ $# -eq 0 ] && return 0
    have apt-get || fail "missing: $*. There is no apt-get here: install them with this system's package tool (nginx with its stub_status module, nghttpd of nghttp2) and run make again"
    [ "$(id -u)" -eq 0 ] || have sudo || fail "missing: $*. Installing needs root or sudo: run 'apt-get install $*' as root, then make again"
}

# A Debian package that brings a service starts it when installed. Debian asks policy-rc.d first, and 101 means
# «no». A policy that already says no is kept; any other is put aside and comes back when this script ends. The mark
# tells a policy that an earlier, killed run left behind: it counts as ours, and goes when this run ends.
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

# Not started now is not enough: the package also enables the service for the next boot.
keep_nginx_off_at_boot() {
    have systemctl || return 0
    as_root systemctl disable nginx.service >/dev/null 2>&1 ||
        printf 'setup: could not disable nginx.service; it may start at the next boot\n' >&2
}

install_packages() {
    printf 'setup: installing %s\n' "$*"
    forbid_service_starts
    as_root apt-get update -qq || fail "apt-get update failed; check the network and the package sources"
    as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "$@" ||
        fail "apt-get could not install: $*; its message is above"
    case " $* " in
    *" nginx-light "*) keep_nginx_off_at_boot ;;
    esac
}

main() {
    local packages=()
    mapfile -t packages < <(missing_packages "${1:-}")
    require_means "${packages[@]}"
    if [ "${#packages[@]}" -gt 0 ]; then
        install_packages "${packages[@]}"
    fi
}

main "$@"
