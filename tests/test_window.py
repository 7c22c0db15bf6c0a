"""The window: it shows each picture, returns the keys and keeps the rate."""

import subprocess
import sys
import time
from collections.abc import Iterator

import numpy as np
import pygame
import pytest

from hal.pictures.render import draw
from hal.pictures.window import Window
from tests.frames import make_frame


@pytest.fixture
def window(monkeypatch: pytest.MonkeyPatch) -> Iterator[Window]:
    monkeypatch.setenv("SDL_VIDEODRIVER", "dummy")
    window = Window()
    yield window
    window.close()


def test_the_window_shows_each_picture_even_after_closing(window: Window) -> None:
    for size in (16, 24, 24):
        picture = draw(make_frame(), size)
        window.show(picture)
        surface = pygame.display.get_surface()
        assert surface is not None
        np.testing.assert_array_equal(pygame.surfarray.array3d(surface).swapaxes(0, 1), picture)
        if size == 24:
            window.close()
            assert not window.is_closed()  # by the user


def test_the_window_returns_keys_in_order_and_then_quit(window: Window) -> None:
    picture = np.zeros((20, 30, 3), dtype=np.uint8)
    window.show(picture)
    pygame.event.post(pygame.event.Event(pygame.KEYDOWN, key=pygame.K_LEFT))
    pygame.event.post(pygame.event.Event(pygame.MOUSEMOTION))
    window.show(picture)  # does not lose the key
    pygame.event.post(pygame.event.Event(pygame.KEYUP, key=pygame.K_LEFT))
    pygame.event.post(pygame.event.Event(pygame.KEYDOWN, key=pygame.K_m))
    assert not window.is_closed()
    pygame.event.post(pygame.event.Event(pygame.QUIT))
    assert window.is_closed()
    assert list(iter(window.key, "quit")) == ["left", "m"]


def test_the_window_keeps_the_rate(window: Window) -> None:
    start = time.perf_counter()
    for _ in range(6):
        window.show(np.zeros((20, 30, 3), dtype=np.uint8), fps=50)
    assert time.perf_counter() - start > 0.08


def test_pygame_is_not_loaded_before_a_window_is_made() -> None:
    code = "import sys, hal.pictures.render, hal.pictures.window; sys.exit('pygame' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False, timeout=300).returncode == 0
