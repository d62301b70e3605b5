"""Tornado that hashes in its loop: tornado_loop.py PORT PROCESSES ROUNDS"""

import asyncio
import hashlib
import sys

from tornado.httpserver import HTTPServer
from tornado.netutil import bind_sockets
from tornado.process import fork_processes
from tornado.web import Application, RequestHandler

port, processes, rounds = map(int, sys.argv[1:])


class Hash(RequestHandler):
    def get(self):
        self.write(hashlib.pbkdf2_hmac("sha256", b"password", b"salt", rounds).hex())


class Health(RequestHandler):
    def get(self):
        self.write("ok")


async def main() -> None:
    server = HTTPServer(Application([("/", Hash), ("/healthz", Health)], log_function=lambda handler: None))
    server.add_sockets(sockets)
    await asyncio.Event().wait()


sockets = bind_sockets(port, backlog=1024)
if processes > 1:
    fork_processes(processes)
asyncio.run(main())
