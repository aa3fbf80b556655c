#!/usr/bin/env python3
"""Compiles sql/<service>/<dialect>/NNN_name.sql into the server: embed_migrations.py SQL OUTPUT.c DEPFILE

The numbers of a service and dialect run from 1 without gaps, and both dialects have the same migrations.
"""

import re
import sys
from pathlib import Path

DIALECTS = ("postgres", "sqlite")
NAME = re.compile(r"^(\d{3})_[a-z0-9_]+\.sql$")


def fail(text):
    sys.exit(f"embed_migrations.py: {text}")


def c_string(content):
    """One C string per line of SQL, so that the generated file can be read."""
    lines = []
    for line in content.splitlines(keepends=True):
        escaped = "".join(
            chr(byte) if 32 <= byte < 127 and chr(byte) not in '"\\?' else f"\\{byte:03o}" for byte in line.encode())
        lines.append(f'\n        "{escaped}"')
    return "".join(lines) or '""'


def migrations_of(service, dialect):
    files = sorted((service / dialect).glob("*"))
    for number, path in enumerate(files, start=1):
        match = NAME.match(path.name)
        if not match:
            fail(f"{path} is not named NNN_name.sql")
        if int(match.group(1)) != number:
            fail(f"{path}: expected number {number:03d}")
    return files


def main():
    sql, output, depfile = (Path(argument).absolute() for argument in sys.argv[1:])
    rows, inputs = [], {sql, Path(__file__).absolute()}
    for service in sorted(path for path in sql.iterdir() if path.is_dir()):
        by_dialect = {dialect: migrations_of(service, dialect) for dialect in DIALECTS}
        names = [[path.name for path in files] for files in by_dialect.values()]
        if names[0] != names[1]:
            fail(f"{service}: the dialects have different migrations: {names[0]} and {names[1]}")
        inputs |= {service}
        for dialect, files in by_dialect.items():
            inputs |= {service / dialect, *files}
            for number, path in enumerate(files, start=1):
                rows.append(f'    {{"{service.name}", "{dialect}", {number}, "{path.stem}",\n'
                            f"     STR_INIT({c_string(path.read_text(encoding='utf-8'))})}},\n")
    output.write_text('/* Made by tools/embed_migrations.py. */\n#include "db/migrate.h"\n\n'
                      f"const struct migration migrations[] = {{\n{''.join(rows)}    {{.service = NULL}},\n}};\n",
                      encoding="utf-8")
    listing = " ".join(str(path).replace(" ", "\\ ") for path in sorted(inputs))
    depfile.write_text(f"{output}: {listing}\n")


if __name__ == "__main__":
    main()
