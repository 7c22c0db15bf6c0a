"""The paper's claims as tests of what its experiments measure: results -> verdicts -> report."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import inf

from hal.experiments.results import Results, averages, finals, lasts
from hal.experiments.suite import EXPERIMENTS, SIGMAS, SWEEPS
from hal.experiments.verdicts import (
    CONFIRMED,
    FINAL,
    MORE,
    NOT_CONFIRMED,
    NOT_MEASURED,
    REFUTED,
    Comparison,
    Convergence,
    Measure,
    Part,
    Region,
    judge_part,
)

LESS: Region = (-inf, 0.0)
AT_MOST_A_TENTH_LESS: Region = (-0.1, inf)
ABOUT_60_PERCENT: Region = (0.5, 0.7)

DEEP = ("stone_pickaxe", "iron_ore", "coal", "iron", "iron_pickaxe", "diamond")
ONLINE = Measure("mean online success over training", averages, ("episode/success",))
SUBPOLICY = Measure("mean online subpolicy success over training", averages, ("subpolicy/success",))
IMPACT = Measure("mean share of changed choices over training", averages, ("mask/impact",))
OVERPRUNED = Measure("mean overpruned share over training", averages, ("mask/overpruned",))
END = Measure("online success at the end of training", lasts, ("episode/success",))
DEPTH = Measure("final coverage of deep milestones", finals, tuple(f"coverage/{m}" for m in DEEP))


@dataclass(frozen=True)
class Claim:
    """One of the paper's, in our own words, and what must hold for it to be true."""

    number: int
    experiment: str
    says: str
    tests: tuple[Comparison | Convergence, ...]
    again: tuple[Comparison | Convergence, ...] = ()  # once more, by the paper's algorithm


@dataclass(frozen=True)
class Judgement:
    """What became of a claim."""

    claim: Claim
    parts: tuple[Part, ...]
    again: tuple[Part, ...] = ()  # the same tests, by the paper's algorithm

    @property
    def verdict(self) -> str:
        """The verdict on the claim."""
        return verdict_of(self.parts)


def verdict_of(parts: Sequence[Part]) -> str:
    """Return the verdict that one part is enough for, or else confirmed."""
    verdicts = {part.verdict for part in parts}
    decisive = (NOT_MEASURED, REFUTED, NOT_CONFIRMED)
    return next((verdict for verdict in decisive if verdict in verdicts), CONFIRMED)


def judge(results: Mapping[str, Results]) -> list[Judgement]:
    """Return what became of every claim, given the results of some experiments, by name."""

    def parts(tests: Sequence[Comparison | Convergence], experiment: str) -> tuple[Part, ...]:
        return tuple(judge_part(test, results.get(experiment, [])) for test in tests)

    return [
        Judgement(claim, parts(claim.tests, claim.experiment), parts(claim.again, AGAIN))
        for claim in CLAIMS
    ]


def _minus(variant: str, other: str) -> dict[str, float]:
    return {variant: 1, other: -1}


def _on_both(
    what: str, measure: Measure, weights: Mapping[str, float], region: Region = MORE
) -> tuple[Comparison, ...]:
    return tuple(
        Comparison(f"{what} on {task}", task, measure, weights, region)
        for task in EXPERIMENTS["learning"].tasks
    )


def _swept(name: str, values: Sequence[float]) -> tuple[str, ...]:
    return tuple(f"hal, {name} = {value:g}" for value in values)


def _sweep_tests() -> tuple[Convergence, ...]:
    tests = [Convergence("every", "treasure", _swept("sigma", SWEEPS["sigma"]))]
    for name in ("filter_percentile", "threshold"):
        lowest, *others = _swept(name, SWEEPS[name])
        tests.append(Convergence("not every", "treasure", (lowest,)))
        tests.append(Convergence("every", "treasure", tuple(others)))
    return tuple(tests)


def _sigma_tests() -> tuple[Comparison, ...]:
    best, variants = "hal, sigma = 2", _swept("sigma", SIGMAS)
    pairs = [(variant, "hr+her, p = 1/50") for variant in variants]
    pairs += [(best, variant) for variant in variants if variant != best]
    return tuple(
        Comparison(f"{one} beats {other}", "iron", ONLINE, _minus(one, other))
        for one, other in pairs
    )


def _filter_tests(measure: Measure) -> tuple[Comparison | Convergence, ...]:
    return (
        *_on_both("HAL overprunes more unfiltered", OVERPRUNED, _minus("hal-fnf", "hal")),
        Comparison("HAL ends better filtered", "treasure", measure, _minus("hal", "hal-fnf")),
        Convergence("not every", "treasure", ("hal-fnf",), measure=measure),
    )


