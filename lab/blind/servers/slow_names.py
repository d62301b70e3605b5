"""A name server that knows one address for all names, and takes a while to tell it: slow_names.py PORT ADDRESS MILLISECONDS"""

import asyncio
import socket
import sys

port, address, milliseconds = sys.argv[1:]


class Names(asyncio.DatagramProtocol):
    def connection_made(self, transport):
        self.transport = transport

    def datagram_received(self, query, asker):
        end = query.index(b"\0", 12) + 5  # the name, its type and class
        found = query[end - 4 : end - 2] == b"\0\1"
        head = query[:2] + b"\x81\x80\0\1" + (b"\0\1" if found else b"\0\0") + b"\0\0\0\0"
        record = b"\xc0\x0c\0\1\0\1\0\0\0\0\0\4" + socket.inet_aton(address) if found else b""
        answer = head + query[12:end] + record
        asyncio.get_running_loop().call_later(int(milliseconds) / 1000, self.transport.sendto, answer, asker)


async def main() -> None:
    await asyncio.get_running_loop().create_datagram_endpoint(Names, local_addr=("0.0.0.0", int(port)))
    # The port that tells that it is ready.
    await asyncio.start_server(lambda reader, writer: writer.close(), port=int(port))
    await asyncio.Event().wait()


asyncio.run(main())
