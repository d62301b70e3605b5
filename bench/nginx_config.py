"""The configuration of the nginx that all tools are measured against."""

import pathlib
import subprocess

import pinned

BODY = '{"status":"ok"}'
RECORD = '{"id":"0123456789abcdef","state":"paid","note":"sixty-four bytes"}'
# Twenty-two records and their brackets are about 1.5 KB, the size of an ordinary API's response.
RECORDS = "[" + ",".join([RECORD] * 22) + "]"
LARGE_BYTES = 100 * 1024
# One version and one cipher, so that every client does the same work whatever it would offer first.
CIPHER = "TLS_AES_128_GCM_SHA256"


def write(folder, ports, descriptors):
    """Writes certificate, large file and configuration into a folder; returns the configuration's path."""
    folder = pathlib.Path(folder)
    make_certificate(folder)
    (folder / "large.bin").write_bytes(b"x" * LARGE_BYTES)
    path = folder / "nginx.conf"
    path.write_text(text(folder, ports, descriptors), encoding="ascii")
    return path


def make_certificate(folder):
    """Makes a self-signed certificate for loopback, which lives as long as the folder."""
    argv = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2",
            "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1",
            "-keyout", f"{folder}/key.pem", "-out", f"{folder}/cert.pem"]
    try:
        made = subprocess.run(argv, capture_output=True, text=True, timeout=60, check=False)
    except FileNotFoundError as error:
        raise pinned.BenchError("openssl is missing; run make setup-bench") from error
    if made.returncode:
        raise pinned.BenchError(f"openssl made no certificate: {made.stderr[-400:]}")


def locations(folder):
    """Returns the locations, which are the same on every port.

    `/paced` answers after 5 ms and at most 5000 times a second, so its limit is nginx's own and known beforehand.
    """
    return f"""
        location = /stub {{ stub_status; }}
        location = /records {{ return 200 '{RECORDS}'; }}
        location = /large {{ alias {folder}/large.bin; }}
        location = /paced {{
            limit_req zone=paced burst=100000;
            limit_req_log_level info;
            echo_sleep 0.005;
            echo '{BODY}';
        }}
        location / {{ return 200 '{BODY}'; }}
"""


def text(folder, ports, descriptors):
    """Returns the configuration: one worker, no logs, no end to a keep-alive connection, answers from memory or the page cache."""
    listening = {"plain": "", "tls": " ssl", "h2": " ssl http2"}
    shared = locations(folder)
    servers = "".join(f"""
    server {{
        listen 127.0.0.1:{ports[site]} backlog=65535{option};{shared}    }}""" for site, option in listening.items())
    return f"""
load_module /usr/lib/nginx/modules/ngx_http_echo_module.so;
daemon off;
worker_processes 1;
worker_rlimit_nofile {descriptors};
pid {folder}/nginx.pid;
error_log {folder}/error.log error;
events {{ worker_connections {descriptors}; multi_accept on; }}
http {{
    access_log off;
    keepalive_requests 1000000000;
    keepalive_timeout 3600s;
    default_type application/json;
    sendfile on;
    open_file_cache max=16 inactive=1h;
    open_file_cache_valid 1h;
    open_file_cache_min_uses 1;
    http2_max_concurrent_streams 128;
    ssl_certificate {folder}/cert.pem;
    ssl_certificate_key {folder}/key.pem;
    ssl_protocols TLSv1.3;
    ssl_conf_command Ciphersuites {CIPHER};
    limit_req_zone $server_addr zone=paced:1m rate=5000r/s;
    client_body_temp_path {folder}/body;
    proxy_temp_path {folder}/proxy;
    fastcgi_temp_path {folder}/fastcgi;
    uwsgi_temp_path {folder}/uwsgi;
    scgi_temp_path {folder}/scgi;
{servers}
}}
"""
