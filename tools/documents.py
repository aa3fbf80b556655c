#!/usr/bin/env python3
"""Keeps the documents that are made from tables: documents.py --check or --write

    README.md          the table of settings, between its markers, from `tickettock config --markdown`
    docs/errors.md     every error an answer can carry, from src/tables/errors.def
    api/types.ts       the API for TypeScript, from api/openapi.yaml
"""

import re
import subprocess
import sys
from pathlib import Path

sys.dont_write_bytecode = True
import make_types  # noqa: E402
import yaml_to_json  # noqa: E402

ROOT = Path(__file__).resolve().parent.parent
SERVER = ROOT / "build" / "src" / "tickettock"
ERROR = re.compile(r'^ERR\(\s*(\w+),\s*(\d+),\s*"([^"]*)",\s*"((?:[^"\\]|\\.)*)"\)', re.MULTILINE)


def errors_document():
    table = (ROOT / "src" / "tables" / "errors.def").read_text(encoding="utf-8")
    rows = sorted((int(status), reason, message) for _, status, reason, message in ERROR.findall(table))
    lines = [f"| {status} | `{reason}` | {message} |" for status, reason, message in rows]
    return "\n".join([
        "# Errors",
        "",
        "<!-- Made by ./dev fmt from src/tables/errors.def. -->",
        "",
        "Every error is the same JSON object. `reason` is for programs and never changes its meaning; `message` is",
        "for people and may be worded better at any time.",
        "",
        "```json",
        '{"success": false, "reason": "not_found", "message": "There is nothing at this address.", "traceId": "…"}',
        "```",
        "",
        "| status | reason | message |",
        "|---|---|---|",
        *lines,
        "",
    ])


def readme_document():
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    made = subprocess.run([SERVER, "config", "--markdown"], capture_output=True, text=True, encoding="utf-8")
    if made.returncode != 0:
        sys.exit(f"{SERVER} config --markdown failed:\n{made.stderr}")
    begin, end = "<!-- settings: made by ./dev fmt -->\n", "<!-- end of settings -->"
    before, rest = text.split(begin)
    _, after = rest.split(end)
    return f"{before}{begin}{made.stdout.strip()}\n{end}{after}"


def types_document():
    return make_types.types(yaml_to_json.read(ROOT / "api" / "openapi.yaml"))


def documents():
    yield ROOT / "api" / "types.ts", types_document()
    yield ROOT / "docs" / "errors.md", errors_document()
    yield ROOT / "README.md", readme_document()


def main():
    if sys.argv[1:] not in (["--check"], ["--write"]):
        sys.exit(__doc__)
    stale = 0
    for path, wanted in documents():
        if path.exists() and path.read_text(encoding="utf-8") == wanted:
            continue
        name = path.relative_to(ROOT)
        if sys.argv[1] == "--write":
            path.parent.mkdir(exist_ok=True)
            path.write_text(wanted, encoding="utf-8")
            print(f"wrote {name}")
        else:
            stale += 1
            print(f"{name} is not what its source says: run ./dev fmt")
    return 1 if stale else 0


if __name__ == "__main__":
    sys.exit(main())
