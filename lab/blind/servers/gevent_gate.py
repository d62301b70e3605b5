"""An application for gunicorn with gevent: what waits for 30 ms passes a semaphore of GATE (6) first."""

import os

import gevent
from gevent.lock import BoundedSemaphore

gate = BoundedSemaphore(int(os.environ.get("GATE", "6")))


def app(environ, start):
    if environ["PATH_INFO"] != "/healthz":
        with gate:
            gevent.sleep(0.03)
    start("200 OK", [("Content-Length", "6")])
    return [b"waited"]
