"""An application for WSGI servers that waits for 50 ms."""

import time


def app(environ, start):
    """Answers one request."""
    if environ["PATH_INFO"] != "/healthz":
        time.sleep(0.05)
    start("200 OK", [("Content-Length", "6")])
    return [b"waited"]
