"""Random numbers inside kernels: xoshiro128++ (Blackman and Vigna, 2021), one state per stream.

The four 32-bit words live in int64 arrays and no result leaves 63 bits, so a stream gives the same
numbers compiled, interpreted, and on every platform.
"""

import numpy as np

from hal.envs.grid.jit import kernel

NUM_WORDS = 4
_MASK = 0xFFFFFFFF


def seed_words(seed: int, stream: int) -> np.ndarray:
    """Return the start of one named stream of one seed."""
    words = np.random.SeedSequence(seed, spawn_key=(stream,)).generate_state(NUM_WORDS)
    return words.astype(np.int64)


@kernel
def _rotate(word: int, bits: int) -> int:
    return ((word << bits) | (word >> (32 - bits))) & _MASK


@kernel
def draw(words: np.ndarray, below: int) -> int:
    """Return a uniform integer in [0, below), for below up to 2^31."""
    first, second, third, fourth = words[0], words[1], words[2], words[3]
    word = (_rotate((first + fourth) & _MASK, 7) + first) & _MASK
    third ^= first
    fourth ^= second
    words[1] = second ^ third
    words[0] = first ^ fourth
    words[2] = third ^ ((second << 9) & _MASK)
    words[3] = _rotate(fourth, 11)
    return (word * below) >> 32
