#!/usr/bin/env python3
"""Compiles the pages into the server: embed_web.py WEB OPENAPI.json OUTPUT_DIR

Addresses:
    web/index.html, web/docs/index.html     /, /docs
    web/seats/map.js                        /static/seats/map.js
    an entry "name" of web/vendor.json      /static/vendor/name
    the OpenAPI document                    /openapi.json

Every file under /static also has an address with its hash in it, /static/seats/map.1a2b3c4d.js, which may be
cached for ever. Pages and modules write the plain one; here it is replaced, as are imports by npm name
("preact"), so a browser fetches a file once and a new version at once.

Writes static_files.c (the table), static_files.bin (all bytes) and static_files.S (which includes them:
assembling megabytes takes no time, compiling them as C would), and static_files.d for ninja.
"""

import gzip
import hashlib
import json
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

TYPES = {
    ".css": "text/css; charset=utf-8",
    ".html": "text/html; charset=utf-8",
    ".ico": "image/x-icon",
    ".jpg": "image/jpeg",
    ".js": "text/javascript; charset=utf-8",
    ".json": "application/json",
    ".mjs": "text/javascript; charset=utf-8",
    ".png": "image/png",
    ".svg": "image/svg+xml",
    ".txt": "text/plain; charset=utf-8",
    ".webmanifest": "application/manifest+json",
    ".woff2": "font/woff2",
}
REWRITTEN = (".css", ".html", ".js", ".mjs")
NOT_SERVED = {"package.json", "package-lock.json", "vendor.json", "meson.build", "README.md"}


@dataclass
class Source:
    address: str  # without a hash
    path: Path

    @property
    def suffix(self):
        return self.path.suffix


def find_sources(web, openapi):
    sources = [Source("/openapi.json", openapi)]
    for path in sorted(web.rglob("*")):
        relative = path.relative_to(web)
        if path.is_dir() or relative.parts[0] == "node_modules" or path.name in NOT_SERVED or path.name.startswith("."):
            continue
        if path.suffix not in TYPES:
            sys.exit(f"embed_web.py: no content type for {path}: add it to TYPES")
        if path.name == "index.html":
            sources.append(Source("/" + relative.parent.as_posix().strip("."), path))
        else:
            sources.append(Source(f"/static/{relative.as_posix()}", path))
    return sources


class Web:
    """All files with their final content. A file's hash covers the hashes of what it refers to."""

    def __init__(self, web, openapi):
        self.vendor = json.loads((web / "vendor.json").read_text())
        self.sources = {source.address: source for source in find_sources(web, openapi)}
        for entry in self.vendor:
            path = web / "node_modules" / entry["file"]
            self.sources[f"/static/vendor/{entry['name']}"] = Source(f"/static/vendor/{entry['name']}", path)
        self.imports = {entry["import"]: f"/static/vendor/{entry['name']}" for entry in self.vendor if "import" in entry}
        names = "|".join(re.escape(a) for a in sorted(self.sources, key=len, reverse=True) if a.startswith("/static/"))
        self.reference = re.compile(rf"(?<=[\"'(])({names})(?=[\"')])") if names else None
        self.contents = {}
        self.under_way = []

    def content(self, address):
        if address in self.contents:
            return self.contents[address]
        if address in self.under_way:
            sys.exit(f"embed_web.py: files refer to each other in a circle: {' → '.join(self.under_way)} → {address}")
        self.under_way.append(address)
        source = self.sources[address]
        content = source.path.read_bytes()
        if source.suffix in REWRITTEN:
            content = self.rewrite(content.decode(), source).encode()
        self.under_way.pop()
        self.contents[address] = content
        return content

    def rewrite(self, text, source):
        text = re.sub(r"\n?(//# sourceMappingURL=\S+|/\*# sourceMappingURL=\S+ ?\*/)", "", text)
        if source.suffix in (".js", ".mjs"):
            text = re.sub(r"(\b(?:from|import)\s*)[\"']([\w@/.-]+)[\"']", self.rewrite_import, text)
        return self.reference.sub(lambda match: self.hashed(match.group(1)), text) if self.reference else text

    def rewrite_import(self, match):
        return f'{match.group(1)}"{self.imports[match.group(2)]}"' if match.group(2) in self.imports else match.group(0)

    def hashed(self, address):
        stem, dot, suffix = address.rpartition(".")
        return f"{stem}.{digest(self.content(address))[:8]}{dot}{suffix}"

    def licences(self):
        """What the licences of the npm packages ask for when their code is handed on."""
        texts = []
        for package in sorted({Path(entry["file"]).parts[0] for entry in self.vendor}):
            folder = next(s.path for s in self.sources.values() if package in s.path.parts)
            while folder.name != package:
                folder = folder.parent
            for path in sorted(folder.glob("LICENSE*")) + sorted(folder.glob("NOTICE*")):
                texts.append(f"==== {package}: {path.name}\n\n{path.read_text(errors='replace').strip()}\n")
        return "\n".join(texts).encode()


