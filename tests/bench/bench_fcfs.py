"""./dev bench fcfs: selling seats, next to nginx doing nothing on the same machine in the same run."""

import itertools
import json
import os
import statistics
import subprocess
import time
from contextlib import contextmanager
from pathlib import Path

import bench

ROUNDS, SECONDS, CONNECTIONS = 15, 1, 256
COST_ROUNDS, OPEN_LOOP_ROUNDS, OPEN_LOOP_SECONDS, SETTLE_SECONDS = 5, 7, 2, 0.5
QUIET_DISK = bench.Quiet(disk_ms=10)  # a hundredth of a round
QUIET_FOR_P99 = bench.Quiet(share=0.003, disk_ms=5)  # more than that would decide it
TOKEN = "the-token-of-the-benchmarks"
KEYS = {"PII_KEYS": f"1:{'A' * 43}=", "PII_HASH_KEY": f"{'B' * 42}A="}
CLIENT = bench.RELEASE / "tests" / "bench" / "bench_client"
SERVER = bench.RELEASE / "src" / "tickettock"
run_numbers = itertools.count(1)


@contextmanager
def tickettock(folder, **settings):
    """A server with one client address per user, as seen through a trusted proxy; yields (process, port, URL)."""
    port = bench.free_port()
    env = {**os.environ, "APP_PORT": str(port), "DATA_DIR": str(folder / f"data-{port}"), "ADMIN_TOKEN": TOKEN,
           "TRUSTED_PROXIES": "127.0.0.1", "FCFS_TRUST_USER_HEADER": "1", "MAX_STREAMS_PER_ADDRESS": "20000",
           "LOG_LEVEL": "warn", **KEYS, **settings}
    with bench.running([SERVER, "serve"], port, env=env) as process:
        wait_until_ready(port)
        yield process, port, f"http://127.0.0.1:{port}"


def wait_until_ready(port):
    for _ in range(200):
        if bench.ask(f"http://127.0.0.1:{port}", "GET", "/readyz")[0] == 200:
            return
    raise RuntimeError("the server is not ready")


def reset(url, seats):
    headers = {"X-Admin-Token": TOKEN}
    status, text = bench.ask(url, "GET", "/api/v1/admin/overview", headers=headers)
    if status != 200:
        raise RuntimeError(f"overview: {status} {text}")
    house = json.loads(text)
    body = {"scheduleId": house["scheduleId"], "generation": house["generation"], "seatCount": seats}
    status, text = bench.ask(url, "POST", "/api/v1/seats/reset", json.dumps(body), headers)
    if status != 200:
        raise RuntimeError(f"reset: {status} {text}")


def open_sale(url, seats):
    """A sale opens after a quiet time, in which the server writes its log back."""
    reset(url, seats)
    time.sleep(SETTLE_SECONDS)


def taken(url):
    status, text = bench.ask(url, "GET", "/api/v1/admin/overview", headers={"X-Admin-Token": TOKEN})
    return json.loads(text)["seats"]["taken"]


def nginx_load(nginx):
    return bench.wrk(nginx, "claims.lua", CONNECTIONS, SECONDS, env={"RUN": str(next(run_numbers))})


def claims_load(url):
    """Every answer was a seat, and the server agrees on how many it sold."""
    load = bench.wrk(url, "claims.lua", CONNECTIONS, SECONDS, env={"RUN": str(next(run_numbers))})
    if taken(url) < load.requests:
        raise RuntimeError(f"{load.requests} claims were acknowledged, {taken(url)} seats are taken")
    return load


def compare(table, name, ours, nginx, goal):
    ratio = bench.ratio(bench.rates(ours), bench.rates(nginx))
    table.figure(f"{name}", bench.rate_text(ours))
    table.figure(f"{name} ÷ nginx", f"{ratio:.2f}", ratio, ("≥", goal))
    return statistics.median(bench.rates(ours))


def throughput(table, nginx, name, url, goal):
    print(f"Claims, {name}, {CONNECTIONS} connections")
    loads = bench.interleave(table, ROUNDS, {
        "nginx": lambda: nginx_load(nginx),
        "ours": (lambda: open_sale(url, 1000000), lambda: claims_load(url)),
    }, QUIET_DISK)
    table.figure("nginx `return 200`", bench.rate_text(loads["nginx"]))
    return compare(table, f"{name}: durable claims", loads["ours"], loads["nginx"], goal)


def sold_out(table, nginx, url):
    print("Sold out")
    reset(url, 0)
    loads = bench.interleave(table, ROUNDS, {
        "nginx": lambda: nginx_load(nginx),
        "ours": lambda: bench.wrk(url, "claims.lua", CONNECTIONS, SECONDS,
                                  env={"RUN": str(next(run_numbers)), "EXPECTED_STATUS": "409"}),
    })
    compare(table, "sold-out answers", loads["ours"], loads["nginx"], 0.75)