def _component_tests(measure: Measure) -> tuple[Convergence, ...]:
    others = ("hal-rt", "hal-cl", "hal-fnf")
    return (
        Convergence("every", "treasure", ("hal", "hal-rai"), measure=measure),
        *(Convergence("not every", "treasure", (one,), measure=measure) for one in others),
    )


AGAIN = "faithful"  # the experiment that judges some claims once more
IMPACT_TESTS = _on_both("HAL's mask changes 50% to 70%", IMPACT, {"hal": 1}, ABOUT_60_PERCENT)
LONGER = "5 removed, twice as long"
CLAIMS = (
    Claim(
        1,
        "learning",
        "HAL does better than HR+H and is nearer to Oracle, on both tasks.",
        (
            *_on_both("HAL beats HR+H", ONLINE, _minus("hal", "hr+her")),
            *_on_both(
                "HAL is nearer to Oracle than to HR+H",
                ONLINE,
                {"oracle": 1, "hal": -2, "hr+her": 1},
                LESS,
            ),
        ),
    ),
    Claim(
        2,
        "learning",
        "Hindsight helps H-Rainbow.",
        _on_both("HR+H beats H-Rainbow", ONLINE, _minus("hr+her", "hr")),
    ),
    Claim(
        3,
        "learning",
        "Without its filter HAL prunes more of what is afforded, and may fail to learn treasure.",
        _filter_tests(FINAL),
        _filter_tests(END),  # the paper's own measure; greedily its algorithm goes in circles
    ),
    Claim(
        4,
        "learning",
        "The mask changes about 60% of the greedy choices.",
        IMPACT_TESTS,
        IMPACT_TESTS,
    ),
    Claim(
        5,
        "learning",
        "Methods that heed affordances complete more of the subtasks they choose.",
        tuple(
            test
            for heeds in ("oracle", "hal")
            for other in ("hr+her", "hr")
            for test in _on_both(f"{heeds} beats {other}", SUBPOLICY, _minus(heeds, other))
        ),
    ),
    Claim(
        6,
        "milestones",
        "HAL loses nothing with 1 milestone less, beats HR+H with 4 less, and with 5 less and twice"
        " the time still masters some set, where HR+H masters none.",
        (
            Comparison(
                "HAL with 1 removed ends at most 0.1 lower",
                "iron",
                FINAL,
                _minus("hal, 1 removed", "hal"),
                AT_MOST_A_TENTH_LESS,
            ),
            Comparison(
                "HAL with 4 removed beats HR+H with all",
                "iron",
                ONLINE,
                _minus("hal, 4 removed", "hr+her"),
            ),
            Convergence("some", "iron", (f"hal, {LONGER}",), "set"),
            Convergence("no", "iron", (f"hr+her, {LONGER}",), "set"),
        ),
    ),
    Claim(
        7,
        "stochastic",
        "Where items disappear at 1/100 HAL ends as well as without while HR+H loses half, and at"
        " 1/50 HAL ends as well as HR+H without.",
        (
            Comparison(
                "HAL at 1/100 ends at most 0.1 lower than without",
                "iron",
                FINAL,
                _minus("hal, p = 1/100", "hal"),
                AT_MOST_A_TENTH_LESS,
            ),
            Comparison(
                "HR+H at 1/100 ends below 60% of its success without",
                "iron",
                FINAL,
                {"hr+her, p = 1/100": 1, "hr+her": -0.6},
                LESS,
            ),
            Comparison(
                "HAL at 1/50 ends at most 0.1 lower than HR+H without",
                "iron",
                FINAL,
                _minus("hal, p = 1/50", "hr+her"),
                AT_MOST_A_TENTH_LESS,
            ),
        ),
    ),
    Claim(
        8,
        "agnostic",
        "Trained without a task, HAL completes the milestones deep in the hierarchy more often.",
        tuple(
            Comparison(
                f"HAL covers more than HR+H{after}",
                "diamond",
                DEPTH,
                _minus(f"hal{after}", f"hr+her{after}"),
            )
            for after in ("", ", 1M steps")
        ),
    ),
    Claim(
        9,
        "components",
        "HAL always converges, also with a classifier of raw states, but not without other parts.",
        _component_tests(FINAL),
        _component_tests(END),
    ),
    Claim(
        10,
        "hyperparameters",
        "Of all values tried, only the lowest percentile and the lowest threshold do harm.",
        _sweep_tests(),
    ),
    Claim(
        11,
        "sigma",
        "With every sigma HAL beats HR+H where items disappear, and most with 2.",
        _sigma_tests(),
    ),
)
