"""Notices when the machine stands still: a hypervisor can take a processor away for longer than a test may wait.

On each processor a process that goes before everything else sleeps a hundredth of a second again and again; by as
much as it sleeps longer, the processor was not there. Our own load cannot make it late. Where we may not go before
the others, nothing is noticed.
"""

import multiprocessing
import os
import signal
import time

NAP = 0.01
LONG = 0.1  # seconds; shorter gaps are what tests must live with


def _watch(processor, notices):
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        os.sched_setaffinity(0, {processor})
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))
    except OSError:
        return
    while True:
        before = time.monotonic()
        time.sleep(NAP)
        gap = time.monotonic() - before - NAP
        if gap >= LONG:
            notices.send((before, gap))


class Stillness:
    def __init__(self):
        self._gaps = []
        self._notices, sender = multiprocessing.Pipe(duplex=False)
        for processor in os.sched_getaffinity(0):
            multiprocessing.Process(target=_watch, args=(processor, sender), daemon=True).start()

    def longest_since(self, began):
        """The longest gap that ended after this moment of the monotonic clock, in seconds; 0 if there was none."""
        while self._notices.poll():
            self._gaps.append(self._notices.recv())
        return max((gap for start, gap in self._gaps if start + gap >= began), default=0)
