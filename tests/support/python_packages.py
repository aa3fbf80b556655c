"""Python packages for a test, exactly as its requirements.txt pins them, in a virtual environment of their own below
${XDG_CACHE_HOME:-~/.cache}/tickettock. It is made once; another list, or another Python, makes another one.
"""

import fcntl
import hashlib
import os
import shutil
import subprocess
import sys
from pathlib import Path

# How pip says that nobody answered. Whatever else goes wrong is a failure.
UNREACHABLE = ("Failed to establish a new connection", "NewConnectionError", "Name or service not known",
               "Temporary failure in name resolution", "ConnectTimeoutError", "ReadTimeoutError", "ProxyError",
               "Connection refused", "Network is unreachable", "Connection reset by peer", "Connection aborted")


class Unreachable(Exception):
    """PyPI does not answer, and there is no environment from an earlier run."""


def cache_folder():
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "tickettock"


def run(command):
    result = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if result.returncode == 0:
        return
    last = (result.stdout.strip().splitlines() or ["(it said nothing)"])[-1]
    if any(sign in result.stdout for sign in UNREACHABLE):
        raise Unreachable(last)
    raise RuntimeError(f"{' '.join(map(str, command))}\n{result.stdout}")


def environment(requirements):
    """The path of its Python."""
    content = f"{sys.version}\n{Path(requirements).read_text(encoding='utf-8')}"
    name = Path(requirements).parent.name
    folder = cache_folder() / f"{name}-{hashlib.sha256(content.encode()).hexdigest()[:12]}"
    python, complete = folder / "bin" / "python3", folder / "complete"
    folder.parent.mkdir(parents=True, exist_ok=True)
    with open(folder.with_suffix(".lock"), "w", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # two runs at once make one
        if not complete.exists():
            shutil.rmtree(folder, ignore_errors=True)
            run([sys.executable, "-m", "venv", str(folder)])
            run([str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--retries", "2",
                 "--timeout", "30", "--only-binary", ":all:", "-r", str(requirements)])
            complete.touch()
    return python
