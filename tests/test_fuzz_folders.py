"""A sample of crafted and damaged folders; `benchmarks/fuzz` has as many as one likes."""

from benchmarks.fuzz.folders import attack


def test_every_answer_is_legal() -> None:
    assert attack(15, seed=0) == []
