#!/usr/bin/env python3
"""run.py [NAME…]: measures, usually through ./dev bench. Without a NAME, everything there is."""

import importlib
import sys
from pathlib import Path

FOLDER = Path(__file__).resolve().parent


def main():
    known = sorted(path.stem.removeprefix("bench_") for path in FOLDER.glob("bench_*.py"))
    names = sys.argv[1:] or known
    for name in names:
        if name not in known:
            sys.exit(f"bench: nothing is called {name}. There is: {', '.join(known)}")
    sys.dont_write_bytecode = True
    missed = sum(importlib.import_module(f"bench_{name}").main() for name in names)
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
