"""A server that leaves it to its clients to close connections, whatever they ask for: keeps_open.py PORT"""

import asyncio
import sys

ANSWER = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"


async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    while await reader.readline():
        while (await reader.readline()).strip():
            pass
        writer.write(ANSWER)
    writer.close()


async def main() -> None:
    server = await asyncio.start_server(serve, "", int(sys.argv[1]), backlog=1024)
    await server.serve_forever()


asyncio.run(main())
