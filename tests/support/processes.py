"""Starts test programs so that nothing of them can outlive the run.

The run makes itself the reaper of its orphans: whatever a test leaves behind, in whatever session, becomes
our child and is found again.
"""

import ctypes
import os
import signal
import subprocess
import time

PR_SET_CHILD_SUBREAPER = 36
PRIVATE_SERVER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "private-server")


def adopt_orphans():
    ctypes.CDLL(None, use_errno=True).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def process_table():
    """pid -> (parent, state) of everything that runs."""
    table = {}
    for name in os.listdir("/proc"):
        if name.isdigit():
            try:
                with open(f"/proc/{name}/stat", encoding="utf-8", errors="replace") as file:
                    state, parent = file.read().rpartition(")")[2].split()[:2]
            except OSError:
                continue  # it has just ended
            table[int(name)] = (int(parent), state)
    return table


def descendants(root, table):
    children = {}
    for pid, (parent, _) in table.items():
        children.setdefault(parent, []).append(pid)
    found, queue = [], [root]
    while queue:
        for child in children.get(queue.pop(), []):
            found.append(child)
            queue.append(child)
    return found


def mentions(pid, folder):
    """Whether a process belongs to this folder: it works or writes there, or was given its name."""
    try:
        for link in ("cwd", "fd/1"):
            if os.readlink(f"/proc/{pid}/{link}").startswith(folder):
                return True
        with open(f"/proc/{pid}/environ", "rb") as content:
            return folder.encode() in content.read()
    except OSError:
        return False  # it has just ended


def describe(pid):
    try:
        with open(f"/proc/{pid}/cmdline", "rb") as file:
            return file.read().replace(b"\0", b" ").decode(errors="replace").strip()[:120]
    except OSError:
        return str(pid)


def kill_all(pids):
    for pid in pids:
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            pass


class Started:
    """A running program with its own session, temporary folder and output file."""

    def __init__(self, command, env, folder, cwd):
        self.folder = folder
        os.makedirs(os.path.join(folder, "tmp"))
        self.output_path = os.path.join(folder, "output")
        with open(self.output_path, "wb") as output:
            self.process = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                cwd=cwd,
                env={**os.environ, **env, "TMPDIR": os.path.join(folder, "tmp")},
                start_new_session=True,
            )
        self.began = time.monotonic()

    @property
    def seconds(self):
        return time.monotonic() - self.began

    def output(self):
        with open(self.output_path, encoding="utf-8", errors="replace") as file:
            return file.read()

    def outlived_by(self):
        """Like left_behind, but lets servers that are just ending end."""
        patience = time.monotonic() + 5
        while (left := self.left_behind()) and time.monotonic() < patience:
            time.sleep(0.05)
        return left

    def left_behind(self):
        """Processes of this program that live on although it has ended."""
        table = process_table()
        orphans = [pid for pid, (parent, state) in table.items()
                   if parent == os.getpid() and pid != self.process.pid and state != "Z" and mentions(pid, self.folder)]
        return [pid for orphan in orphans for pid in [orphan, *descendants(orphan, table)]]

    def kill(self):
        """The program, what it has started, and what that has left."""
        kill_private_servers(self.folder)
        kill_all([*descendants(self.process.pid, process_table()), self.process.pid])
        kill_all(self.left_behind())
        self.process.wait()


def reap_orphans(own):
    """Takes the exit status of orphans that ended; `own` are the pids somebody else waits for."""
    for pid, (parent, state) in process_table().items():
        if parent == os.getpid() and state == "Z" and pid not in own:
            try:
                os.waitpid(pid, os.WNOHANG)
            except ChildProcessError:
                pass


def kill_private_servers(folder):
    """PostgreSQL's shared memory outlives a plain kill -9; private-server knows how to remove it."""
    for path, folders, files in os.walk(folder):
        if "kind" in files:
            folders.clear()
            subprocess.run([PRIVATE_SERVER, "kill", path], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def kill_everything_started(folder):
    kill_private_servers(folder)
    for _ in range(50):
        rest = descendants(os.getpid(), process_table())
        if not rest:
            return
        kill_all(rest)
        time.sleep(0.02)
        reap_orphans(own=())
