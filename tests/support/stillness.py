"""Notices when the machine stands still: a hypervisor can hold a processor or the disk back for longer than a test may
wait.

On each processor a process that goes before everything else sleeps a hundredth of a second again and again; by as
much as it sleeps longer, the processor was not there. Our own load cannot make it late. Another one syncs a few bytes
ten times a second. Where we may not go before the others, nothing is noticed.
"""

import multiprocessing
import os
import signal
import tempfile
import time

NAP, LONG_NAP = 0.01, 0.1  # seconds; what is shorter, tests must live with
SYNC_EVERY, LONG_SYNC = 0.1, 0.5


def _go_before_the_others(processors):
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        os.sched_setaffinity(0, processors)
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))
    except OSError:
        os._exit(0)


def _watch_processor(processor, notices):
    _go_before_the_others({processor})
    while True:
        before = time.monotonic()
        time.sleep(NAP)
        gap = time.monotonic() - before - NAP
        if gap >= LONG_NAP:
            notices.send((before, gap))


def _watch_disk(folder, notices):
    _go_before_the_others(os.sched_getaffinity(0))
    file = tempfile.TemporaryFile(dir=folder, buffering=0)
    while True:
        os.pwrite(file.fileno(), b"here", 0)
        before = time.monotonic()
        os.fdatasync(file.fileno())
        gap = time.monotonic() - before
        if gap >= LONG_SYNC:
            notices.send((before, gap))
        time.sleep(SYNC_EVERY)


class Stillness:
    def __init__(self, folder):
        self._gaps = []
        self._notices, sender = multiprocessing.Pipe(duplex=False)
        watches = [(_watch_processor, processor) for processor in os.sched_getaffinity(0)] + [(_watch_disk, folder)]
        for watch, what in watches:
            multiprocessing.Process(target=watch, args=(what, sender), daemon=True).start()

    def longest_since(self, began):
        """The longest gap that ended after this moment of the monotonic clock, in seconds; 0 if there was none."""
        while self._notices.poll():
            self._gaps.append(self._notices.recv())
        return max((gap for start, gap in self._gaps if start + gap >= began), default=0)
