"""Lanes of Craftax: what is put around its rules, which are its own."""

from typing import Any

import numpy as np
import pytest

from hal.envs.external.adapters import craftax
from hal.envs.external.adapters.craftax import NAMES

pytest.importorskip("craftax")

import jax
import jax.numpy as jnp

from hal.envs.external.adapters.craftax import classic
from hal.envs.external.adapters.craftax.chance import choose_cell

pytestmark = pytest.mark.jax
ACTIONS = {action.name: action.value for action in classic.constants.Action}
BLOCKS = {block.name: block.value for block in classic.constants.BlockType}
MIDDLE = 32  # of the map


def begin(num_envs: int, seed: int = 0) -> Any:
    lanes = craftax.make("classic", num_envs)
    lanes.reset(seed=seed)
    return lanes


def change(lanes: Any, **values: Any) -> None:
    """Set fields of the states of all lanes."""
    (states,) = lanes._batches
    new = {
        name: jnp.broadcast_to(jnp.asarray(value, getattr(states, name).dtype), leaf.shape)
        for name, value in values.items()
        for leaf in [getattr(states, name)]
    }
    lanes._batches = [states.replace(**new)]


def on_a_meadow(num_envs: int) -> Any:
    """Return lanes whose players stand in the middle of nothing but grass, and look up."""
    lanes = begin(num_envs)
    place = np.array([MIDDLE, MIDDLE])
    change(lanes, map=BLOCKS["GRASS"], player_position=place, player_direction=ACTIONS["UP"])
    return lanes


def carry(lanes: Any, **counts: int) -> None:
    (states,) = lanes._batches
    new = {name: jnp.full_like(states.inventory.wood, count) for name, count in counts.items()}
    lanes._batches = [states.replace(inventory=states.inventory.replace(**new))]


def do(lanes: Any, action: str) -> tuple[Any, float, bool, bool, set[str]]:
    """Return what the same action brings on the first lane, and the milestones' names."""
    obs, reward, terminated, truncated, info = lanes.step(np.full(lanes.num_envs, ACTIONS[action]))
    made = {lanes.milestones[i] for i in np.flatnonzero(info["milestones"][0])}
    first = {name: part[0] for name, part in obs.items()}
    return first, reward[0], terminated[0], truncated[0], made


def test_a_lane_does_not_depend_on_how_many_there_are() -> None:
    few, many = begin(2, seed=7), begin(35, seed=7)  # in one batch, and in two
    rng = np.random.default_rng(0)
    for _ in range(60):
        actions = rng.integers(len(ACTIONS), size=35)
        shown, *told = few.step(actions[:2])
        all_shown, *all_told = many.step(actions)
        for name, part in shown.items():
            np.testing.assert_array_equal(part, all_shown[name][:2])
        for values, all_values in zip(told[:3], all_told[:3], strict=True):
            np.testing.assert_array_equal(values, all_values[:2])
    assert len({view.tobytes() for view in all_shown["image"]}) == 35, "and all are different"


def test_an_achievement_is_signalled_each_time_and_rewarded_the_first() -> None:
    lanes = on_a_meadow(1)
    carry(lanes, stone=3, wood_pickaxe=1)
    told = [do(lanes, action) for action in ("PLACE_STONE", "NOOP", "DO", "PLACE_STONE", "DO")]
    made = [milestones for *_, milestones in told]
    assert made == [{"place_stone"}, set(), {"collect_stone"}, {"place_stone"}, {"collect_stone"}]
    assert [reward for _, reward, *_ in told] == [1, 0, 1, 0, 0]
    names = dict(zip(lanes.milestones, told[-1][0]["collected"], strict=True))
    assert {name for name, is_there in names.items() if is_there} == made[0] | made[2]


def test_it_shows_the_cell_in_front_what_is_carried_and_who_is_near() -> None:
    lanes = on_a_meadow(1)
    carry(lanes, stone=3)
    (states,) = lanes._batches
    cow = states.cows.replace(
        position=states.cows.position.at[:, 0].set(jnp.array([MIDDLE + 3, MIDDLE - 4])),
        mask=states.cows.mask.at[:, 0].set(True),
    )
    lanes._batches = [states.replace(cows=cow)]
    assert lanes._observed()["image"][0, 6, 0].tolist() == [BLOCKS["GRASS"], 2]
    obs, *_ = do(lanes, "PLACE_STONE")
    assert obs["inventory"].tolist() == [0, 2, *[0] * 10]
    assert obs["needs"].tolist() == [9, 9, 9, 9]
    assert obs["front"].tolist() == obs["image"][2, 4].tolist() == [BLOCKS["STONE"], 0]
    assert (obs["direction"], obs["is_sleeping"]) == (2, 0)
    assert 0.5 < obs["light"].item() < 1, "in the morning"
    obs, *_ = do(lanes, "LEFT")
    assert obs["front"].tolist() == obs["image"][3, 3].tolist()
    assert obs["image"][2, 5].tolist() == [BLOCKS["STONE"], 0], "above, and now to the right"
    assert lanes.single_observation_space.contains(obs)


def test_episodes_end_and_the_next_step_begins_others() -> None:
    lanes = on_a_meadow(2)
    carry(lanes, sapling=1)
    do(lanes, "PLACE_PLANT")
    change(lanes, player_health=0)
    obs, _, terminated, truncated, _ = do(lanes, "NOOP")
    assert (terminated, truncated) == (True, False)
    assert obs["collected"].sum() == 1
    obs, reward, terminated, truncated, made = do(lanes, "SLEEP")
    assert (reward, terminated, truncated, made) == (0, False, False, set())
    assert not obs["collected"].any()
    assert not obs["is_sleeping"], "no action was done"
    assert obs["needs"].tolist() == [9, 9, 9, 9]
    change(lanes, timestep=9_999)
    *_, terminated, truncated, _ = do(lanes, "NOOP")
    assert (terminated, truncated) == (False, True)


def test_seeds_are_worlds_and_without_one_they_go_on() -> None:
    lanes = craftax.make("classic", 2)
    seeds: list[Any] = [3, None, [3, None], 3]
    views = [lanes.reset(seed=seed)[0]["image"].tolist() for seed in seeds]
    assert views[0] == views[3]
    assert views[0][0] == views[2][0]
    assert views[0] != views[1]
    assert views[0][1] != views[2][1]


def test_a_cell_is_drawn_as_jax_would() -> None:
    rng = np.random.default_rng(0)
    can_be = jnp.array(rng.random((200, 4096)) < rng.random((200, 1)) * 0.1 + 0.001)
    chances = can_be / can_be.sum(axis=1, keepdims=True)
    keys, cells = jax.random.split(jax.random.PRNGKey(0), 200), jnp.arange(4096)
    drawn = jax.jit(jax.vmap(lambda key, p: choose_cell(key, cells, p)))(keys, chances)
    by_jax = jax.jit(jax.vmap(lambda key, p: jax.random.choice(key, cells, (1,), p=p)))
    assert (drawn == by_jax(keys, chances)).mean() > 0.99, "but for rounding"
    assert can_be[np.arange(200), drawn[:, 0]].all()


def test_names_are_checked() -> None:
    with pytest.raises(ValueError, match=f"legal: {', '.join(map(repr, NAMES))}"):
        craftax.make("pixels", 1)
    with pytest.raises(ValueError, match="render_mode 'human'"):
        craftax.make("classic", 1, "human")
