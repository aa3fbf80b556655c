"""./dev bench http: the bare HTTP path next to nginx doing nothing, idle connections, slow clients."""

import asyncio
import statistics
import threading
import time

import bench

ROUNDS, SECONDS = 15, 1
ANSWER = '{"success":true,"userName":"Kim Minji"}'
BODY = '{"userName":"Kim Minji","phone":"010-1234-5678"}'
REQUEST = (f"POST /echo HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
           f"Content-Length: {len(BODY)}\r\n\r\n{BODY}").encode()


def check_answer(url):
    """Both servers give the same answer, and ours reads what it was sent."""
    status, text = bench.ask(url, "POST", "/echo", BODY, {"Content-Type": "application/json"})
    if (status, text) != (200, ANSWER):
        raise RuntimeError(f"{url} answers {status} {text}")


def throughput(table, ours, nginx):
    for connections in (64, 256):
        print(f"POST with a JSON body, {connections} connections")
        loads = bench.interleave(table, ROUNDS, {
            "nginx": lambda: bench.wrk(nginx, "fixed.lua", connections, SECONDS),
            "ours": lambda: bench.wrk(ours, "fixed.lua", connections, SECONDS),
        })
        ratio = bench.ratio(bench.rates(loads["ours"]), bench.rates(loads["nginx"]))
        table.figure(f"{connections} connections: nginx `return 200`", bench.rate_text(loads["nginx"]))
        table.figure(f"{connections} connections: Tickettock", bench.rate_text(loads["ours"]))
        table.figure(f"{connections} connections: ratio", f"{ratio:.2f}", ratio, ("≥", 0.85))


async def hold_idle_connections(port, count, measure):
    """Opens connections that each made one request and then stay; the result of measure() meanwhile."""
    gate, held = asyncio.Semaphore(200), []

    async def open_one():
        async with gate:
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            held.append(writer)
            writer.write(REQUEST)
            await reader.readuntil(b"}")

    await asyncio.gather(*(open_one() for _ in range(count)))
    await asyncio.sleep(1)
    result = measure()
    for writer in held:
        writer.transport.abort()
    return result


def idle_connections(table, port, pid):
    count = 10000
    print(f"{count:,} idle connections")
    asyncio.run(hold_idle_connections(port, 200, lambda: None))  # so that pools and libraries are warm
    time.sleep(1)
    before = bench.memory_of(pid)
    after = asyncio.run(hold_idle_connections(port, count, lambda: bench.memory_of(pid)))
    each = (after - before) / count / 1024
    table.figure(f"{count:,} idle connections: memory each", f"{each:.1f} KiB", each, ("≤", 10))


class SlowClients(threading.Thread):
    """Connections that send their request one byte per second, spread over the second."""

    def __init__(self, port, count):
        super().__init__(daemon=True)
        self.port, self.count = port, count
        self.all_open, self.enough = threading.Event(), threading.Event()
        self.lost = 0

    def run(self):
        asyncio.run(self.drip())

    async def drip(self):
        writers = [(await asyncio.open_connection("127.0.0.1", self.port))[1] for _ in range(self.count)]
        self.all_open.set()
        position, slices = 0, 50
        while not self.enough.is_set():
            for part in range(slices):
                for writer in writers[part::slices]:
                    self.lost += writer.is_closing()
                    writer.write(REQUEST[position % len(REQUEST):][:1])
                await asyncio.sleep(1 / slices)
            position += 1
        for writer in writers:
            writer.transport.abort()


def slow_clients(table, url, port):
    count = 1000
    print(f"{count:,} clients that send one byte per second")

    def with_slow_clients():
        slow = SlowClients(port, count)
        slow.start()
        slow.all_open.wait()
        try:
            return bench.wrk(url, "fixed.lua", 32, SECONDS)
        finally:
            slow.enough.set()
            slow.join()
            if slow.lost:
                raise RuntimeError("the server cut slow clients within seconds: nothing was measured")

    loads = bench.interleave(table, ROUNDS, {"alone": lambda: bench.wrk(url, "fixed.lua", 32, SECONDS), "slow": with_slow_clients})
    alone, slow = ([load.p99_ms for load in loads[name]] for name in ("alone", "slow"))
    ratio = bench.ratio(slow, alone)
    table.figure("p99 of 32 connections alone", f"{statistics.median(alone):.2f} ms")
    table.figure(f"p99 next to {count:,} slow clients", f"{statistics.median(slow):.2f} ms")
    table.figure("p99 with slow clients: ratio", f"{ratio:.2f}", ratio, ("≤", 2))


def main():
    bench.allow_many_connections()
    table = bench.Table("HTTP (medians of interleaved rounds)")
    port = bench.free_port()
    ours = f"http://127.0.0.1:{port}"
    with bench.temporary_folder() as folder, \
            bench.nginx(folder, f"location / {{ return 200 '{ANSWER}'; }}") as nginx, \
            bench.running([bench.RELEASE / "tests" / "bench" / "bench_server", port], port) as server:
        check_answer(nginx)
        check_answer(ours)
        throughput(table, ours, nginx)
        idle_connections(table, port, server.pid)
        slow_clients(table, ours, port)
    return table.show()
