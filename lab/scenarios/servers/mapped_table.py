"""A server that looks its answers up in a table that is mapped into memory: mapped_table.py PORT FILE MEGABYTES LOOKUPS

The table is made first. A request reads records at LOOKUPS places that it draws by lot; what of the table is not in memory
is fetched from the file, a page at a time.
"""

import http.server
import mmap
import os
import random
import sys

RECORD_BYTES = 64


def made(path, megabytes):
    """The table as it is mapped."""
    with open(path, "wb") as file:
        for _ in range(megabytes):
            file.write(os.urandom(1 << 20))
        file.flush()
        os.fsync(file.fileno())
    with open(path, "rb") as file:
        table = mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ)
    # The kernel would read megabytes around each record.
    table.madvise(mmap.MADV_RANDOM)
    return table


class Lookup(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        places = len(self.server.table) // RECORD_BYTES
        total = 0
        for _ in range(self.server.lookups):
            at = random.randrange(places) * RECORD_BYTES
            total += sum(self.server.table[at : at + RECORD_BYTES])
        body = str(total).encode()
        self.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s" % (len(body), body))


def main() -> None:
    port, path, megabytes, lookups = sys.argv[1:]
    table = made(path, int(megabytes))
    server = http.server.ThreadingHTTPServer(("", int(port)), Lookup)
    server.table, server.lookups = table, int(lookups)
    server.serve_forever()


main()
