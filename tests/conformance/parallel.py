"""Work spread over processes, so that one that dies takes nothing with it but its own item."""

import multiprocessing
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool

# Forked workers share what was loaded before (the node tests), unlike spawned ones.
_CONTEXT = multiprocessing.get_context("fork")


def map_isolated(function, items, jobs: int) -> list:
    """`function(item)` for every item, in order; None where the process died of it (a runtime that segfaults)."""
    results, unfinished = {}, []
    with ProcessPoolExecutor(jobs, mp_context=_CONTEXT) as pool:
        futures = [pool.submit(function, item) for item in items]
        for index, future in enumerate(futures):
            try:
                results[index] = future.result()
            except BrokenProcessPool:
                unfinished.append(index)
    # One dead worker breaks the whole pool: whatever was left is run alone, to find the item that it died of.
    for index in unfinished:
        with ProcessPoolExecutor(1, mp_context=_CONTEXT) as pool:
            try:
                results[index] = pool.submit(function, items[index]).result()
            except BrokenProcessPool:
                results[index] = None
    return [results[index] for index in range(len(items))]
