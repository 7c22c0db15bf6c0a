"""HierarchyCraft's MineHcraft: Minecraft's recipes without its map; actions are transformations.

An action gathers, crafts, places, takes up again or goes to another zone, if it is legal. What is
held is the items, what stands in the zones the things placed.

Milestones are the items, each time there are more of one, and `placed_...`, each time a thing is
placed or built. To go somewhere is none. A task, `minehcraft-ITEM`, ends with its item, for a
reward of 1; its milestones are what is needed for that, by the rules alone (`rules.py`). Without
a task, `minehcraft`, all are milestones, with a reward of 1 for each one's first time. An action
that is not legal does nothing: HierarchyCraft's penalty for it is left out.

Affordances are true by HierarchyCraft's own legality of actions: a milestone is afforded if an
action that brings it is legal now, or after going somewhere, as often as it takes (`kernels.py`).

Observed is what HierarchyCraft shows (what is held, the zone, what stands there), what stands in
all zones, as only the player changes that, and which milestones the episode has had.
"""

from typing import Any

from gymnasium.vector import VectorEnv

from hal.checks import check_choice
from hal.envs.external.adapters import load
from hal.envs.external.adapters.hierarchycraft.lanes import MineHcraftLanes
from hal.envs.external.adapters.hierarchycraft.rules import read_rules

ALL = "minehcraft"
TASKS = {
    f"{ALL}-{item}": item
    for item in (
        "stone_pickaxe",
        "iron_pickaxe",
        "diamond",
        "enchanting_table",
        "ender_dragon_head",
    )
}
NAMES = (ALL, *TASKS)


def make(name: str, num_envs: int, render_mode: str | None = None) -> VectorEnv[Any, Any, Any]:
    """Return lanes of MineHcraft, with a task or without."""
    check_choice("HierarchyCraft environment", name, NAMES)
    world = load("hcraft", "hierarchycraft").examples.MineHcraftEnv().world
    return MineHcraftLanes(world, read_rules(world), TASKS.get(name), num_envs, render_mode)
