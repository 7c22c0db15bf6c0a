"""Pictures of tiles, items and the agent: each looks like itself, at every size."""

import itertools

import numpy as np
import pytest
from PIL import Image

from hal.envs.grid.rules import CRAFTING, TREASURE, Game
from hal.pictures.tiles import agent_image, item_image, tile_image
from tests.frames import each_game

TILES = sorted({*CRAFTING.tiles, *TREASURE.tiles})


@pytest.mark.parametrize("size", [16, 40])
@each_game
def test_no_two_tiles_and_no_two_items_look_alike(game: Game, size: int) -> None:
    for names, image in ((game.tiles, tile_image), (game.items, item_image)):
        for one, other in itertools.combinations(names, 2):
            difference = image(one, size).astype(int) - image(other, size)
            assert np.abs(difference).mean() > 8, (one, other)


def test_only_the_floor_is_blank() -> None:
    for name in TILES:
        contrast = tile_image(name, 40)[4:-4, 4:-4].std(axis=(0, 1)).max()
        assert (contrast < 4) == (name == "floor"), name


@pytest.mark.parametrize("name", TILES)
def test_a_picture_is_the_same_at_every_size(name: str) -> None:
    large = Image.fromarray(tile_image(name, 128))
    first = 8 + TILES.index(name) % 4  # every size, but not every tile at every size
    for size in range(first, 129, 4):
        picture = tile_image(name, size)
        shrunk = np.asarray(large.resize((size, size), Image.Resampling.LANCZOS))
        assert picture.dtype == np.uint8
        assert np.abs(shrunk.astype(int) - picture).mean() < 14, size


@pytest.mark.parametrize("size", [8, 16, 40, 128])
def test_the_agents_beak_is_where_it_faces(size: int) -> None:
    for direction, (down, right) in enumerate(((-1, 0), (0, 1), (1, 0), (0, -1))):
        picture = agent_image(direction, size)
        is_beak = (picture[..., 3] > 128) & (picture[..., 0] > picture[..., 2].astype(int) + 100)
        rows, columns = np.nonzero(is_beak)
        offset = np.array([rows.mean(), columns.mean()]) / size - 0.5
        assert np.abs(offset - [0.3 * down, 0.3 * right]).max() < 0.12, direction


def test_cached_pictures_cannot_be_spoiled() -> None:
    for picture in (tile_image("tree", 16), item_image("log", 16), agent_image(0, 16)):
        with pytest.raises(ValueError, match="read-only"):
            picture[0, 0, 0] = 1
