"""A server with a listen queue of a given length that takes one connection after another: short_backlog.py PORT QUEUE"""

import socket
import sys
import time

ANSWER = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok"


def main() -> None:
    server = socket.create_server(("", int(sys.argv[1])), backlog=int(sys.argv[2]))
    while True:
        connection, _ = server.accept()
        with connection:
            connection.recv(65536)
            time.sleep(0.005)
            connection.sendall(ANSWER)


main()
