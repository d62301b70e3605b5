"""aiohttp that asks another server for each request, over a limited number of connections: aiohttp_client.py PORT URL LIMIT"""

import sys

import aiohttp
from aiohttp import web

port, url, limit = sys.argv[1:]


async def session(app):
    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=int(limit))) as app["session"]:
        yield


async def ask(request):
    async with request.app["session"].get(url) as answer:
        return web.Response(body=await answer.read())


async def health(request):
    return web.Response(text="ok")


app = web.Application()
app.cleanup_ctx.append(session)
app.add_routes([web.get("/", ask), web.get("/healthz", health)])
web.run_app(app, port=int(port), backlog=1024, access_log=None)
