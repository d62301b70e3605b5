"""An application for uWSGI: each request waits for 40 ms."""

import time


def application(environ, start):
    time.sleep(0.04)
    start("200 OK", [("Content-Length", "6")])
    return [b"waited"]
