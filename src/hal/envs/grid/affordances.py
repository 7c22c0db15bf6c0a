"""Ground-truth affordances: which milestones can be next, from the present state alone.

A milestone is afforded if some action sequence completes it with no other milestone on the way.
Whatever is not in the milestone set is free: it may be done on the way. Random disappearance is an
exception to the rules (the paper's section 4) and is not foreseen here.
"""

import numpy as np

from hal.envs.grid import treasure
from hal.envs.grid.crafting import is_near, strongest_pickaxe
from hal.envs.grid.geometry import flood
from hal.envs.grid.jit import kernel
from hal.envs.grid.rules import (
    COST,
    CRAFTING,
    DOOR_TILE,
    FLOOR,
    GIVES,
    INTERACTION_TILE,
    ITEM,
    MINED_BY,
    MINES,
    NEAR,
    NOTHING,
    NUM_INTERACTIONS,
    NUM_PRODUCTIONS,
    PICKAXE_MATERIALS,
    PICKAXE_NEEDED,
    PICKAXE_PRODUCTIONS,
    PLACED_BY,
    PLACES,
    TREASURE,
)
from hal.envs.grid.state import LANE, SIZE, Lane

# --- Treasure: a search over situations ----------------------------------------------------

NUM_TREASURE_TILES = len(TREASURE.tiles)
NUM_DOORS = DOOR_TILE.size
NUM_CARRIED = len(TREASURE.items) + 1  # one of the items, or nothing
# Doors open for good and at most one item is carried: a world has no more situations than this.
NUM_SITUATIONS = NUM_CARRIED * 2**NUM_DOORS


@kernel
def afford_treasure(lane: Lane, is_milestone: np.ndarray) -> None:
    """Bring the affordances up to date, by search over what free interactions lead to."""
    lane.is_afforded[:] = 0
    is_known = np.zeros(NUM_SITUATIONS, dtype=np.bool_)
    situations = np.empty(NUM_SITUATIONS + 1, dtype=LANE)
    situations[0] = lane
    is_known[_code(lane)] = True
    num_known, current = 1, 0
    while current < num_known:
        here = situations[current]
        is_touched = _touched_tiles(here)
        for interaction in range(NUM_INTERACTIONS):
            tile = INTERACTION_TILE[interaction]
            if not is_touched[tile] or not treasure.is_possible(here, interaction):
                continue
            if is_milestone[interaction]:
                lane.is_afforded[interaction] = 1
                continue
            situations[num_known] = here
            row, col = treasure.find(here.grid, tile)
            treasure.interact(situations[num_known], row, col)
            code = _code(situations[num_known])
            if not is_known[code]:
                is_known[code] = True
                num_known += 1
        current += 1


@kernel
def _code(situation: Lane) -> int:
    carried = 0
    for item in range(NUM_CARRIED - 1):
        if situation.inventory[item] > 0:
            carried = item + 1
    closed_doors = 0
    for row in range(SIZE):
        for col in range(SIZE):
            door = situation.grid[row, col] - DOOR_TILE[0]
            if 0 <= door < NUM_DOORS:
                closed_doors += 1 << door
    return carried + NUM_CARRIED * closed_doors


@kernel
def _touched_tiles(lane: Lane) -> np.ndarray:
    is_touched = np.zeros(NUM_TREASURE_TILES, dtype=np.int64)
    num_reached = np.zeros(NUM_TREASURE_TILES, dtype=np.int64)
    flood(lane, treasure.IS_WALKABLE, num_reached, is_touched)
    return is_touched


# --- Crafting: work back from a milestone to what it takes ---------------------------------

NUM_CRAFTING_TILES = len(CRAFTING.tiles)
NUM_PICKAXES = PICKAXE_PRODUCTIONS.size
NUM_ITEMS = len(CRAFTING.items)
REACHED, USABLE = range(2)
STICK = CRAFTING.items.index("stick")
STONE = CRAFTING.items.index("stone")
FURNACE = CRAFTING.milestones.index("furnace")
STONE_PER_FURNACE = COST[FURNACE, STONE]


@kernel
def afford_crafting(lane: Lane, is_milestone: np.ndarray) -> None:
    """Bring the affordances up to date.

    A plan is a set of pickaxes to make on the way, weakest first: they alone change where the
    agent can go. With a task's full milestone set hardly a plan but the empty one is legal.
    """
    lane.is_afforded[:] = 0
    # Per pickaxe in hand (0 = none) and tile: how many can be stood on; can one be used.
    ground = np.zeros((NUM_PICKAXES + 1, 2, NUM_CRAFTING_TILES), dtype=np.int64)
    present = strongest_pickaxe(lane.inventory)
    _survey(lane, present, is_milestone, ground[present])
    for plan in range(2**NUM_PICKAXES):
        pickaxe = _follow(plan, present, lane, is_milestone, ground)
        if pickaxe == NOTHING:
            continue
        for target in range(NUM_PRODUCTIONS):
            if is_milestone[target] and not lane.is_afforded[target]:
                lane.is_afforded[target] = _is_feasible(
                    target, plan, pickaxe, lane, is_milestone, ground
                )


