"""Compares target profiles with their runtimes, on unseen node tests and on real models.

ONNX Runtime is always tested, in the version that the tests use. Other runtimes are installed by `targets/measure`; the
floors of runtimes that are not installed are skipped.
"""

import sys
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "targets"))

from measuring import cases, judge, outcomes, runtimes  # noqa: E402 – in another folder

from . import models, node_tests, targets_models, tools  # noqa: E402

# The sample contains every EVERY-th of the node tests that are used to evaluate profiles. The real models of the sample
# are the exports in this repository.
EVERY = 4


def run(options) -> bool:
    passed = True
    judging = [test for test in node_tests.collect() if cases.judges(test)]
    made = cases.of_tests(judging[::EVERY if options.sample else 1], options.jobs)
    for runtime in runtimes.newest():
        if runtime.python() is None:
            options.floors.waive(runtime.label)
            print(f"{runtime.label} is not installed: targets/measure {runtime.name} {runtime.version}")
            continue
        passed &= _judged(options, runtime, made)
        passed &= _real(options, runtime)
    return passed


def _judged(options, runtime, made) -> bool:
    """Compares predictions of the profile with runs, for cases that it was not derived from."""
    chosen = judge.newest(made, runtime.opset)
    ran = runtimes.outcomes(runtime, chosen)
    answers = judge.answers(tools.binary("onnx-lint"), runtime.target, chosen)
    pairs = Counter((answers[case.name], ran[case.name] == "equal") for case in chosen)
    print(f"{runtime.label}: {len(chosen)} cases of node tests")
    print(judge.table([("judged by", list(pairs.elements()))]))
    mistakes = ((judge.YES, False), (judge.NO, True))
    wrong = [f"{answers[case.name]}: {case.name}: {ran[case.name]}" for case in chosen
             if (answers[case.name], ran[case.name] == "equal") in mistakes]
    print(options.listed(wrong, 5))
    yes, no = (sum(pairs[answer, is_equal] for is_equal in (True, False)) for answer in (judge.YES, judge.NO))
    floors = options.floors
    return all([floors.share(f"{runtime.label}: yes that runs", pairs[judge.YES, True], yes),
                floors.share(f"{runtime.label}: no that does not", pairs[judge.NO, False], no),
                floors.share(f"{runtime.label}: known", yes + no, len(chosen))])


def _real(options, runtime) -> bool:
    """Runs real models in three variants.

    `onnx-fix --target` must not break any model, and the percentage of fixed models with equal results must reach its
    floor.
    """
    chosen = [model for model in models.exports() if model.runs] if options.sample else \
        [model for model in models.collect() if model.runs]
    found = targets_models.outcomes(runtime.target, runtime.python(), Path(outcomes.__file__), chosen)
    forms = targets_models.FORMS
    right = {form: [model.name for model in chosen if found[model.name, form] == "equal"] for form in forms}
    print(f"\n{runtime.label}: {len(chosen)} real models, equal results: "
          + ", ".join(f"{len(right[form])} {form}" for form in forms))
    failures = [f"{name} ({form}): {outcome}" for (name, form), outcome in sorted(found.items()) if outcome != "equal"]
    print(options.listed(failures))
    lost = sorted(set(right[forms[0]]) - set(right[forms[-1]]))
    if lost:
        print(f"LOST: {runtime.label} runs these models, but not the output of onnx-fix --target: {', '.join(lost)}")
    held = options.floors.share(f"{runtime.label}: real models after --target", len(right[forms[-1]]), len(chosen))
    return held and not lost
