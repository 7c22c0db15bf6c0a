"""Films, decoded again: every picture is there, and a failure leaves nothing behind."""

import itertools
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from hal.pictures.render import BANNER, draw
from hal.viewer.film import FPS, check_folder, find_ffmpeg, write_gif, write_mp4
from tests.frames import make_frame

ALERT = 6  # the only picture that has one


def make_pictures(num: int = 9, tile_size: int = 24) -> list[np.ndarray]:
    frames = [
        make_frame(position=(5, 1 + n), step=n, collected="iron" if n == ALERT else None)
        for n in range(num)
    ]
    return [draw(frame, tile_size) for frame in frames]


def read_gif(path: Path) -> tuple[list[np.ndarray], list[int]]:
    pictures, durations = [], []
    with Image.open(path) as image:
        for n in range(image.n_frames):  # type: ignore[attr-defined]
            image.seek(n)
            pictures.append(np.asarray(image.convert("RGB")))
            durations.append(image.info["duration"])
    return pictures, durations


def read_mp4(path: Path, shape: tuple[int, ...]) -> np.ndarray:
    options = ["-f", "rawvideo", "-pix_fmt", "rgb24", "-"]
    command = [find_ffmpeg(), "-v", "error", "-i", str(path), *options]
    pixels = subprocess.run(command, stdout=subprocess.PIPE, check=True, timeout=300).stdout
    return np.frombuffer(pixels, dtype=np.uint8).reshape(-1, *shape)


def distance(one: np.ndarray, other: np.ndarray) -> float:
    return float(np.abs(one.astype(int) - other).mean())


def test_a_gif_has_every_picture_and_a_long_end(tmp_path: Path) -> None:
    path, pictures = tmp_path / "film.gif", make_pictures()
    write_gif(pictures, path)
    assert list(tmp_path.iterdir()) == [path]
    decoded, durations = read_gif(path)
    assert len(decoded) == len(pictures)
    for picture, original in zip(decoded, pictures, strict=True):
        assert picture.shape == original.shape
        assert distance(picture, original) < 1.5
    assert all((one != other).any() for one, other in itertools.pairwise(decoded))
    assert {round(duration * FPS / 1000) for duration in durations[:-1]} == {1}
    assert durations[-1] == 2000


def test_a_gif_keeps_a_color_that_is_rare_in_it(tmp_path: Path) -> None:
    pictures = make_pictures(2)
    pictures = [*pictures * 30, make_pictures()[ALERT], *pictures * 30]
    write_gif(pictures, tmp_path / "film.gif")
    decoded, _ = read_gif(tmp_path / "film.gif")
    is_banner = (pictures[60] == BANNER).all(axis=-1)
    assert is_banner.sum() > 2000
    assert np.abs(decoded[60][is_banner].astype(int) - BANNER).max() < 8


def test_a_gif_stores_only_what_changes(tmp_path: Path) -> None:
    pictures = make_pictures()
    write_gif(pictures[:1], tmp_path / "one.gif")
    write_gif(pictures, tmp_path / "all.gif")
    one, many = ((tmp_path / name).stat().st_size for name in ("one.gif", "all.gif"))
    assert many < 2 * one


def test_an_mp4_has_every_picture_and_a_long_end(tmp_path: Path) -> None:
    pytest.importorskip("imageio_ffmpeg")
    path, pictures = tmp_path / "film.mp4", make_pictures()
    write_mp4(iter(pictures), path)
    assert list(tmp_path.iterdir()) == [path]
    decoded = read_mp4(path, pictures[0].shape)
    assert len(decoded) == len(pictures) + 2 * FPS - 1
    for n, picture in enumerate(decoded):
        own = distance(picture, pictures[min(n, 8)])
        assert own < 2.5
        assert own < distance(picture, pictures[min(n, 8) - 1])


def test_an_mp4_is_in_the_form_that_plays_everywhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("imageio_ffmpeg")
    monkeypatch.chdir(tmp_path)
    write_mp4(make_pictures(2), Path("-1:2.mp4"))  # to ffmpeg, an option and a protocol
    command = [find_ffmpeg(), "-hide_banner", "-i", str(tmp_path / "-1:2.mp4")]
    said = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300).stderr
    assert "Video: h264" in said
    assert "yuv420p(tv, bt709" in said
    assert f" {FPS} fps" in said


def test_an_mp4_has_the_colors_it_was_given(tmp_path: Path) -> None:
    pytest.importorskip("imageio_ffmpeg")
    colors = [(214, 62, 56), (54, 158, 84), (56, 108, 218), BANNER]
    pictures = [np.full((32, 32, 3), color, dtype=np.uint8) for color in colors]
    write_mp4(pictures, tmp_path / "film.mp4")
    for picture, decoded in zip(
        pictures, read_mp4(tmp_path / "film.mp4", (32, 32, 3)), strict=False
    ):
        assert np.abs(decoded.astype(int) - picture).max() < 6


@pytest.fixture(params=[write_gif, write_mp4])
def write(request: pytest.FixtureRequest) -> Callable[[list[np.ndarray], Path], None]:
    if request.param is write_mp4:
        pytest.importorskip("imageio_ffmpeg")
    writer: Callable[[list[np.ndarray], Path], None] = request.param
    return writer


def test_an_error_leaves_all_as_it_was(
    write: Callable[[list[np.ndarray], Path], None], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "old").write_text("an older film")
    pictures = make_pictures(4)
    pictures[2] = pictures[2][:-2]
    for name in ("old", "new"):
        with pytest.raises(ValueError, match="a picture of shape"):
            write(pictures, tmp_path / name)
    with pytest.raises(ValueError, match="without pictures"):
        write([], tmp_path / "new")

    def fail(part: Path, path: Path) -> None:
        assert part.stat().st_size > 1000
        raise OSError(f"{path} cannot be written")

    monkeypatch.setattr("hal.files.os.replace", fail)
    with pytest.raises(OSError, match="old cannot be written"):
        write(make_pictures(4), tmp_path / "old")
    assert [path.name for path in tmp_path.iterdir()] == ["old"]
    assert (tmp_path / "old").read_text() == "an older film"


def test_an_error_of_who_draws_or_encodes_leaves_nothing_behind(tmp_path: Path) -> None:
    pytest.importorskip("imageio_ffmpeg")

    def stop_in_the_middle() -> Iterator[np.ndarray]:
        yield from make_pictures(3)
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write_mp4(stop_in_the_middle(), tmp_path / "film.mp4")
    odd = [picture[:-1] for picture in make_pictures()]  # not even: the encoder refuses them
    with pytest.raises(OSError, match=r"film\.mp4: ffmpeg failed"):
        write_mp4(odd, tmp_path / "film.mp4")
    assert not list(tmp_path.iterdir())


def test_an_mp4_says_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "imageio_ffmpeg", None)
    with pytest.raises(ValueError, match=r'pip install "hal-rl\[video\]"'):
        write_mp4(make_pictures(1), tmp_path / "film.mp4")
    assert not list(tmp_path.iterdir())


def test_a_missing_folder_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    check_folder("--gif", Path("film.gif"))
    check_folder("--gif", tmp_path / "film.gif")
    with pytest.raises(ValueError, match=f"--mp4 no/film.mp4: there is no folder {tmp_path}/no"):
        check_folder("--mp4", Path("no/film.mp4"))