@kernel
def _follow(
    plan: int, pickaxe: int, lane: Lane, is_milestone: np.ndarray, ground: np.ndarray
) -> int:
    """Return the strongest pickaxe once the plan's are made, NOTHING if that cannot be done."""
    made = 0
    for i in range(NUM_PICKAXES):
        if plan >> i & 1:
            tool = PICKAXE_PRODUCTIONS[i]
            if is_milestone[tool] or i < pickaxe:
                return NOTHING
            if not _is_feasible(tool, made, pickaxe, lane, is_milestone, ground):
                return NOTHING
            made |= 1 << i
            pickaxe = i + 1
            _survey(lane, pickaxe, is_milestone, ground[pickaxe])
    return pickaxe


@kernel
def _survey(lane: Lane, pickaxe: int, is_milestone: np.ndarray, ground: np.ndarray) -> None:
    """Count the cells of each tile that the agent can come to stand on, and mark what it can use.

    It walks on floor and through whatever it can mine without completing a milestone.
    """
    is_passable = np.zeros(NUM_CRAFTING_TILES, dtype=np.bool_)
    for tile in range(NUM_CRAFTING_TILES):
        production = MINED_BY[tile]
        is_passable[tile] = tile == FLOOR or (
            production != NOTHING
            and not is_milestone[production]
            and PICKAXE_NEEDED[production] <= pickaxe
        )
    ground[:] = 0
    num_reached, is_usable = ground[REACHED], ground[USABLE]
    is_reached = flood(lane, is_passable, num_reached, is_usable)
    # A station is used from a distance, so being next to it is not what counts.
    for row in range(SIZE):
        for col in range(SIZE):
            tile = lane.grid[row, col]
            if PLACED_BY[tile] != NOTHING and is_near(is_reached, row, col, 1):
                is_usable[tile] = 1


@kernel
def _is_feasible(
    target: int,
    plan: int,
    pickaxe: int,
    lane: Lane,
    is_milestone: np.ndarray,
    ground: np.ndarray,
) -> bool:
    """Tell if the target can be made with this pickaxe in hand, the plan's pickaxes paid for too.

    Goes through the productions from the last to the first. Each one's cost is demanded of those
    before it, so that a production's number of runs is final when its turn comes.
    """
    runs = np.zeros(NUM_PRODUCTIONS, dtype=np.int64)
    demand = np.zeros(NUM_ITEMS, dtype=np.int64)
    runs[target] = 1
    for i in range(NUM_PICKAXES):
        runs[PICKAXE_PRODUCTIONS[i]] += plan >> i & 1
    for production in range(NUM_PRODUCTIONS - 1, -1, -1):
        item = ITEM[production]
        if item != NOTHING and demand[item] > lane.inventory[item]:
            missing = demand[item] - lane.inventory[item]
            runs[production] += (missing + GIVES[production] - 1) // GIVES[production]
        if runs[production] == 0:
            continue
        if is_milestone[production] and (production != target or runs[production] > 1):
            return False
        if not _is_within_reach(production, runs[production], pickaxe, is_milestone, ground):
            return False
        extra_pickaxes = _pickaxes_in_the_way(production, plan, lane, is_milestone)
        if extra_pickaxes == NOTHING:
            return False
        demand[STICK] += extra_pickaxes * COST[production, STICK]
        for item in range(NUM_ITEMS):
            demand[item] += runs[production] * COST[production, item]
        station = NEAR[production]
        if station != NOTHING and not ground[pickaxe, USABLE, station]:
            runs[PLACED_BY[station]] = 1
    return True


@kernel
def _is_within_reach(
    production: int, runs: int, pickaxe: int, is_milestone: np.ndarray, ground: np.ndarray
) -> bool:
    """Tell if there is enough to mine, or room to place something."""
    tile = MINES[production]
    if tile != NOTHING:
        if PICKAXE_NEEDED[production] > pickaxe:
            return False
        if is_milestone[production]:
            return ground[pickaxe, USABLE, tile] > 0
        return ground[pickaxe, REACHED, tile] >= runs
    return PLACES[production] == NOTHING or ground[pickaxe, REACHED].sum() > 1


@kernel
def _pickaxes_in_the_way(production: int, plan: int, lane: Lane, is_milestone: np.ndarray) -> int:
    """Return how many more, stronger pickaxes must be made first, NOTHING if that cannot be done.

    Who crafts a pickaxe gets the strongest that the materials allow. For a weaker one the stronger
    one's material must be spent, on that pickaxe itself or, if it is stone, on furnaces.
    """
    extra_pickaxes = 0
    is_stronger = False
    for i in range(NUM_PICKAXES):
        pickaxe, material = PICKAXE_PRODUCTIONS[i], PICKAXE_MATERIALS[i]
        if is_stronger:
            held, needed = lane.inventory[material], COST[pickaxe, material]
            extra = held // needed
            if material == STONE and not is_milestone[FURNACE]:
                extra = 1 if held % STONE_PER_FURNACE >= needed else 0
            if extra > 0 and is_milestone[pickaxe]:
                return NOTHING
            extra_pickaxes += max(extra - (plan >> i & 1), 0)
        is_stronger = is_stronger or production == pickaxe
    return extra_pickaxes
