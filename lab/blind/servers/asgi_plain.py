"""An application for ASGI servers: takes a body whole, and waits for WAIT (0) milliseconds."""

import asyncio
import os

WAIT = int(os.environ.get("WAIT", "0")) / 1000


async def app(scope, receive, send):
    if scope["type"] == "lifespan":
        while True:
            event = await receive()
            await send({"type": event["type"] + ".complete"})
            if event["type"] == "lifespan.shutdown":
                return
    size, more = 0, True
    while more:
        event = await receive()
        size += len(event.get("body", b""))
        more = event.get("more_body", False)
    if WAIT and scope["path"] != "/healthz":
        await asyncio.sleep(WAIT)
    body = str(size).encode()
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", str(len(body)).encode())]})
    await send({"type": "http.response.body", "body": body})
