#!/usr/bin/env python3
"""All static checks: lint.py [--tap] [--without NAME] [NAME…], usually through ./dev lint. Needs a finished debug build."""

import argparse
import hashlib
import json
import re
import shlex
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
JOBS = 2


def project_files(*patterns):
    """What git knows or would take in."""
    listing = subprocess.run(["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard", "--", *patterns],
                             cwd=ROOT, check=True, capture_output=True, text=True)
    return sorted({name for name in listing.stdout.split("\0") if name and (ROOT / name).is_file()})


def run(*command):
    done = subprocess.run(command, cwd=ROOT, text=True, errors="replace", stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    return done.returncode == 0, done.stdout


def check_format():
    return run("clang-format", "--dry-run", "-Werror", *project_files("*.c", "*.h"))


def run_clang_tidy(checks):
    """A file that was clean is looked at again when it, a header of ours that it includes, or the rules change."""
    rules = (ROOT / ".clang-tidy").read_bytes() + checks.encode()
    clean = ROOT / "build" / "tidy-clean"
    clean.mkdir(exist_ok=True)

    def check(unit):
        places = [part for part in shlex.split(unit["command"]) if part.startswith(("-I", "-D"))]
        listing = subprocess.run(["cc", *places, "-MM", unit["file"]], check=True, cwd=unit["directory"],
                                 capture_output=True, text=True)
        included = sorted(set(listing.stdout.replace("\\\n", " ").split(":", 1)[1].split()))
        contents = b"".join(Path(unit["directory"], name).read_bytes() for name in included)
        stamp = clean / hashlib.sha256(rules + unit["command"].encode() + contents).hexdigest()
        if stamp.exists():
            return True, ""
        good, text = run("clang-tidy", "-p", "build", "--quiet", f"--checks={checks}",
                         str(Path(unit["directory"], unit["file"]).resolve()))
        if good:
            stamp.touch()
        return good, "\n".join(line for line in text.splitlines() if not re.match(r"\d+ warnings? generated", line))

    units = json.loads((ROOT / "build" / "compile_commands.json").read_text())
    ours = [unit for unit in units if unit["file"].startswith("../") and unit["file"].endswith(".c")]
    with ThreadPoolExecutor(JOBS) as pool:
        results = list(pool.map(check, ours))
    return all(good for good, _ in results), "\n".join(text for good, text in results if not good)


def check_tidy():
    return run_clang_tidy("-clang-analyzer-*")


def check_analyzer():
    """Follows the paths through every function: forty times the work of all the other checks of clang-tidy."""
    return run_clang_tidy("-bugprone-*,-performance-*,-misc-*,-readability-*")


def check_cppcheck():
    return run("cppcheck", f"-j{JOBS}", "--quiet", "--std=c11", "--inline-suppr", "--error-exitcode=1", "-Isrc",
               "--enable=warning,performance,portability",
               "--suppress=legacyUninitvar",  # does not see that a function fills the array it is given
               "--suppress=nullPointerRedundantCheck:tests/*",  # cmocka's assertions do not return
               "--suppress=nullPointerArithmeticRedundantCheck:tests/*",
               "src", "tests")


def check_shellcheck():
    scripts = [name for name in project_files()
               if not name.endswith((".py", ".md")) and (ROOT / name).open("rb").read(32).split(b"\n")[0]
               in (b"#!/bin/sh", b"#!/bin/bash", b"#!/usr/bin/env bash")]
    return run("shellcheck", *scripts)


def check_python():
    """Nothing but whether it compiles, without leaving __pycache__ behind."""
    wrong = []
    for name in [*project_files("*.py"), "tests/run"]:
        try:
            compile((ROOT / name).read_text(encoding="utf-8"), name, "exec")
        except SyntaxError as error:
            wrong.append(f"{name}:{error.lineno}: {error.msg}")
    return not wrong, "\n".join(wrong)


def check_layers():
    return run(sys.executable, "tools/check_layers.py")


def check_documents():
    return run(sys.executable, "tools/documents.py", "--check")


def check_links():
    """What a document links to within the project is there."""
    wrong = []
    for name in project_files("*.md"):
        for target in re.findall(r"\]\(([^)\s]+)\)", (ROOT / name).read_text(encoding="utf-8")):
            path = target.split("#")[0]
            if path and "://" not in path and not (ROOT / name).parent.joinpath(path).exists():
                wrong.append(f"{name}: links to {target}, which is not there")
    return not wrong, "\n".join(wrong)


CHECKS = {
    "format": check_format,
    "layers": check_layers,
    "documents": check_documents,
    "links": check_links,
    "shellcheck": check_shellcheck,
    "python": check_python,
    "cppcheck": check_cppcheck,
    "tidy": check_tidy,
    "analyzer": check_analyzer,
}


def main():
    parser = argparse.ArgumentParser(description="All static checks.")
    parser.add_argument("--tap", action="store_true", help="report as the Test Anything Protocol")
    parser.add_argument("--without", action="append", default=[], choices=CHECKS, metavar="NAME", help="leave one out")
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(CHECKS))
    options = parser.parse_args()
    names = [name for name in options.names or CHECKS if name not in options.without]
    if unknown := [name for name in names if name not in CHECKS]:
        parser.error(f"no check is called {', '.join(unknown)}: there are {', '.join(CHECKS)}")
    if options.tap:
        print(f"1..{len(names)}", flush=True)
    failed = 0
    for number, name in enumerate(names, start=1):
        good, output = CHECKS[name]()
        failed += not good
        if not good:
            print(output.rstrip())
        verdict = ("ok" if good else "not ok") if options.tap else ("ok  " if good else "FAIL")
        print(f"{verdict} {f'{number} - ' if options.tap else ''}{name}", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
