#!/usr/bin/env python3
"""Schemathesis makes requests out of the OpenAPI document, good ones and bad ones, and holds the answers against it: no
server error, no answer that is not described, nothing bad taken, nothing good refused. It asks as everybody who may ask:
a stranger, a buyer, a guest, a user, the operator, an administrator, the gateway, another service. Each operation of each
identity is a case. A new route needs nothing here.

Skipped as a whole where PyPI cannot be reached. With --long it makes many more requests. By hand, to look at one of
them: tests/api/test_schemathesis.py "a buyer"
"""

import base64
import hashlib
import hmac
import json
import os
import re
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
import xml.etree.ElementTree
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
HERE = Path(__file__).resolve().parent / "schemathesis"
sys.dont_write_bytecode = True
sys.path[:0] = [str(ROOT / "tests" / "support"), str(HERE)]
import document  # noqa: E402
import python_packages  # noqa: E402

TICKETTOCK = os.environ.get("TICKETTOCK", str(ROOT / "build" / "src" / "tickettock"))
# Sanitizers make the server several times slower.
LONG = bool(os.environ.get("TICKETTOCK_TEST_LONG")) and not re.search(r"build-(asan|tsan)", TICKETTOCK)
EXAMPLES = 400 if LONG else 40  # per operation, beside those that follow from the schema
TOGETHER = 2  # identities that ask at the same time

ADMIN_TOKEN = "the-token-of-the-tests"
GATEWAY_TOKEN = "the-secret-of-the-gateway"
INTERNAL_TOKEN = "the-secret-of-our-services"
JWT_SECRET = "a secret of the tests that is long enough"
PASSWORD = "none of those in the document"

# Whoever asks this has no account afterwards: it is for somebody whom nobody else needs.
LEAVING = {"eraseAccount"}


# ---- The server -------------------------------------------------------------------------------------------


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


class Server:
    """As an operator starts it, but for limits: whoever tests comes more often than people do."""

    def __init__(self, folder):
        self.internal_url = f"http://127.0.0.1:{free_port()}"
        self.log = folder / "log"
        self.settings = {
            "PATH": os.environ["PATH"], "BIND_ADDRESS": "127.0.0.1", "APP_PORT": "0", "DATA_DIR": str(folder / "data"),
            "LOG_FORMAT": "json", "THREADS": "2", "FCFS_SEATS": "100000", "FCFS_TRUST_USER_HEADER": "1",
            "FCFS_IP_CONCURRENCY": "10000", "RATE_LIMIT_GENERAL": "0", "RATE_LIMIT_AUTH": "0", "RATE_LIMIT_BOOKING": "0",
            "RATE_LIMIT_QUEUE": "0", "RATE_LIMIT_GUESTS": "0", "PASSWORD_WAIT_MS": "60000",
            "REQUEST_TIMEOUT_MS": "60000", "JWT_SECRET": JWT_SECRET,
            "ADMIN_TOKEN": ADMIN_TOKEN, "GATEWAY_TOKEN": GATEWAY_TOKEN, "INTERNAL_API_TOKEN": INTERNAL_TOKEN,
            "INTERNAL_PORT": self.internal_url.rsplit(":", 1)[1],
            **{name: value for name, value in os.environ.items() if name.endswith("SAN_OPTIONS")},
        }
        (folder / "data").mkdir()
        with open(self.log, "wb") as output:
            self.process = subprocess.Popen([TICKETTOCK, "serve"], env=self.settings, stdout=output, stderr=output)
        self.url = f"http://127.0.0.1:{self.wait_for_port()}"

    def wait_for_port(self):
        for _ in range(3000):
            found = re.search(r'"open for business","port":(\d+)', self.log.read_text(errors="replace"))
            if found:
                return found.group(1)
            if self.process.poll() is not None:
                break
            time.sleep(0.02)
        raise RuntimeError(f"the server did not start:\n{self.log.read_text(errors='replace')}")

    def open(self, method, path, body=None, headers=None):
        request = urllib.request.Request(self.url + path, method=method, headers=headers or {},
                                         data=None if body is None else json.dumps(body).encode())
        return urllib.request.urlopen(request, timeout=60)

    def ask(self, *request, **more):
        with self.open(*request, **more) as answer:
            return json.load(answer)

    def make_administrator(self, email):
        settings = {**self.settings, "APP_PORT": self.url.rsplit(":", 1)[1]}
        subprocess.run([TICKETTOCK, "admin", "create", email], env=settings, input=f"{PASSWORD}\n{PASSWORD}\n", text=True,
                       check=True, stdout=subprocess.DEVNULL)

    def stop(self):
        self.process.terminate()
        return self.process.wait(timeout=60)


