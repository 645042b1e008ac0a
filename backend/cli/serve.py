"""`fencepost serve`: database, API and workers composed into one process, and taken apart again."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import socket
import sys
from pathlib import Path
from typing import Annotated

import msgspec
import uvloop
from cyclopts import Parameter, validators

from backend import settings
from backend.api.app import create_app
from backend.api.logs import configure_logging
from backend.cli.database import Place, make_ready, open_place
from backend.cli.failure import Failure
from backend.cli.http_server import HttpServer, address_of, listen
from backend.cli.policies import ensure_policy
from backend.db.connection import Database
from backend.services.hub import Hub
from backend.services.news import Tell
from backend.services.relay import Relay
from backend.workers.applier import applier
from backend.workers.loop import Worker
from backend.workers.redriver import redriver

Switch = Annotated[bool, Parameter(negative="", show_default=False)]
Hidden = Annotated[bool, Parameter(negative="", show=False)]

_WORKER_POOL = 4
_STOP_WITHIN = 2.0
"""Seconds that the tick in hand of a worker has to end."""


class Options(msgspec.Struct, frozen=True, kw_only=True):
    """How one server was asked for; what is None comes from the settings."""

    host: str | None
    port: int | None
    data: Path | None
    policy: str | None
    insecure: bool
    database: str | None = None
    without_applier: bool = False
    with_parent: bool = False


def serve(  # noqa: PLR0913 - each is an option of the command line
    *,
    host: str | None = None,
    port: Annotated[int, Parameter(validator=validators.Number(gte=0, lte=65535))] | None = None,
    data: Path | None = None,
    policy: str | None = None,
    insecure: Switch = False,
    database: Annotated[str | None, Parameter(show=False)] = None,
    without_applier: Hidden = False,
    with_parent: Hidden = False,
) -> None:
    """Run the API and its workers until SIGTERM or Ctrl-C.

    Without DATABASE_URL an embedded PostgreSQL is started, in a folder of its own; it is set up at
    the first start. It is for trial and for one machine.

    Parameters
    ----------
    host
        Address to listen on. Without it: FENCEPOST_HOST, else 127.0.0.1.
    port
        Port to listen on; 0 takes a free one. Without it: FENCEPOST_PORT, else 8737.
    data
        Folder of the embedded database.
    policy
        Policy to put in force at the start: a TOML file, or standard or hate-offensive. Without it
        the one in force stays; at the very first start that is standard.
    insecure
        Listen on an address that others can reach, without TLS.
    database
        Address of the database, whatever the environment says: for the demo.
    without_applier
        Leave every decision without effect: for tests.
    with_parent
        Stop when standard input ends.
    """
    run_server(
        Options(
            host=host,
            port=port,
            data=data,
            policy=policy,
            insecure=insecure,
            database=database,
            without_applier=without_applier,
            with_parent=with_parent,
        )
    )


def run_server(options: Options) -> None:
    """Serve until stopped. Raises Failure, or an error whose message is for the user."""
    chosen = settings.read()
    if options.database is not None:
        here = {"database_url": options.database, "admin_url": None, "listen_url": None}
        chosen = msgspec.structs.replace(chosen, **here)
    configure_logging()
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(_serve(chosen, options))


class Stopping:
    """One way to stop, whether the process is still starting or already serving."""

    def __init__(self) -> None:
        self._starting = asyncio.current_task()
        self.server: HttpServer | None = None
        self.by = 0

    def __call__(self, sig: int) -> None:
        """Begin to stop. Before anything is served, that is a cancellation."""
        self.by = sig
        if self.server is not None:
            self.server.handle_exit(sig, None)
        elif self._starting is not None:
            self._starting.cancel()

    def watch_signals(self) -> None:
        """Stop at SIGTERM, Ctrl-C, and when the terminal goes away."""
        loop = asyncio.get_running_loop()
        for sig in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            loop.add_signal_handler(sig, self, sig)

    def watch_parent(self) -> None:
        """Stop when standard input ends: whoever held its other end is gone."""
        loop = asyncio.get_running_loop()
        fd = sys.stdin.fileno()

        def readable() -> None:
            if not os.read(fd, 4096):
                loop.remove_reader(fd)
                self(signal.SIGTERM)

        loop.add_reader(fd, readable)


async def _serve(chosen: settings.Settings, options: Options) -> None:
    stopping = Stopping()
    stopping.watch_signals()
    if options.with_parent:
        stopping.watch_parent()
    try:
        await _compose(chosen, options, stopping)
    except asyncio.CancelledError:
        if not stopping.by:
            raise
        raise Failure("stopped before it served.", 128 + stopping.by) from None


async def _compose(chosen: settings.Settings, options: Options, stopping: Stopping) -> None:
    """Open everything in order; the stack closes it in the opposite one."""
    async with contextlib.AsyncExitStack() as stack:
        host = options.host or chosen.host
        port = chosen.port if options.port is None else options.port
        listener = stack.enter_context(listen(host, port, insecure=options.insecure))
        place = await stack.enter_async_context(open_place(chosen, options.data))
        await make_ready(place)
        for_requests = await stack.enter_async_context(_pool(place, chosen, chosen.pool_size))
        for_work = await stack.enter_async_context(_pool(place, chosen, _WORKER_POOL))
        version = await ensure_policy(for_work, options.policy)
        closing = asyncio.Event()
        hub = Hub()
        relay = Relay(listen_url(chosen, place.url), hub)
        app = create_app(for_requests, chosen, closing, tell=relay.tell, hub=hub)
        server = HttpServer(app, closing)
        stopping.server = server
        workers: list[Worker | Relay] = [*_workers(for_work, options, relay.tell), relay]
        await _run(server, listener, workers, place, version)


def _pool(place: Place, chosen: settings.Settings, size: int) -> Database:
    return Database(
        place.url,
        size=size,
        acquire_within=chosen.acquire_seconds,
        statement_cache=place.statements_kept,
    )


def listen_url(chosen: settings.Settings, url: str) -> str:
    """Return where to listen if `url` is the database: a pooler can't be listened through."""
    is_ours = chosen.database_url is None
    return url if is_ours or chosen.listen_url is None else chosen.listen_url


