"""The network between one member and a store: a relay of TCP in front of the store for each member,
which can be cut, slowed, or lose answers; what was held back meanwhile arrives late, as packets do
that are sent again.

A door may be in a network namespace (namespaces.py): it is reached from there by loopback, so that
members are cut off from each other without being cut off from the store.  So may be what it leads
to: servers are cut off from each other without being cut off from the members.
"""

import asyncio
import contextlib
import ctypes
import os
import pathlib
import socket
import threading

CHUNK = 65536
CLONE_NEWNET = 0x40000000  # <sched.h>
LOOPBACK = "127.0.0.1"


def made_in(namespace, make):
    """What this makes there.  A socket stays where it was made, whoever uses it; threads enter
    namespaces one by one."""
    if namespace is None:
        return make()
    made = []

    def enter_and_make():
        descriptor = os.open(pathlib.Path("/run/netns") / namespace, os.O_RDONLY)
        try:
            if ctypes.CDLL(None, use_errno=True).setns(descriptor, CLONE_NEWNET) != 0:
                raise OSError(ctypes.get_errno(), f"setns({namespace})")
            made.append(make())
        finally:
            os.close(descriptor)

    thread = threading.Thread(target=enter_and_make)
    thread.start()
    thread.join()
    return made[0]


class Door:
    """Of one member, to one server."""

    def __init__(self, relay, listener, target, beyond):
        self.relay, self.listener, self.target, self.beyond = relay, listener, target, beyond
        self.port = listener.getsockname()[1]
        self.delay_s = 0
        self.is_refusing = False
        self.writers = set()
        self.to_store, self.to_member = asyncio.Event(), asyncio.Event()
        self.to_store.set()
        self.to_member.set()

    async def serve(self, reader, writer):
        if self.is_refusing:
            return writer.transport.abort()
        try:
            upstream = await self.connect()
        except OSError:
            return writer.transport.abort()
        ends = {writer, upstream[1]}
        self.writers |= ends
        try:
            await asyncio.gather(self.pump(reader, upstream[1], self.to_store),
                                 self.pump(upstream[0], writer, self.to_member))
        finally:
            self.writers -= ends
            for end in ends:
                end.transport.abort()
        return None

    async def connect(self):
        plain = made_in(self.beyond, socket.socket)
        plain.setblocking(False)
        try:
            await asyncio.get_running_loop().sock_connect(plain, (LOOPBACK, self.target))
            return await asyncio.open_connection(sock=plain)
        except OSError:
            plain.close()
            raise

    async def pump(self, reader, writer, gate):
        with contextlib.suppress(OSError):
            while data := await reader.read(CHUNK):
                if self.delay_s:
                    await asyncio.sleep(self.delay_s)
                await gate.wait()
                writer.write(data)
                await writer.drain()
        await gate.wait()  # who is cut off does not hear of an end
        writer.close()
        with contextlib.suppress(OSError):
            await writer.wait_closed()

    # --- faults, from any thread; in force when they return ---

    def cut(self):
        """Nothing passes, and nobody is told."""
        self.relay.call(lambda: (self.to_store.clear(), self.to_member.clear()))

    def lose_answers(self):
        """Requests pass."""
        self.relay.call(self.to_member.clear)

    def refuse(self):
        """All connections are reset, and new ones as well."""
        self.relay.call(self.reset)

    def reset(self):
        self.is_refusing = True
        for writer in self.writers:
            writer.transport.abort()

    def slow_down(self, delay_s):
        """Whatever passes, each way."""
        self.delay_s = delay_s

    def heal(self):
        self.delay_s, self.is_refusing = 0, False
        self.relay.call(lambda: (self.to_store.set(), self.to_member.set()))


class Relay:
    """A context manager, with a thread of its own."""

    def __init__(self):
        self.loop = asyncio.new_event_loop()
        # What ends with a reset is what a test wanted.
        self.loop.set_exception_handler(lambda *_: None)
        self.thread = threading.Thread(target=self.loop.run_forever, daemon=True)
        self.servers = []

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        async def end():
            for server in self.servers:
                server.close()
            others = asyncio.all_tasks() - {asyncio.current_task()}
            for task in others:
                task.cancel()
            await asyncio.gather(*others, return_exceptions=True)
        asyncio.run_coroutine_threadsafe(end(), self.loop).result()
        self.loop.call_soon_threadsafe(self.loop.stop)
        self.thread.join()
        self.loop.close()

    def call(self, function):
        async def called():
            function()
        asyncio.run_coroutine_threadsafe(called(), self.loop).result()

    def door(self, target, namespace=None, beyond=None):
        """Leads to this port of loopback, of another namespace if that is named."""
        listener = made_in(namespace, lambda: socket.create_server((LOOPBACK, 0)))

        async def begin():
            made = Door(self, listener, target, beyond)
            self.servers.append(await asyncio.start_server(made.serve, sock=listener))
            return made
        return asyncio.run_coroutine_threadsafe(begin(), self.loop).result()