def not_modified(table, nginx, url):
    print("GET /api/v1/seats with 304")
    reset(url, 1000)
    etag = subprocess.run(["curl", "-sI", f"{url}/api/v1/seats"], capture_output=True, text=True, check=True)
    etag = next(line.split(": ", 1)[1].strip() for line in etag.stdout.splitlines() if line.startswith("ETag"))
    loads = bench.interleave(table, ROUNDS, {
        "nginx": lambda: bench.wrk(nginx, "fixed.lua", CONNECTIONS, SECONDS,
                                   env={"METHOD": "GET", "PATH_UNDER_TEST": "/small.txt"}),
        "ours": lambda: bench.wrk(url, "fixed.lua", CONNECTIONS, SECONDS,
                                  env={"METHOD": "GET", "PATH_UNDER_TEST": "/api/v1/seats", "IF_NONE_MATCH": etag}),
    })
    table.figure("nginx, a small static file", bench.rate_text(loads["nginx"]))
    compare(table, "seats, 304", loads["ours"], loads["nginx"], 0.75)


def run_client(*arguments):
    done = subprocess.run([str(part) for part in (CLIENT, *arguments)], capture_output=True, text=True, check=True)
    seen = json.loads(done.stdout)
    if seen["errors"]:
        raise RuntimeError(f"bench_client saw {seen['errors']} wrong answers: {done.stdout}")
    return seen


def cpu_seconds(process):
    fields = Path(f"/proc/{process.pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def cost_of_size(table, process, port, url):
    """Processor time of the server per claim. A small house is sold often, a large one once, up to its last seats."""
    print("Cost per claim, 1,000,000 seats against 1,000")
    count = 20000

    def small():
        spent = 0.0
        for _ in range(count // 1000):
            reset(url, 1000)
            before = cpu_seconds(process)
            run_client("claims", port, 1000, 0, CONNECTIONS, f"s{next(run_numbers)}")
            spent += cpu_seconds(process) - before
        return spent / count * 1e6

    def large():
        before = cpu_seconds(process)
        run_client("claims", port, count, 0, CONNECTIONS, f"l{next(run_numbers)}")
        return (cpu_seconds(process) - before) / count * 1e6

    def fill():
        reset(url, 1000000)
        run_client("claims", port, 1000000 - COST_ROUNDS * count, 0, CONNECTIONS, f"f{next(run_numbers)}")

    small_costs = [small() for _ in range(COST_ROUNDS)]
    fill()
    large_costs = [large() for _ in range(COST_ROUNDS)]
    ratio = statistics.median(large_costs) / statistics.median(small_costs)
    table.figure("cost per claim, 1,000 seats", f"{statistics.median(small_costs):.1f} µs ±{bench.spread(small_costs) / 2:.0%}")
    table.figure("cost per claim, the last of 1,000,000", f"{statistics.median(large_costs):.1f} µs ±{bench.spread(large_costs) / 2:.0%}")
    table.figure("cost, large ÷ small", f"{ratio:.2f}", ratio, ("≤", 1.3))


def latency(table, port, url, rate):
    half = rate / 2
    print(f"Open loop at half the rate: {half:,.0f}/s")

    def one_round():
        return run_client("claims", port, int(half * OPEN_LOOP_SECONDS), half, 1024, f"o{next(run_numbers)}")["p99_ms"]

    results = bench.interleave(table, OPEN_LOOP_ROUNDS, {"p99": (lambda: open_sale(url, 1000000), one_round)}, QUIET_FOR_P99)["p99"]
    p99 = statistics.median(results)
    table.figure("p99 at half the rate, open loop", f"{p99:.1f} ms ±{bench.spread(results) / 2:.0%}", p99, ("≤", 10))


def listeners(table, port, url):
    print("10,000 listeners")
    reset(url, 1000)
    p99 = run_client("listeners", port, 10000, COST_ROUNDS, f"e{next(run_numbers)}")["p99_ms"]
    table.figure("one claim seen by 10,000 listeners, p99", f"{p99:.0f} ms", p99, ("≤", 250))


def main():
    bench.allow_many_connections()
    table = bench.Table("First come, first served (medians of interleaved rounds)")
    with bench.temporary_folder() as folder:
        (folder / "small.txt").write_text("A small file.\n")
        location = (f"location /api {{ return 200 '{{\"success\":true}}'; }} "
                    f"location / {{ root {folder}; open_file_cache max=16; }}")
        with bench.nginx(folder, location) as nginx:
            os.chmod(folder, 0o755)
            with tickettock(folder) as (process, port, url):
                rate = throughput(table, nginx, "embedded", url, 0.60)
                sold_out(table, nginx, url)
                not_modified(table, nginx, url)
                cost_of_size(table, process, port, url)
                latency(table, port, url, rate)
                listeners(table, port, url)
            # Last: PostgreSQL goes on working after each round of it.
            with bench.private("postgres", folder) as postgres, bench.private("redis", folder) as redis, \
                    tickettock(folder, DATABASE_URL=postgres, REDIS_URL=redis) as (_, _, url):
                throughput(table, nginx, "fleet (PostgreSQL + Redis)", url, 0.30)
    return table.show()
