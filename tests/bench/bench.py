"""What the benchmarks share: private servers that end with the run, wrk, interleaved rounds, a table with goals.

Figures of one machine are compared within one run only: candidates take turns, round after round, so that
whatever else the machine does hits all of them alike. A ratio is the median of the rounds' ratios.
"""

import contextlib
import http.client
import json
import math
import os
import resource
import shutil
import signal
import socket
import statistics
import subprocess
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path

FOLDER = Path(__file__).resolve().parent
ROOT = FOLDER.parent.parent
RELEASE = ROOT / "build-release"
PRIVATE_SERVER = ROOT / "tests" / "support" / "private-server"


# ---- Servers ----------------------------------------------------------------------------------------------


@contextlib.contextmanager
def temporary_folder():
    folder = Path(tempfile.mkdtemp(prefix="tickettock-bench-"))
    previous = {number: signal.signal(number, lambda number, _: exit(128 + number))
                for number in (signal.SIGTERM, signal.SIGHUP)}
    try:
        yield folder
    finally:
        for number, handler in previous.items():
            signal.signal(number, handler)
        shutil.rmtree(folder, ignore_errors=True)


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def wait_for_port(port, process):
    for _ in range(500):
        if process.poll() is not None:
            raise RuntimeError(f"{process.args[0]} ended with status {process.returncode}")
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 0.2):
            return
        time.sleep(0.02)
    raise RuntimeError(f"{process.args[0]} does not listen on port {port}")


@contextlib.contextmanager
def running(command, port, **options):
    """A server process with its own session; all of it is gone afterwards."""
    process = subprocess.Popen([str(part) for part in command], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                               start_new_session=True, **options)
    try:
        wait_for_port(port, process)
        yield process
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGTERM)
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()


@contextlib.contextmanager
def nginx(folder, location):
    """nginx with two workers and this `location` block; yields its URL."""
    port = free_port()
    prefix = folder / f"nginx-{port}"
    prefix.mkdir()
    paths = "".join(f"    {kind}_temp_path {prefix}/{kind};\n"
                    for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi"))
    (prefix / "nginx.conf").write_text(f"""
daemon off;
worker_processes 2;
worker_rlimit_nofile 30000;
pid {prefix}/nginx.pid;
error_log {prefix}/error.log;
events {{ worker_connections 15000; }}
http {{
    access_log off;
    keepalive_requests 1000000000;
    default_type application/json;
{paths}
    server {{
        listen 127.0.0.1:{port} reuseport;
        {location}
    }}
}}
""")
    with running(["nginx", "-p", prefix, "-c", prefix / "nginx.conf", "-e", prefix / "error.log"], port):
        yield f"http://127.0.0.1:{port}"


@contextlib.contextmanager
def private(kind, folder):
    """A PostgreSQL or Redis of our own; yields its URL."""
    url = subprocess.run([PRIVATE_SERVER, kind, "start", folder / kind], check=True, capture_output=True, text=True)
    try:
        yield url.stdout.strip()
    finally:
        subprocess.run([PRIVATE_SERVER, "stop", folder / kind], check=False)


def allow_many_connections(wanted=25000):
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard != resource.RLIM_INFINITY and hard < wanted:
        with contextlib.suppress(ValueError, OSError):  # only root may raise it
            resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, wanted))
            return
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(wanted, hard) if hard >= 0 else wanted, hard))


def memory_of(pid):
    """Resident bytes."""
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1]) * 1024
    raise RuntimeError(f"no memory figure for process {pid}")


# ---- Requests ---------------------------------------------------------------------------------------------


def ask(url, method, path, body=None, headers=None):
    """One request; (status, body as text)."""
    connection = http.client.HTTPConnection(url.removeprefix("http://"), timeout=5)
    try:
        connection.request(method, path, body, headers or {})
        answer = connection.getresponse()
        return answer.status, answer.read().decode()
    finally:
        connection.close()


@dataclass
class Load:
    """What wrk saw in one round."""
    requests: int
    per_second: float
    p50_ms: float
    p99_ms: float


def wrk(url, script, connections, seconds, threads=2, env=None):
    """Fails when an answer was not 2xx or a connection broke."""
    command = ["wrk", f"-t{threads}", f"-c{connections}", f"-d{seconds}s", "--timeout", "10s", "-s", FOLDER / script, url]
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True, env={**os.environ, **(env or {})})
    figures = next((line for line in done.stdout.splitlines() if line.startswith("{")), None)
    if done.returncode != 0 or not figures:
        raise RuntimeError(f"wrk failed:\n{done.stdout}{done.stderr}")
    seen = json.loads(figures)
    if seen["errors"] or not seen["requests"]:
        raise RuntimeError(f"{url}: {seen['errors']} of {seen['requests']} answers were wrong or missing")
    return Load(seen["requests"], seen["requests"] / seen["seconds"], seen["p50_ms"], seen["p99_ms"])


# ---- Figures ----------------------------------------------------------------------------------------------


def processor_time():
    """Of the whole machine since its start, in ticks: (all of it, what the hypervisor gave to other machines)."""
    fields = [int(field) for field in Path("/proc/stat").read_text().split("\n", 1)[0].split()[1:9]]
    return sum(fields), fields[7]


