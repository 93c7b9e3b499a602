"""Attempts that may crash PyTorch itself, each in a process of its own."""
import os
import sys
import traceback

import torch


def attempt(path, run):
    """Runs `run` in a child process; leaves what it printed in `path`.log."""
    child = os.fork()
    if child == 0:
        log = os.open(path + ".log", os.O_CREAT | os.O_WRONLY | os.O_TRUNC)
        os.dup2(log, 1)
        os.dup2(log, 2)
        status = 0
        try:
            with torch.no_grad():
                run()
        except BaseException:
            traceback.print_exc()
            status = 1
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(status)
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    if os.path.getsize(path + ".log") == 0:
        os.remove(path + ".log")
    return {0: "ok", 1: "failed"}.get(status, f"crashed ({status})")
