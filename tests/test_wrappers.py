import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

import hal
from hal.envs.grid.wrappers import FlatVector, OneHotPlanes, RGBView
from hal.pictures.render import draw_view

IDS = ["hal/Treasure-v0", "hal/Crafting-Iron-v0"]


@pytest.mark.parametrize("env_id", IDS)
def test_planes_say_the_same_as_codes(env_id: str) -> None:
    env = OneHotPlanes(gymnasium.make(env_id))
    obs, _ = env.reset(seed=1)
    codes, _ = gymnasium.make(env_id).reset(seed=1)
    assert obs in env.observation_space
    assert obs["image"].flags["C_CONTIGUOUS"]
    np.testing.assert_array_equal(obs["image"].sum(axis=0), 1)
    np.testing.assert_array_equal(obs["image"].argmax(axis=0), codes["image"])
    np.testing.assert_array_equal(obs["inventory"], codes["inventory"])


@pytest.mark.parametrize("env_id", IDS)
def test_the_vector_holds_planes_and_inventory(env_id: str) -> None:
    env = FlatVector(gymnasium.make(env_id, view_size=5))
    planes = OneHotPlanes(gymnasium.make(env_id, view_size=5))
    for step in range(30):
        vector = env.reset(seed=2)[0] if step == 0 else env.step(step % 5)[0]
        obs = planes.reset(seed=2)[0] if step == 0 else planes.step(step % 5)[0]
        assert vector in env.observation_space
        num_items = obs["inventory"].size
        np.testing.assert_array_equal(vector[:-num_items], obs["image"].ravel())
        np.testing.assert_array_equal(vector[-num_items:], obs["inventory"])


@pytest.mark.parametrize("env_id", IDS)
def test_the_picture_is_of_the_view(env_id: str) -> None:
    env = RGBView(gymnasium.make(env_id), tile_size=6)
    obs, _ = env.reset(seed=1)
    codes, _ = gymnasium.make(env_id).reset(seed=1)
    assert obs in env.observation_space
    assert obs["image"].shape == (66, 66, 3)
    game = env.get_wrapper_attr("game")
    np.testing.assert_array_equal(obs["image"], draw_view(game, codes["image"], 6))


@pytest.mark.filterwarnings("ignore:.*different from the unwrapped version")
@pytest.mark.parametrize("wrapper", [OneHotPlanes, FlatVector, RGBView])
def test_gymnasiums_checker_passes(wrapper: type[gymnasium.Wrapper]) -> None:
    assert hal.ENV_IDS
    check_env(wrapper(gymnasium.make("hal/Treasure-v0").unwrapped), skip_render_check=True)


def test_foreign_environments_are_refused() -> None:
    with pytest.raises(ValueError, match="not one of this package's environments"):
        OneHotPlanes(gymnasium.make("CartPole-v1"))
