"""The two walk-throughs of the paper's appendix, played through the public interface."""

from typing import Any

import gymnasium
import numpy as np
import pytest

import hal
from hal.envs.grid.scripted import actions_for

assert hal.ENV_IDS


class Player:
    """Plays one environment, and holds every step against the rules of milestones."""

    def __init__(self, env_id: str) -> None:
        self.env: gymnasium.Env[Any, Any] = gymnasium.make(env_id)
        self.names: tuple[str, ...] = self.env.get_wrapper_attr("milestones")

    def reset(self, seed: int) -> set[str]:
        _, info = self.env.reset(seed=seed)
        assert not info["milestones"].any()
        self.afforded = self._names(info["affordances"])
        return self.afforded

    def collect(self, milestone: str) -> set[str]:
        """Collect a milestone; return what is afforded then."""
        done = ""
        while done != milestone:
            for action in actions_for(self.env.get_wrapper_attr("frame")(), milestone):
                done = self._step(action)
                if done:
                    break
            else:
                pytest.fail(f"{milestone} was not collected")
        return self.afforded

    def _step(self, action: int) -> str:
        self.obs, self.reward, self.terminated, truncated, info = self.env.step(action)
        assert not truncated
        done = self._names(info["milestones"])
        assert len(done) <= 1
        assert done <= self.afforded, "what fires was afforded before"
        afforded = self._names(info["affordances"])
        if not done:
            assert afforded == self.afforded, "affordances change at milestones only"
        self.afforded = afforded
        return next(iter(done), "")

    def _names(self, flags: np.ndarray) -> set[str]:
        assert flags.dtype == np.bool_
        return {name for name, flag in zip(self.names, flags, strict=True) if flag}


@pytest.mark.parametrize("nth", range(3))
def test_treasure_from_the_red_key(nth: int) -> None:
    player = Player("hal/Treasure-v0")
    seeds = [seed for seed in range(60) if player.reset(seed) == {"red_key"}]
    assert player.reset(seeds[nth]) == {"red_key"}
    assert player.collect("red_key") == {"red_door"}
    # Two subtasks are afforded, of which only the yellow key leads on.
    assert player.collect("red_door") == {"yellow_key", "green_weight"}
    assert player.collect("yellow_key") == {"yellow_door", "green_weight"}
    assert player.collect("yellow_door") == {"blue_key", "green_weight"}
    assert player.collect("blue_key") == {"blue_door", "green_weight"}
    assert player.collect("blue_door") == {"green_weight"}
    assert player.collect("green_weight") == {"green_door"}
    assert player.collect("green_door") == {"purple_key"}
    assert player.collect("purple_key") == {"treasure"}
    player.collect("treasure")
    assert player.terminated
    assert player.reward == pytest.approx(0.99)


@pytest.mark.parametrize(
    ("start", "after_red"),
    [({"yellow_key"}, None), ({"red_key", "yellow_key"}, {"red_door", "yellow_key"})],
)
def test_treasure_from_the_other_starts(start: set[str], after_red: set[str] | None) -> None:
    player = Player("hal/Treasure-v0")
    seed = next(seed for seed in range(100) if player.reset(seed) == start)
    assert player.reset(seed) == start
    if after_red:
        assert player.collect("red_key") == after_red
        # Taking the other key sends the first one back.
        assert player.collect("yellow_key") == {"yellow_door", "red_key"}
    else:
        assert player.collect("yellow_key") == {"yellow_door"}
        assert player.collect("yellow_door") == {"red_key", "blue_key"}


@pytest.mark.parametrize("seed", range(3))
def test_diamond(seed: int) -> None:
    player = Player("hal/Crafting-Diamond-v0")
    # In the woods, only logs are afforded.
    assert player.reset(seed) == {"log"}
    assert player.collect("log") == {"log", "wood"}
    for _ in range(4):
        assert player.collect("log") >= {"wood"}
    assert player.collect("wood") >= {"stick", "crafting_bench", "wood"}
    for _ in range(4):
        player.collect("wood")
    assert "wood" not in player.afforded, "the logs are used up"
    player.collect("stick")
    assert player.collect("stick") >= {"stick", "crafting_bench"}
    assert "wood_pickaxe" not in player.afforded, "there is no bench yet"
    assert player.collect("crafting_bench") >= {"wood_pickaxe"}
    assert "stone" not in player.afforded, "there is no pickaxe yet"
    assert player.collect("wood_pickaxe") >= {"stone", "wood_pickaxe"}
    assert not player.afforded & {"stone_pickaxe", "furnace"}
    for _ in range(3):
        player.collect("stone")
    assert "stone_pickaxe" in player.afforded
    assert not player.afforded & {"furnace", "wood_pickaxe", "coal", "iron_ore"}
    player.collect("stone_pickaxe")
    assert not player.afforded & {"stone_pickaxe", "diamond", "iron"}
    for _ in range(4):
        player.collect("stone")
    assert "furnace" in player.afforded
    player.collect("furnace")
    assert "iron" not in player.afforded
    for _ in range(3):
        player.collect("iron_ore")
        player.collect("coal")
    assert "iron" in player.afforded
    for _ in range(3):
        assert "iron_pickaxe" not in player.afforded
        player.collect("iron")
    assert "iron_pickaxe" in player.afforded
    assert not player.afforded & {"stone_pickaxe", "wood_pickaxe"}, "the strongest comes first"
    assert "diamond" not in player.afforded
    player.collect("iron_pickaxe")
    player.collect("diamond")
    assert player.terminated
    assert player.reward == pytest.approx(0.99)
    assert player.obs["inventory"][-1] == 1