class Gaps:
    """`with Gaps() as gaps: …` tells in gaps.share how much of the processors was not there meanwhile: as bench_gaps
    sees it, or, where that may not look, what the kernel knows to be stolen. And in gaps.disk_ms, how long the disk
    needed for a page at the most."""

    def __enter__(self):
        self._before = processor_time()
        self._watcher = subprocess.Popen([RELEASE / "tests" / "bench" / "bench_gaps"], stdin=subprocess.PIPE,
                                         stdout=subprocess.PIPE, text=True)
        return self

    def __exit__(self, *_):
        output, _ = self._watcher.communicate()
        everything, stolen = (now - then for now, then in zip(processor_time(), self._before))
        seen = json.loads(output)
        self.share = stolen / everything if seen["lost"] < 0 else seen["lost"]
        self.disk_ms = seen["disk_ms"]


@dataclass(frozen=True)
class Quiet:
    """How much may be taken away from a measurement: of a processor, and by the disk, in milliseconds at once."""
    share: float = 0.01
    disk_ms: float = math.inf

    def disturbance(self, gaps):
        """More than 1 is too much."""
        return max(gaps.share / self.share, gaps.disk_ms / self.disk_ms)


class Undisturbed:
    """Measures while processors and disk are there. What other virtual machines take away hits a server of several
    threads that wait for each other, and for the disk, harder than one whose threads do not, and decides a p99. So a
    measurement begins when the machine is quiet, and is made again when it was not; the least disturbed try counts.
    Waiting has an end: each comparison brings PATIENCE_SECONDS, and leaves to the next what it did not need. Then every
    first try counts, and the table tells.
    """
    TRIES, PROBE_SECONDS, PATIENCE_SECONDS = 5, 0.5, 150

    def __init__(self):
        self.patience = self.counted = self.repeated = self.disturbed = 0

    def begin(self):
        """A comparison. Those before it may have used up their patience; none of them takes that of the others."""
        self.patience = max(self.patience, 0) + self.PATIENCE_SECONDS

    def measure(self, candidate, quiet):
        """candidate: a function that measures, or two, of which the first prepares."""
        prepare, measurement = candidate if isinstance(candidate, tuple) else (lambda: None, candidate)
        tries = []
        while not tries or (tries[-1][0] > 1 and len(tries) < self.TRIES and self.patience > 0):
            began = time.monotonic()
            prepare()
            if tries:
                self.patience -= time.monotonic() - began
            self._wait_until(quiet)
            began = time.monotonic()
            with Gaps() as gaps:
                result = measurement()
            if tries:
                self.patience -= time.monotonic() - began
            tries.append((quiet.disturbance(gaps), result))
        disturbance, result = min(tries, key=lambda one: one[0])
        self.counted += 1
        self.repeated += len(tries) - 1
        self.disturbed += disturbance > 1
        return result

    def _wait_until(self, quiet):
        waited = False
        while self.patience > 0:
            with Gaps() as gaps:
                time.sleep(self.PROBE_SECONDS)
            if quiet.disturbance(gaps) <= 1:
                break
            self.patience -= self.PROBE_SECONDS
            waited = True
            progress(f"waiting for a quiet moment: {gaps.share:.0%} of a processor are missing, "
                     f"the disk took {gaps.disk_ms:.0f} ms")
        if waited:
            progress("")

    def text(self):
        return f"{self.repeated} of {self.counted + self.repeated} made again; {self.disturbed} of {self.counted} that count"


def progress(text):
    if os.isatty(1):
        print(f"  {text:<78}", end="\r", flush=True)


def interleave(table, rounds, candidates, quiet=Quiet()):
    """Measures each candidate (by name, see Undisturbed.measure) once per round, in turn; name -> list of results."""
    results = {name: [] for name in candidates}
    table.undisturbed.begin()
    for number in range(rounds):
        for name, candidate in candidates.items():
            results[name].append(table.undisturbed.measure(candidate, quiet))
        progress(f"round {number + 1} of {rounds}")
    return results


def spread(values):
    """How far the values lie apart, relative to their median."""
    return (max(values) - min(values)) / statistics.median(values)


@dataclass
class Table:
    """Figures with their goals. A goal is ("≥", number) or ("≤", number)."""
    title: str
    rows: list = field(default_factory=list)
    missed: int = 0
    undisturbed: Undisturbed = field(default_factory=Undisturbed)

    def figure(self, what, text, value=None, goal=None):
        verdict = ""
        if goal:
            sign, number = goal
            reached = value >= number if sign == "≥" else value <= number
            self.missed += not reached
            verdict = f"{'reached' if reached else 'MISSED'} (goal {sign} {number:g})"
        self.rows.append((what, text, verdict))

    def show(self):
        self.figure("measurements disturbed by other machines", self.undisturbed.text())
        widths = [max(len(row[column]) for row in self.rows) for column in (0, 1)]
        print(f"\n{self.title}")
        for what, text, verdict in self.rows:
            print(f"  {what:<{widths[0]}}  {text:>{widths[1]}}  {verdict}".rstrip())
        return self.missed


def ratio(ours, theirs):
    return statistics.median(mine / other for mine, other in zip(ours, theirs, strict=True))


def rates(loads):
    return [load.per_second for load in loads]


def rate_text(loads):
    values = rates(loads)
    return f"{statistics.median(values):,.0f}/s ±{spread(values) / 2:.0%}"