# ---- Who asks ---------------------------------------------------------------------------------------------


def bearer(token):
    return {"Authorization": f"Bearer {token}"}


def encoded(data):
    return base64.urlsafe_b64encode(data if isinstance(data, bytes) else json.dumps(data).encode()).rstrip(b"=").decode()


def lasting(token):
    """The same access token under another number: it is not ended with the sessions that the run ends."""
    header, claims, _ = token.split(".")
    claims = json.loads(base64.urlsafe_b64decode(claims + "=" * (-len(claims) % 4)))
    claims.update(jti="of-the-whole-run", exp=int(time.time()) + 7200)
    text = f"{header}.{encoded(claims)}"
    return f"{text}.{encoded(hmac.new(JWT_SECRET.encode(), text.encode(), hashlib.sha256).digest())}"


@dataclass
class Identity:
    name: str
    chosen: Callable  # which operations are its own
    headers: dict = field(default_factory=dict)  # of every request
    sends: frozenset = frozenset()  # of the headers that name somebody, those that are made up
    internal: bool = False  # it asks on the internal port
    must_stay: bool = False  # signed in until the end: else nothing that it found would mean much


def signed_in(server, email, register=True):
    if register:
        server.ask("POST", "/api/v1/auth/register", {"email": email, "password": PASSWORD, "name": "Somebody"})
    tokens = server.ask("POST", "/api/v1/auth/login", {"email": email, "password": PASSWORD})
    return bearer(lasting(tokens["accessToken"]))


def guest(server):
    """What the page of a buyer without an account sends."""
    with server.open("POST", "/api/v1/auth/guest") as answer:
        cookies = [line.split(";")[0] for line in answer.headers.get_all("Set-Cookie")]
    return {"Cookie": "; ".join(cookies), "Sec-Fetch-Site": "same-origin"}


def identities(server):
    security, takes = document.security_of, document.parameter_names
    server.make_administrator("admin@example.com")
    return [
        Identity("a stranger", lambda one: security(one) and "internalToken" not in security(one)),
        Identity("a buyer", lambda one: not security(one), sends=frozenset({"X-User-Id"})),
        Identity("a guest", lambda one: "X-User-Id" in takes(one), guest(server)),
        Identity("a user", lambda one: (security(one) == {"bearerAuth"} and one["operationId"] not in LEAVING)
                 or "X-User-Id" in takes(one), signed_in(server, "user@example.com"), must_stay=True),
        Identity("a user who leaves", lambda one: one["operationId"] in LEAVING, signed_in(server, "leaves@example.com")),
        Identity("the operator", lambda one: "adminToken" in security(one), {"X-Admin-Token": ADMIN_TOKEN}),
        Identity("an administrator", lambda one: "adminToken" in security(one),
                 signed_in(server, "admin@example.com", register=False), must_stay=True),
        Identity("the gateway", lambda one: "X-Gateway-Token" in takes(one), {"X-Gateway-Token": GATEWAY_TOKEN},
                 sends=frozenset({"X-User-Id", "X-Fcfs-Seq"})),
        Identity("another service", lambda one: "internalToken" in security(one), bearer(INTERNAL_TOKEN), internal=True),
    ]


# ---- The runs ---------------------------------------------------------------------------------------------


