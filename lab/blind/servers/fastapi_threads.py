"""FastAPI runs handlers that are no coroutines in a pool of threads, 40 unless TOKENS says otherwise; each waits for 250 ms."""

import os
import time

import anyio.to_thread
from fastapi import FastAPI

app = FastAPI()


@app.on_event("startup")
async def threads():
    if "TOKENS" in os.environ:
        anyio.to_thread.current_default_thread_limiter().total_tokens = int(os.environ["TOKENS"])


@app.get("/healthz")
async def health():
    return "ok"


@app.get("/")
def wait():
    time.sleep(0.25)
    return "waited"
