"""CherryPy that opens a connection to MariaDB for each request: cherrypy_connect.py PORT DATABASE-HOST THREADS MILLISECONDS

A connection that is turned away is tried again after about 200 ms.
"""

import random
import sys
import time

import cherrypy
import pymysql

port, host, threads, milliseconds = sys.argv[1:]


class Pages:
    @cherrypy.expose
    def healthz(self):
        return "ok"

    @cherrypy.expose
    def index(self):
        while True:
            try:
                connection = pymysql.connect(host=host, user="plimsoll")
                break
            except pymysql.err.OperationalError:
                time.sleep(random.uniform(0.15, 0.25))
        with connection, connection.cursor() as cursor:
            cursor.execute("SELECT SLEEP(%s)", (int(milliseconds) / 1000,))
        return "asked"


cherrypy.config.update(
    {
        "server.socket_host": "0.0.0.0",
        "server.socket_port": int(port),
        "server.socket_queue_size": 1024,
        "server.thread_pool": int(threads),
        "log.screen": False,
        "engine.autoreload.on": False,
    }
)
cherrypy.quickstart(Pages())
