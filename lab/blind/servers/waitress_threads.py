"""Waitress: waitress_threads.py HOST PORT THREADS PROCESSES burn|wait MILLISECONDS

`burn` computes in Python for about as long, `wait` sleeps. The processes share one listening socket.
"""

import os
import socket
import sys
import time

import waitress

host, port, threads, processes, what, milliseconds = sys.argv[1:]
# About 1 ms of Python on one core of 2020.
ROUNDS_PER_MS = 20_000


def burn():
    total = 0
    for number in range(int(milliseconds) * ROUNDS_PER_MS):
        total += number
    return total


def app(environ, start):
    if environ["PATH_INFO"] != "/healthz":
        burn() if what == "burn" else time.sleep(int(milliseconds) / 1000)
    start("200 OK", [("Content-Length", "2")])
    return [b"ok"]


def main() -> None:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listener = socket.create_server((host, int(port)), family=family, backlog=1024, dualstack_ipv6=family == socket.AF_INET6)
    for _ in range(int(processes) - 1):
        if os.fork() == 0:
            break
    waitress.serve(app, sockets=[listener], threads=int(threads), connection_limit=1000)


main()