def _workers(db: Database, options: Options, tell: Tell) -> list[Worker]:
    workers = [redriver(db, tell=tell)]
    if not options.without_applier:
        workers.append(applier(db, tell=tell))
    return workers


async def _run(
    server: HttpServer,
    listener: socket.socket,
    workers: list[Worker | Relay],
    place: Place,
    version: str,
) -> None:
    """Serve until stopped, or until something ends that should not have."""
    http = asyncio.create_task(_answer(server, listener), name="http")
    telling = asyncio.create_task(_tell(server, listener, place, version), name="telling")
    working = [asyncio.create_task(worker.run(), name="worker") for worker in workers]
    watching = [asyncio.create_task(place.server.watch())] if place.server else []
    try:
        done, _ = await asyncio.wait(
            [http, *working, *watching], return_when=asyncio.FIRST_COMPLETED
        )
    finally:
        server.handle_exit(signal.SIGTERM, None)
        for worker in workers:
            worker.stop()
        await asyncio.wait([http, *working], timeout=_STOP_WITHIN)
        for task in (telling, http, *working, *watching):
            task.cancel()
        await asyncio.gather(telling, http, *working, *watching, return_exceptions=True)
    for task in done:
        task.result()  # raises what ended it


async def _answer(server: HttpServer, listener: socket.socket) -> None:
    try:
        await server.serve(sockets=[listener])
    except SystemExit:
        raise Failure("the API did not start; the lines above say why.") from None


async def _tell(server: HttpServer, listener: socket.socket, place: Place, version: str) -> None:
    await server.answering.wait()
    where = f"embedded database in {place.server.folder}" if place.server else "database at its URL"
    sys.stdout.write(f"fencepost is ready at {address_of(listener)} (policy {version}, {where})\n")
    sys.stdout.flush()
