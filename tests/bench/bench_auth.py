"""./dev bench auth: what knowing a caller costs, and what everybody else notices of a flood of sign-ins."""

import base64
import hashlib
import hmac
import json
import os
import statistics
import subprocess
import time
from contextlib import contextmanager

import bench
import bench_fcfs

ROUNDS, SECONDS, CONNECTIONS = 45, 1, 256
FEW_USERS, MANY_USERS = 1000, 50000  # a loop remembers the tokens of either; after the first round all are known
PATH = "/api/v1/show"  # public and cheap: whatever a token costs shows
FLOOD_CONNECTIONS, FLOOD_ROUNDS, PROBES_PER_SECOND, PROBE_SECONDS = 128, 9, 250, 3
LEFT_BEHIND_SECONDS = 6  # until the server is done with requests whose clients have gone (PASSWORD_WAIT_MS)
JWT_SECRET = "a key of the benchmark with 32 bytes"


# ---- Tokens -----------------------------------------------------------------------------------------------


def base64url(data):
    return base64.urlsafe_b64encode(data).rstrip(b"=")


def access_token(number):
    now = int(time.time())
    user = f"01890000-0000-7000-8000-{number:012d}"
    claims = {"iss": "tickettock", "aud": "tickettock", "sub": user, "jti": user, "fam": user, "role": "USER", "iat": now,
              "nbf": now, "exp": now + 3600}
    text = base64url(b'{"alg":"HS256","typ":"JWT"}') + b"." + base64url(json.dumps(claims, separators=(",", ":")).encode())
    return (text + b"." + base64url(hmac.new(JWT_SECRET.encode(), text, hashlib.sha256).digest())).decode()


def write_tokens(folder, count):
    path = folder / f"tokens-{count}"
    path.write_text("".join(f"{access_token(number)}\n" for number in range(count)))
    return path


def is_believed(url, token):
    """Asks for the seat of whom the token names; a token that is not good names nobody."""
    status, _ = bench.ask(url, "GET", "/api/v1/seats/reservation", headers={"Authorization": f"Bearer {token}"})
    return status == 200


def checked_requests(table, folder, process, url):
    print(f"GET {PATH}, {CONNECTIONS} connections: signed in against anonymous")
    few, many = write_tokens(folder, FEW_USERS), write_tokens(folder, MANY_USERS)
    if not is_believed(url, few.read_text().split()[0]):
        raise RuntimeError("the tokens of the benchmark are not believed")

    def load(tokens, credential):
        def measure():
            before = bench_fcfs.cpu_seconds(process)
            env = {"PATH_UNDER_TEST": PATH, "TOKENS": str(tokens), "CREDENTIAL": credential}
            seen = bench.wrk(url, "tokens.lua", CONNECTIONS, SECONDS, env=env)
            return seen, (bench_fcfs.cpu_seconds(process) - before) / seen.requests * 1e6
        return measure

    results = bench.interleave(table, ROUNDS, {
        "anonymous": load(few, "none"),
        f"Bearer, {FEW_USERS:,} users": load(few, "bearer"),
        f"Bearer, {MANY_USERS:,} users": load(many, "bearer"),
        f"cookie, {FEW_USERS:,} users": load(few, "cookie"),
    })
    loads, costs = ({name: [one[part] for one in seen] for name, seen in results.items()} for part in (0, 1))
    for name, seen in loads.items():
        table.figure(name, f"{bench.rate_text(seen)}, {statistics.median(costs[name]):.1f} µs of the server's processors")
        if name != "anonymous":
            ratio = bench.ratio(bench.rates(seen), bench.rates(loads["anonymous"]))
            table.figure(f"{name} ÷ anonymous", f"{ratio:.2f}", ratio, ("≥", 0.9))


# ---- A flood ----------------------------------------------------------------------------------------------


@contextmanager
def flood(url, seen):
    """Sign-ins as fast as answers come. At the lowest priority: attackers bring machines of their own."""
    command = ["nice", "-n", "19", "wrk", "-t1", f"-c{FLOOD_CONNECTIONS}", "-d60s", "--timeout", "30s",
               "-s", str(bench.FOLDER / "logins.lua"), url]
    env = {**os.environ, "RUN": str(next(bench_fcfs.run_numbers))}
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=env)
    try:
        time.sleep(1)
        yield
    finally:
        process.send_signal(2)  # wrk then says what it has seen
        output, _ = process.communicate()
        time.sleep(LEFT_BEHIND_SECONDS)
    figures = json.loads(next(line for line in output.splitlines() if line.startswith("{")))
    if not figures["checked"] or figures["errors"]:
        raise RuntimeError(f"the flood saw wrong answers: {figures}")
    seen.append(figures)


def probe(port, url):
    """p99 of an open loop of light traffic: (reads, claims)."""
    bench_fcfs.reset(url, 100)
    count = PROBES_PER_SECOND * PROBE_SECONDS
    reads = bench_fcfs.run_client("reads", port, count, PROBES_PER_SECOND, 64, "/api/v1/seats")
    bench_fcfs.reset(url, 1000000)
    claims = bench_fcfs.run_client("claims", port, count, PROBES_PER_SECOND, 64, f"p{next(bench_fcfs.run_numbers)}")
    return reads["p99_ms"], claims["p99_ms"]


def login_flood(table, port, url):
    print(f"{FLOOD_CONNECTIONS} clients sign in as fast as they can")
    floods = []

    def during_flood():
        with flood(url, floods):
            return probe(port, url)

    rounds = bench.interleave(table, FLOOD_ROUNDS, {"quiet": lambda: probe(port, url), "flood": during_flood},
                              bench.Quiet(share=bench_fcfs.QUIET_FOR_P99.share))
    for column, name in enumerate(("GET /api/v1/seats", "claim")):
        quiet, flooded = ([one[column] for one in rounds[kind]] for kind in ("quiet", "flood"))
        ratio = bench.ratio(flooded, quiet)
        for what, values in (("quiet", quiet), ("in the flood", flooded)):
            table.figure(f"{name}: p99 {what}", f"{statistics.median(values):.2f} ms ±{bench.spread(values) / 2:.0%}")
        table.figure(f"{name}: p99 in the flood ÷ quiet", f"{ratio:.2f}", ratio, ("≤", 2))
    for kind, text in (("checked", "sign-ins checked"), ("refused", "sign-ins told to come later (503)")):
        table.figure(text, f"{statistics.median(one[kind] / one['seconds'] for one in floods):,.0f}/s")


def main():
    bench.allow_many_connections()
    table = bench.Table("Signing in (medians of interleaved rounds)")
    with bench.temporary_folder() as folder, \
            bench_fcfs.tickettock(folder, JWT_SECRET=JWT_SECRET) as (process, port, url):
        checked_requests(table, folder, process, url)
        login_flood(table, port, url)
    return table.show()