class Run:
    """Schemathesis on the operations of one identity."""

    def __init__(self, python, server, identity, description, folder):
        self.identity, self.report, self.output = identity, folder / "report.xml", folder / "output"
        adapted, own = document.for_identity(description, identity)
        self.operations = {f"{method.upper()} {path}" for path, method, operation in document.operations(adapted)
                           if operation["operationId"] in own}
        (folder / "openapi.json").write_text(json.dumps(adapted), encoding="utf-8")
        headers = [part for name, value in identity.headers.items() for part in ("--header", f"{name}: {value}")]
        included = [part for name in own for part in ("--include-operation-id", name)]
        command = [str(python), "-m", "schemathesis.cli", "--config-file", str(HERE / "schemathesis.toml"), "run",
                   str(folder / "openapi.json"), "--url", server.internal_url if identity.internal else server.url,
                   *headers, *included, "--checks", "all", "--max-examples", str(EXAMPLES), "--workers", "1", "--continue-on-failure",
                   "--request-timeout", "60", "--generation-with-security-parameters",
                   str(not identity.headers).lower(), "--suppress-health-check", "all", "--warnings", "off", "--no-color",
                   "--report", "junit", "--report-junit-path", str(self.report)]
        env = {**os.environ, "SCHEMATHESIS_HOOKS": "hooks", "PYTHONPATH": str(HERE), "PYTHONDONTWRITEBYTECODE": "1",
               "NO_PROXY": "127.0.0.1"}
        with open(self.output, "wb") as output:
            self.process = subprocess.Popen(command, cwd=folder, env=env, stdout=output, stderr=subprocess.STDOUT)

    def cases(self):
        """(name, what is wrong with it or None) of each operation."""
        self.process.wait()
        text = self.output.read_text(errors="replace")
        if not self.report.exists():
            return [(self.identity.name, text)]
        found = {}
        for case in xml.etree.ElementTree.parse(self.report).iter("testcase"):
            wrong = [part.text or part.get("message") or part.tag for part in case if part.tag in ("failure", "error")]
            found.setdefault(case.get("name"), []).extend(wrong)
        cases = [(f"{self.identity.name}: {name}", "\n".join(wrong) or None) for name, wrong in sorted(found.items())]
        missing = sorted(self.operations - set(found))
        if missing or (self.process.returncode != 0 and not any(wrong for _, wrong in cases)):
            cases.append((self.identity.name, f"not asked: {', '.join(missing) or 'nothing'}\n{text}"))
        return cases


def all_runs(python, server, asking, folder):
    description = server.ask("GET", "/openapi.json")
    waiting, running, cases = list(asking), [], []
    try:
        while waiting or running:
            while waiting and len(running) < TOGETHER:
                own_folder = folder / str(len(waiting))
                own_folder.mkdir()
                running.append(Run(python, server, waiting.pop(0), description, own_folder))
            done = next((run for run in running if run.process.poll() is not None), None)
            if done:
                running.remove(done)
                cases += done.cases()
            else:
                time.sleep(0.05)
    finally:
        for run in running:
            run.process.kill()
    return cases


def check_server(server, asking):
    """What must hold after all that: whoever was to be signed in still is, and the server ends as it should."""
    for identity in asking:
        if identity.must_stay:
            server.ask("GET", "/api/v1/users/me", headers=identity.headers)
    status = server.stop()
    errors = [line for line in server.log.read_text(errors="replace").splitlines() if '"level":"error"' in line]
    return f"exit status {status}" if status else "\n".join(errors[:20]) or None


def tap(cases):
    print(f"1..{len(cases)}")
    for number, (name, wrong) in enumerate(cases, 1):
        print(f"{'not ok' if wrong else 'ok'} {number} - {name}")
        for line in (wrong or "").splitlines():
            print(f"# {line}")


def main():
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # so that nothing is left running
    try:
        python = python_packages.environment(HERE / "requirements.txt")
    except python_packages.Unreachable as why:
        print(f"1..1\nok 1 - schemathesis over the OpenAPI document # SKIP PyPI cannot be reached: {why}")
        return
    with tempfile.TemporaryDirectory(prefix="tickettock-") as name:
        server = Server(Path(name))
        try:
            asking = [one for one in identities(server) if not sys.argv[1:] or one.name in sys.argv[1:]]
            cases = all_runs(python, server, asking, Path(name))
            cases.append(("the server after all that", check_server(server, asking)))
        finally:
            server.process.kill()
            server.process.wait()
        tap(cases)


if __name__ == "__main__":
    main()
