"""Runs functions in forked processes with a time limit, so that no crash or endless loop ends a run."""

import os
import signal
import time


def forked(items, work, limit: float, jobs: int, failed=None) -> None:
    """Calls `work(item)` in a process for each item, and `failed(item, reason)` if it crashes or is too slow."""
    running, waiting = {}, list(items)[::-1]
    total, done = len(waiting), 0
    while running or waiting:
        while waiting and len(running) < jobs:
            item = waiting.pop()
            child = os.fork()
            if child == 0:
                os.setpgid(0, 0)
                status = 1
                try:
                    work(item)
                    status = 0
                finally:
                    os._exit(status)
            running[child] = (item, time.monotonic())
        for child, (item, started) in list(running.items()):
            ended, status = os.waitpid(child, os.WNOHANG)
            reason = None if status == 0 else f"crashed, status {status}"
            if ended == 0:
                if time.monotonic() - started < limit:
                    continue
                os.killpg(child, signal.SIGKILL)
                os.waitpid(child, 0)
                reason = f"more than {limit:.0f} s"
            del running[child]
            done += 1
            if reason and failed:
                failed(item, reason)
            if done % 50 == 0:
                print(f"{done} of {total}", flush=True)
        time.sleep(0.01)


class Limit:
    """Raises TimeoutError in the body of a `with` statement after some seconds."""

    def __init__(self, seconds: float):
        self.seconds = seconds

    def __enter__(self):
        signal.signal(signal.SIGALRM, self._ring)
        signal.setitimer(signal.ITIMER_REAL, self.seconds)

    def __exit__(self, *_):
        signal.setitimer(signal.ITIMER_REAL, 0)

    @staticmethod
    def _ring(*_):
        raise TimeoutError("time limit")
