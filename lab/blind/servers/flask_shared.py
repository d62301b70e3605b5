"""Flask with a thread for each connection, and CONNECTIONS connections to PostgreSQL that all of them share:
flask_shared.py PORT DATABASE-HOST CONNECTIONS MILLISECONDS

Psycopg lets several threads use one connection, and runs one query at a time on it.
"""

import itertools
import logging
import sys

import psycopg2
from flask import Flask
from werkzeug.serving import WSGIRequestHandler, run_simple

port, host, count, milliseconds = sys.argv[1:]
app = Flask(__name__)
connections = [psycopg2.connect(host=host, user="postgres", dbname="postgres") for _ in range(int(count))]
turn = itertools.cycle(connections)
for connection in connections:
    connection.autocommit = True


@app.get("/healthz")
def health():
    return "ok"


@app.get("/")
def ask():
    with next(turn).cursor() as cursor:
        cursor.execute("SELECT pg_sleep(%s)", (int(milliseconds) / 1000,))
    return "asked"


logging.getLogger("werkzeug").disabled = True
WSGIRequestHandler.protocol_version = "HTTP/1.1"
# Else an answer's body waits for the acknowledgement of its head.
WSGIRequestHandler.disable_nagle_algorithm = True
run_simple("0.0.0.0", int(port), app, threaded=True)
