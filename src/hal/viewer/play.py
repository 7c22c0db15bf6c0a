"""Playing a game: a person at the keys or the script, in a window, in the terminal, into a GIF."""

import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image, ImageDraw, ImageFont

from hal.envs.grid.rules import MOVES, Game
from hal.envs.grid.scripted import play_episode
from hal.envs.grid.single import GridEnv
from hal.pictures.frame import Frame, Shown
from hal.pictures.render import draw
from hal.pictures.text import to_text
from hal.pictures.window import Window
from hal.viewer.film import FPS, find_ffmpeg, write_gif, write_mp4
from hal.viewer.keys import read_keys

MOVE_KEYS = (("left", "a"), ("right", "d"), ("up", "w"), ("down", "s"))  # in the order of MOVES
CLEAR = "\x1b[2J\x1b[H"

Show = Callable[[Frame, str], None]  # a moment, and a text below it


def key_table(game: Game) -> dict[str, int]:
    """Return the action of each key: arrows or WASD, space, and numbers for the others."""
    table = {key: action for action, keys in enumerate(MOVE_KEYS) for key in keys}
    table["space"] = len(MOVES)
    for number, action in enumerate(range(len(MOVES) + 1, len(game.actions)), start=1):
        table[str(number)] = action
    return table


def key_help(game: Game) -> str:
    """Return what the keys do, in a few lines."""
    keys = [
        f"{key}: {game.actions[action].replace('_', ' ')}"
        for key, action in key_table(game).items()
        if action >= len(MOVES)
    ]
    lines = [
        ["left, right: turn", "up, down: forward, backward", "(or A D W S)"],
        keys[:4],
        [*keys[4:], "r: new world", "q: quit"],
    ]
    return "\n".join("   ".join(line) for line in lines)


def play_by_hand(env: GridEnv, seed: int | None, keys: Iterable[str], show: Show) -> None:
    """Let a person play, world after world, until they quit."""
    table, help_text = key_table(env.game), key_help(env.game)
    env.reset(seed=seed)
    show(env.frame(), help_text)
    is_over = False
    for key in keys:
        if key in ("q", "quit", "escape"):
            return
        if key == "r":
            env.reset()
            is_over = False
        elif key in table and not is_over:
            _, _, terminated, truncated, _ = env.step(table[key])
            is_over = terminated or truncated
        else:
            continue
        show(env.frame(), "The episode is over.   r: new world   q: quit" if is_over else help_text)


def play_in_window(env: GridEnv, seed: int | None) -> None:
    """Let a person play in a window."""
    window = _open_window("--text plays in the terminal")

    def show(frame: Frame, text: str) -> None:
        window.show(_with_text_below(draw(frame), text))

    try:
        play_by_hand(env, seed, iter(window.key, None), show)
    finally:
        window.close()


def play_in_terminal(env: GridEnv, seed: int | None) -> None:
    """Let a person play in the terminal."""
    with read_keys() as keys:
        play_by_hand(env, seed, keys, _print_frame)


class Pictures(Sequence[np.ndarray]):
    """Pictures of moments, each drawn when it is looked at: all at once take gigabytes."""

    def __init__(self, frames: list[Shown]) -> None:
        self.frames = frames

    def __len__(self) -> int:
        """Return how many there are."""
        return len(self.frames)

    def __getitem__(self, index: Any) -> Any:
        """Draw one."""
        return draw(self.frames[index])


def show_episode(
    frames: Iterable[Shown],
    *,
    in_window: bool = False,
    gif: Path | None = None,
    mp4: Path | None = None,
) -> Shown:
    """Show moments in a window or the terminal, and film them; return the last one.

    Where nobody watches the terminal, it tells the milestones in plain lines.
    """
    if mp4 is not None:
        find_ffmpeg()  # rather now than after the episode
    window = _open_window("the terminal shows it too, see --help") if in_window else None
    shown: list[Shown] = []
    for frame in frames:
        shown.append(frame)
        if window is not None:
            window.show(draw(frame), FPS)
            if window.is_closed():
                break
        elif gif is None and mp4 is None and sys.stdout.isatty():
            _print_frame(frame, "")
            time.sleep(1 / FPS)
        elif frame.collected:
            print(f"step {frame.step:4d}  {frame.collected}")
    if window is not None:
        window.close()
    if gif is not None:
        write_gif(Pictures(shown), gif)
    if mp4 is not None:
        write_mp4(Pictures(shown), mp4)
    return shown[-1]


def script(env: GridEnv, seed: int | None) -> Iterator[Frame]:
    """Yield the moments of an episode of the scripted player."""
    env.reset(seed=seed)
    yield env.frame()
    yield from play_episode(env)


def _open_window(otherwise: str) -> Window:
    window = Window()
    if not window.has_screen():
        raise ValueError(f"there is no screen for a window; {otherwise}")
    return window


def _print_frame(frame: Shown, text: str) -> None:
    is_terminal = sys.stdout.isatty()
    print(CLEAR if is_terminal else "", to_text(frame, color=is_terminal), "\n", text, sep="")


def _with_text_below(picture: np.ndarray, text: str) -> np.ndarray:
    """Add lines of text under a picture; all texts take the same room."""
    size = 16
    image = Image.new("RGB", (picture.shape[1], picture.shape[0] + 4 * size), (20, 22, 30))
    image.paste(Image.fromarray(picture), (0, 0))
    ImageDraw.Draw(image).multiline_text(
        (size / 2, picture.shape[0] + 4),
        text,
        fill=(220, 222, 230),
        font=ImageFont.load_default(size * 0.8),
        spacing=5,
    )
    return np.asarray(image)
