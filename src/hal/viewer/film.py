"""Many pictures as one file, a GIF or an MP4; `render.py` draws them."""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from subprocess import PIPE, Popen

import numpy as np
from PIL import Image

from hal.files import all_or_nothing

FPS = 8
LAST_PICTURE_MS = 2000  # the end stays long enough to be seen

NUM_COLORS = 128  # of a GIF; more are not seen, but make it larger
SAMPLE_SIZE = 250_000  # pixels


def check_folder(argument: str, path: Path) -> None:
    """Raise a ValueError if the folder of the file that an argument names is missing, or is it."""
    if path.is_dir():
        raise ValueError(f"{argument} {path}: that is a folder; legal: a file")
    if not path.absolute().parent.is_dir():
        raise ValueError(f"{argument} {path}: there is no folder {path.absolute().parent}")


def write_gif(pictures: Sequence[np.ndarray], path: Path) -> None:
    """Write pictures (height, width, 3) as an animation, all or nothing."""
    # One palette for all: where pictures are alike, they stay so, and only the rest is stored.
    palette = _palette(pictures)
    images = (
        Image.fromarray(picture).quantize(palette=palette, dither=Image.Dither.NONE)
        for picture in pictures
    )
    durations = [1000 // FPS] * (len(pictures) - 1) + [LAST_PICTURE_MS]
    with all_or_nothing(path) as part:
        next(images).save(
            part, format="GIF", save_all=True, append_images=images, duration=durations, loop=0
        )


def write_mp4(pictures: Iterable[np.ndarray], path: Path) -> None:
    """Write pictures (height, width, 3) of even height and width as a video, all or nothing.

    Takes one picture after the other, so that a generator of them needs no room.
    """
    ffmpeg, rest = find_ffmpeg(), _checked(pictures)
    first = next(rest)
    height, width, _ = first.shape
    source = f"-f rawvideo -pix_fmt rgb24 -s {width}x{height} -r {FPS} -i -"
    # Most players take no other format of pixels, and want to be told the meaning of its colors.
    pixels = "-pix_fmt yuv420p -vf scale=out_color_matrix=bt709 -colorspace bt709"
    target = f"-c:v libx264 -crf 18 {pixels} -movflags +faststart -f mp4"
    command = [ffmpeg, "-v", "error", "-y", *source.split(), *target.split()]
    with all_or_nothing(path.absolute()) as part:  # a name like -a:b would be no file to ffmpeg
        with suppress(BrokenPipeError), Popen([*command, str(part)], stdin=PIPE) as encoder:
            assert encoder.stdin is not None
            for picture in _with_long_end(first, rest):
                encoder.stdin.write(picture.tobytes())
        if encoder.returncode != 0:
            raise OSError(f"{path}: ffmpeg failed with {encoder.returncode}")


def find_ffmpeg() -> str:
    """Return the program that makes an MP4; raise a ValueError if it is not installed."""
    try:
        return str(import_module("imageio_ffmpeg").get_ffmpeg_exe())
    except ImportError:
        raise ValueError('an MP4 needs one more package: pip install "hal-rl[video]"') from None


def _palette(pictures: Sequence[np.ndarray]) -> Image.Image:
    num_pixels = sum(picture[..., 0].size for picture in pictures)
    stride = 1 + num_pixels // SAMPLE_SIZE
    # Each picture gives other pixels, so that nothing escapes by lying between them.
    parts = [
        picture.reshape(-1, 3)[n % stride :: stride] for n, picture in enumerate(_checked(pictures))
    ]
    sample = Image.fromarray(np.concatenate(parts)[np.newaxis])  # (1, pixels, 3)
    # Coverage keeps the rare colors of dots and bars, the means fit the frequent ones.
    return sample.quantize(NUM_COLORS, Image.Quantize.MAXCOVERAGE, kmeans=1)


def _checked(pictures: Iterable[np.ndarray]) -> Iterator[np.ndarray]:
    shape: tuple[int, ...] | None = None
    for picture in pictures:
        shape = shape or picture.shape
        if picture.shape != shape:  # neither format would refuse it
            raise ValueError(f"a picture of shape {picture.shape} in a film of {shape}")
        yield picture
    if shape is None:
        raise ValueError("a film without pictures")


def _with_long_end(first: np.ndarray, rest: Iterator[np.ndarray]) -> Iterator[np.ndarray]:
    yield first
    last = first
    for last in rest:
        yield last
    for _ in range(LAST_PICTURE_MS * FPS // 1000 - 1):
        yield last
