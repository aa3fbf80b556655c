"""Reads the Test Anything Protocol as cmocka and node's test runner write it."""

import re
from dataclasses import dataclass, field

POINT = re.compile(r"^(?P<indent> *)(?P<not>not )?ok\b *(?P<number>\d+)?(?: *-)? *(?P<rest>.*)$")
DIRECTIVE = re.compile(r"#\s*(?P<word>SKIP|TODO)\b:?\s*(?P<reason>.*)$", re.IGNORECASE)
PLAN = re.compile(r"^(?P<indent> *)1\.\.(?P<count>\d+)")
NOISE = re.compile(r"^ *# (Subtest:|(tests|suites|pass|fail|cancelled|skipped|todo|duration_ms) [\d.]+$)|^TAP version")


@dataclass
class Case:
    name: str
    outcome: str  # "passed", "failed" or "skipped"
    reason: str = ""  # of a skip
    output: list = field(default_factory=list)  # the lines that belong to it


def read_cases(text):
    """The single test cases in a program's output, and how many its plan promised (None without a plan).

    node reports a suite or a test with subtests after its parts. Such a parent is only counted when it
    failed although none of its parts did, for instance in a hook.
    """
    cases, planned = [], None
    parts_failed = {}  # depth -> whether any of the points seen there, below the parent still to come, failed
    since_last_point = []
    in_details = False
    for line in text.splitlines():
        if in_details:
            cases and cases[-1].output.append(line)
            in_details = line.strip() != "..."
            continue
        if line.strip() == "---":
            in_details = True
            continue
        plan = PLAN.match(line)
        if plan or NOISE.match(line):
            if plan and not plan.group("indent"):
                planned = (planned or 0) + int(plan.group("count"))
            continue
        point = POINT.match(line)
        if not point:
            # cmocka explains a failure below its line, as comments; what a test printed stands above it.
            if line.startswith("# ") and cases and not since_last_point:
                cases[-1].output.append(line)
            else:
                since_last_point.append(line)
            continue
        depth = len(point.group("indent"))
        deeper = [d for d in parts_failed if d > depth]
        case = read_point(point)
        if not deeper or (case.outcome == "failed" and not any(parts_failed[d] for d in deeper)):
            case.output = since_last_point
            cases.append(case)
        parts_failed[depth] = parts_failed.get(depth, False) or case.outcome == "failed"
        for d in deeper:
            del parts_failed[d]
        since_last_point = []
    return cases, planned


def read_point(point):
    name, outcome, reason = point.group("rest"), "failed" if point.group("not") else "passed", ""
    directive = DIRECTIVE.search(name)
    if directive:
        before = name[: directive.start()].strip()
        outcome = "skipped"
        # cmocka writes "ok 3 # SKIP name", others "ok 3 - name # SKIP reason".
        name, reason = (before, directive.group("reason")) if before else (directive.group("reason"), "")
    return Case(name.replace("\\#", "#").strip() or "case " + (point.group("number") or "?"), outcome, reason.strip())
