"""Runs a function on items in several processes; a crash affects only its own item."""

import multiprocessing
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool

# Forked workers share loaded data (the node tests), unlike spawned ones.
_CONTEXT = multiprocessing.get_context("fork")


def map_isolated(function, items, jobs: int) -> list:
    """Returns `function(item)` for every item, in order; None for an item whose process crashed.

    Runtimes may crash with a segmentation fault.
    """
    results, unfinished = {}, []
    with ProcessPoolExecutor(jobs, mp_context=_CONTEXT) as pool:
        futures = [pool.submit(function, item) for item in items]
        for index, future in enumerate(futures):
            try:
                results[index] = future.result()
            except BrokenProcessPool:
                unfinished.append(index)
    # One crashed worker breaks the whole pool. Run the remaining items alone, to find the one that crashes.
    for index in unfinished:
        with ProcessPoolExecutor(1, mp_context=_CONTEXT) as pool:
            try:
                results[index] = pool.submit(function, items[index]).result()
            except BrokenProcessPool:
                results[index] = None
    return [results[index] for index in range(len(items))]