def digest(content):
    return hashlib.sha256(content).hexdigest()


def c_string(text):
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


class Output:
    def __init__(self):
        self.bytes = bytearray()
        self.rows = {}

    def place(self, content):
        offset = len(self.bytes)
        self.bytes += content
        return f"{{static_files_bytes + {offset}, {len(content)}}}"

    def add(self, content, suffix, plain_address, hashed_address=None):
        packed = gzip.compress(content, 9, mtime=0)
        plain = self.place(content)
        small = self.place(packed) if len(packed) < len(content) * 0.95 else "{NULL, 0}"
        tag = digest(content)[:16]
        for address, immutable in ((plain_address, "false"), (hashed_address, "true")):
            if address:
                self.rows[address] = (
                    f"    {{STR_INIT({c_string(address)}), STR_INIT({c_string(TYPES[suffix])}),\n"
                    f"     STR_INIT({c_string(chr(34) + tag + chr(34))}), "
                    f"STR_INIT({c_string(chr(34) + tag + '-gzip' + chr(34))}),\n"
                    f"     {plain}, {small}, {immutable}}},\n")

    def write(self, folder):
        (folder / "static_files.bin").write_bytes(self.bytes)
        (folder / "static_files.S").write_text(
            "    .section .rodata\n    .balign 16\n    .globl static_files_bytes\n    .hidden static_files_bytes\n"
            f"static_files_bytes:\n    .incbin \"{folder / 'static_files.bin'}\"\n"
            '    .section .note.GNU-stack,"",%progbits\n')
        rows = "".join(self.rows[address] for address in sorted(self.rows, key=str.encode))
        (folder / "static_files.c").write_text(
            "/* Made by tools/embed_web.py. */\n#include \"http/static_files.h\"\n\n"
            "extern const char static_files_bytes[] __attribute__((visibility(\"hidden\")));\n\n"
            f"const struct static_file static_files[] = {{\n{rows}}};\n"
            f"const size_t static_files_count = {len(self.rows)};\n")


def main():
    web, openapi, folder = (Path(argument).absolute() for argument in sys.argv[1:])
    subprocess.run([Path(__file__).parent / "npm-packages", web], check=True)
    files = Web(web, openapi)
    output = Output()
    for address, source in files.sources.items():
        hashed = files.hashed(address) if address.startswith("/static/") else None
        output.add(files.content(address), source.suffix, address, hashed)
    output.add(files.licences(), ".txt", "/static/vendor/licences.txt")
    output.write(folder)
    inputs = {source.path for source in files.sources.values()}
    folders = {web} | {path.parent for path in inputs if web in path.parents}  # notices files that are new
    inputs |= folders | {web / "vendor.json", web / "package-lock.json", Path(__file__)}
    listing = " ".join(str(path).replace(" ", "\\ ") for path in sorted(inputs))
    (folder / "static_files.d").write_text(f"{folder / 'static_files.c'}: {listing}\n")


if __name__ == "__main__":
    main()
