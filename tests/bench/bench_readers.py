"""./dev bench readers: claims of a house of 100,000 seats, while many read the whole list and while nobody does."""

import statistics
import subprocess
import time

import bench
import bench_fcfs as fcfs

SEATS, READERS = 100000, 200
ROUNDS, SECONDS, RATE, CONNECTIONS = 7, 3, 500, 64
SETTLE_SECONDS = 1
PATH = "/api/v1/seats"


def claims(port):
    """The median, in milliseconds, at a rate that leaves the server time."""
    return fcfs.run_client("claims", port, RATE * SECONDS, RATE, CONNECTIONS, f"r{next(fcfs.run_numbers)}")["p50_ms"]


def claims_beside_readers(port, pause_ms):
    command = [fcfs.CLIENT, "readers", port, READERS, pause_ms, SECONDS + 2 * SETTLE_SECONDS, PATH]
    with subprocess.Popen([str(part) for part in command], stdout=subprocess.DEVNULL) as readers:
        time.sleep(SETTLE_SECONDS)
        result = claims(port)
        if readers.poll() is not None:
            raise RuntimeError("the readers ended before the claims")
    return result


def main():
    bench.allow_many_connections()
    table = bench.Table(f"{READERS} readers of {SEATS:,} seats (medians of interleaved rounds)")
    with bench.temporary_folder() as folder, fcfs.tickettock(folder) as (_, port, url):
        fcfs.open_sale(url, SEATS)
        seen = bench.interleave(table, ROUNDS, {
            "nobody": lambda: claims(port),
            "each second": lambda: claims_beside_readers(port, 1000),
            "without pause": lambda: claims_beside_readers(port, 0),
        }, fcfs.QUIET_DISK)
    quiet = statistics.median(seen["nobody"])
    table.figure("p50 of a claim, nobody reads", f"{quiet:.2f} ms")
    for name, goal in (("each second", ("≤", 2)), ("without pause", None)):
        busy = statistics.median(seen[name])
        table.figure(f"p50 of a claim, {READERS} readers, {name}", f"{busy:.2f} ms")
        table.figure(f"{name} ÷ nobody", f"{busy / quiet:.2f}", busy / quiet, goal)
    return table.show()
