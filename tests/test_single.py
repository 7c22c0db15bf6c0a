from dataclasses import replace

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

import hal
from hal.envs.grid.scripted import play_episode
from hal.envs.grid.single import GridEnv
from hal.pictures.render import draw


@pytest.mark.parametrize("env_id", hal.ENV_IDS)
def test_gymnasiums_checker_passes(env_id: str) -> None:
    check_env(gymnasium.make(f"hal:{env_id}").unwrapped)


@pytest.mark.parametrize("env_id", hal.ENV_IDS)
def test_twin_rollouts_are_identical(env_id: str) -> None:
    twins = [gymnasium.make(env_id, max_steps=50) for _ in range(2)]
    one, other = ([*env.reset(seed=4)] for env in twins)
    rng = np.random.default_rng(0)
    for _ in range(150):
        np.testing.assert_equal(one, other)
        if len(one) == 5 and (one[2] or one[3]):
            one, other = ([*env.reset()] for env in twins)
        else:
            action = rng.integers(twins[0].action_space.n)  # type: ignore[attr-defined]
            one, other = ([*env.step(action)] for env in twins)


def test_is_one_lane_of_the_vector_environment() -> None:
    single, vector = GridEnv("diamond"), hal.GridVectorEnv("diamond", 3)
    obs, info = single.reset(seed=8)
    obs3, info3 = vector.reset(seed=[1, 8, 2])
    np.testing.assert_array_equal(obs["image"], obs3["image"][1])
    np.testing.assert_array_equal(info["affordances"], info3["affordances"][1])
    assert single.milestones == vector.milestones


def test_an_ended_episode_must_be_reset() -> None:
    env = GridEnv("treasure", max_steps=1)
    with pytest.raises(RuntimeError, match="reset first"):
        env.step(0)
    env.reset(seed=0)
    assert env.step(0)[3]
    with pytest.raises(RuntimeError, match="reset first"):
        env.step(0)
    env.reset()
    env.step(0)


def test_the_panel_shows_what_the_agent_says() -> None:
    env = GridEnv("treasure", render_mode="rgb_array")
    env.reset(seed=0)
    plain = env.render()
    frame = env.frame()
    assert (frame.subtask, frame.predicted, frame.values) == (None, None, None)
    annotated = replace(frame, subtask="red_key", predicted=~frame.affordances)
    assert (draw(annotated) != plain).any()
    np.testing.assert_array_equal(env.render(), plain, "an environment knows no beliefs")


def test_the_frame_tells_the_last_action_and_milestone() -> None:
    env = GridEnv("log", render_mode="ansi")
    env.reset(seed=0)
    assert env.frame().action is None
    lane = env._lanes.state[0]
    lane.grid[1:-1, 1:-1] = env.game.tiles.index("tree")
    env.step(env.game.actions.index("mine"))
    frame = env.frame()
    assert (frame.action, frame.collected, frame.step) == ("mine", "log", 1)
    assert "mine" in env.render()


def test_human_mode_opens_a_window() -> None:
    env = GridEnv("treasure", render_mode="human")
    env.metadata = {**env.metadata, "render_fps": 1000}
    env.reset(seed=0)
    env.step(0)
    assert env._window is not None
    surface = env._window.pygame.display.get_surface()
    picture = env._window.pygame.surfarray.array3d(surface)
    assert picture.std() > 10
    assert env.render() is None
    env.close()


@pytest.mark.parametrize("task", hal.ENV_IDS.values())
def test_the_scripted_player_solves_every_task(task: str) -> None:
    env = GridEnv(task)
    for seed in range(3):
        env.reset(seed=seed)
        frames = list(play_episode(env))
        assert frames[-1].collected == task
        assert len(frames) < 400


def test_the_scripted_player_does_not_wall_itself_in() -> None:
    """In this world the only way down begins below where a bench would be placed soonest."""
    env = GridEnv("diamond")
    env.reset(seed=2104)
    assert list(play_episode(env))[-1].collected == "diamond"


def test_a_world_without_a_way_is_told() -> None:
    """Two stones are all that can be reached here without a stone pickaxe, which takes three."""
    env = GridEnv("diamond")
    env.reset(seed=1971)
    message = "after 45 steps there is no way to stone in this world; take another --seed"
    with pytest.raises(ValueError, match=message):
        list(play_episode(env))
