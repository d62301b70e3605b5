"""A small HTTP service, in place of yours: python3 service.py PORT"""

import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

BODY = b'{"status":"ok"}\n'


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    # The head and the body of a response leave in one packet.
    wbufsize = -1

    def do_GET(self):
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(BODY)))
        self.end_headers()
        self.wfile.write(BODY)

    def log_message(self, *args):
        pass


class Server(ThreadingHTTPServer):
    request_queue_size = 1024


Server(("127.0.0.1", int(sys.argv[1])), Handler).serve_forever()
