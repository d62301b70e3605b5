"""A server that looks for new connections 20 times a second and answers all it finds at once: short_backlog.py PORT QUEUE

Between two looks no more than QUEUE + 1 connections can wait; others are dropped and tried again by their clients.
"""

import socket
import sys
import time

ANSWER = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok"


def waiting(server):
    """The connections that wait to be taken."""
    while True:
        try:
            yield server.accept()[0]
        except BlockingIOError:
            return


def main() -> None:
    server = socket.create_server(("", int(sys.argv[1])), backlog=int(sys.argv[2]))
    server.setblocking(False)
    while True:
        time.sleep(0.05)
        for connection in waiting(server):
            with connection:
                connection.setblocking(True)
                connection.recv(65536)
                connection.sendall(ANSWER)


main()
