#!/usr/bin/env python3
"""Checks who includes what: dependencies point downward only, and each library has one place.

ARCHITECTURE.md draws the same picture. To change it, change it here first, with a reason.
"""

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

# A layer may include itself and the layers named here. src/main.c and its neighbours wire everything together.
LAYERS = {
    "base": [],
    "tables": ["base"],
    "task": ["base", "tables"],
    "http": ["base", "tables", "task"],
    "db": ["base", "tables", "task"],
    "coord": ["base", "tables", "task"],
    # The checker believes nobody: it shares no code with the services that it judges, nor with what they stand on.
    "history": ["base"],
    "rehearse": ["base", "http", "history"],
    "bus": ["base", "tables", "task", "db"],
    "pay": ["base", "tables", "task", "http"],
    "pii": ["base"],
    "gateway": ["base", "tables", "task", "http", "db", "coord"],
    "services": ["base", "tables", "task", "http", "db", "coord", "bus", "pay", "pii", "gateway"],
}

# Libraries and the files that may know them.
LIBRARIES = {
    r"libpq-fe\.h|libpq/": r"src/db/postgres\w*\.[ch]|src/db/migrate_postgres\.c|src/history/witness_postgres\.c",
    r"sqlite3\.h": r"src/db/sqlite\w*\.[ch]|src/db/migrate_sqlite\.c|src/history/witness_sqlite\.c",
    r"hiredis\.h|hiredis/|async\.h|adapters/": r"src/coord/redis\w*\.[ch]",
    r"curl/": r"src/http/client\w*\.[ch]|src/history/witness_server\.c",
    r"librdkafka/": r"src/bus/kafka\w*\.[ch]",
    r"uv\.h": r"src/(task|http)/.*|src/coord/redis\w*\.[ch]|src/main\.c|src/serve\w*\.c",
}

INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]', re.MULTILINE)


def layer_of(path):
    """"src/http/head.c" -> "http"; None for src/main.c."""
    parts = Path(path).parts
    return parts[1] if len(parts) > 2 else None


def service_of(parts):
    return parts[1] if len(parts) > 2 and parts[0] == "services" else None


def complaint(file, style, included):
    """Why this file may not include that, or None."""
    if style == "<":
        for library, allowed in LIBRARIES.items():
            if re.match(library, included) and not re.fullmatch(allowed, file):
                return f"<{included}> belongs to {allowed}"
        return None
    if "/" not in included:
        beside_main = layer_of(file) is None
        return None if beside_main or file.startswith("tests/") else f'write "{included}" with its folder'
    own, other = layer_of(file), included.split("/")[0]
    if own is None:
        return None
    if own not in LAYERS:
        return f"the layer {own} is not in the table of tools/check_layers.py"
    if other != own and other not in LAYERS[own]:
        return f"{own} may not include {other}"
    service, other_service = service_of(Path(file).parts[1:]), service_of(Path(included).parts)
    if other_service and other_service != service and included != f"services/{other_service}/{other_service}.h":
        return f"only services/{other_service}/{other_service}.h is for others"
    return None


def main():
    wrong = 0
    for path in sorted(ROOT.glob("src/**/*.[ch]")) + sorted(ROOT.glob("tests/**/*.[ch]")):
        file = path.relative_to(ROOT).as_posix()
        text = path.read_text(encoding="utf-8")
        for match in INCLUDE.finditer(text):
            style, included = match.groups()
            reason = None
            if included.endswith(".c"):
                reason = "link it, do not include it"
            elif file.startswith("src/"):
                reason = complaint(file, style, included)
            if reason:
                wrong += 1
                print(f"{file}:{text.count(chr(10), 0, match.start()) + 1}: includes {included}: {reason}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
