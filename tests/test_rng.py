import numpy as np
from scipy.stats import chisquare

from hal.envs.grid.rng import draw, seed_words


def test_gives_the_published_sequence() -> None:
    # The first outputs of xoshiro128++ from the state 1, 2, 3, 4; `draw` keeps their upper bits.
    words = np.array([1, 2, 3, 4])
    published = [641, 1573767, 3222811527, 3517856514, 836907274, 4247214768, 3867114732]
    assert [draw(words, 2**31) for _ in published] == [word >> 1 for word in published]


def test_is_uniform_and_within_bounds() -> None:
    words = seed_words(7, 0)
    for below in (2, 3, 7, 50):
        counts = np.bincount([draw(words, below) for _ in range(20_000)], minlength=below)
        assert counts.size == below
        assert chisquare(counts).pvalue > 1e-4


def test_seeds_and_streams_differ() -> None:
    starts = {tuple(seed_words(seed, stream)) for seed in range(50) for stream in range(2)}
    assert len(starts) == 100
