"""What profiles say of runtimes, held against the runtimes: node tests that no profile was made from, and real models.

ONNX Runtime, of the version that the tests use, is always there. Others are where `targets/measure` installed them;
without them, nothing is held against their floors.
"""

import sys
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "targets"))

from measuring import cases, judge, outcomes, runtimes  # noqa: E402 – stands in another folder

from . import models, node_tests, targets_models, tools  # noqa: E402

# Of the sample: every so-manieth node test that judges, and the exports of this repository.
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
    """The answers of the profile for cases that it was not made from."""
    chosen = judge.newest(made, runtime.opset)
    ran = runtimes.outcomes(runtime, chosen)
    said = judge.answers(tools.binary("onnx-lint"), runtime.target, chosen)
    pairs = Counter((said[case.name], ran[case.name] == "equal") for case in chosen)
    print(f"{runtime.label}: {len(chosen)} cases of node tests")
    print(judge.table([("judged by", list(pairs.elements()))]))
    wrong = [f"{answer}: {case.name}: {ran[case.name]}" for case in chosen
             for answer in [said[case.name]] if (answer, ran[case.name] == "equal") in ((judge.YES, False), (judge.NO, True))]
    print(options.listed(wrong, 5))
    yes, no = (sum(pairs[answer, is_equal] for is_equal in (True, False)) for answer in (judge.YES, judge.NO))
    floors = options.floors
    return all([floors.share(f"{runtime.label}: yes that runs", pairs[judge.YES, True], yes),
                floors.share(f"{runtime.label}: no that does not", pairs[judge.NO, False], no),
                floors.share(f"{runtime.label}: known", yes + no, len(chosen))])


def _real(options, runtime) -> bool:
    """Real models in three forms: what was right stays so, and as many are right as the floor says."""
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
        print(f"LOST: {runtime.label} took these as they were, and not what onnx-fix --target wrote: {', '.join(lost)}")
    held = options.floors.share(f"{runtime.label}: real models after --target", len(right[forms[-1]]), len(chosen))
    return held and not lost
