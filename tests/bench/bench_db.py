"""./dev bench db: durable rows per second, grouped by the port against one commit each, at 256 in flight."""

import os
import statistics
import subprocess

import bench

ROUNDS, SECONDS = 5, 2
PROGRAM = bench.RELEASE / "tests" / "bench" / "bench_db"


def rate(way, folder, url):
    output = subprocess.run([PROGRAM, way, folder, str(SECONDS)], check=True, capture_output=True, text=True,
                            env={**os.environ, "BENCH_DATABASE_URL": url}, timeout=60)
    return float(output.stdout)


def main():
    ways = {
        "sqlite-alone": "SQLite: a commit for each row, without the port",
        "sqlite-units": "SQLite: units, grouped by the writer",
        "sqlite-batches": "SQLite: items of a batched operation",
        "postgres-units": "PostgreSQL: units, a transaction each",
        "postgres-batches": "PostgreSQL: items of a batched operation",
    }
    table = bench.Table("Durable rows/s, 256 in flight")
    with bench.temporary_folder() as folder, bench.private("postgres", folder) as url:
        (folder / "sqlite").mkdir()
        print("Durable writes, 256 in flight")
        rates = bench.interleave(table, ROUNDS, {way: lambda way=way: rate(way, folder / "sqlite", url) for way in ways})
    median = {way: statistics.median(values) for way, values in rates.items()}
    for way, what in ways.items():
        table.figure(what, f"{median[way]:,.0f}/s ±{bench.spread(rates[way]) / 2:.0%}")
    for what, more, less, goal in (("SQLite: grouped units ÷ one commit each", "sqlite-units", "sqlite-alone", 20),
                                   ("SQLite: batched ÷ one commit each", "sqlite-batches", "sqlite-alone", 20),
                                   ("PostgreSQL: batched ÷ one commit each", "postgres-batches", "postgres-units", 5)):
        ratio = bench.ratio(rates[more], rates[less])
        table.figure(what, f"{ratio:.1f}", ratio, ("≥", goal))
    return table.show()
