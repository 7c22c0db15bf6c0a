"""The rules of both games as tables: tiles, items, actions, milestones, recipes, rooms, tasks.

The kernels in `crafting.py`, `treasure.py` and `affordances.py` read the arrays made here; the
picture in `render.py` reads the names. Nothing in this module knows a world's state.
"""

from typing import NamedTuple

import numpy as np

MOVES = ("turn_left", "turn_right", "forward", "backward")
TURN_LEFT, TURN_RIGHT, FORWARD, BACKWARD = range(4)

# Both games share their first two tile codes.
FLOOR, WALL = 0, 1
NOTHING = -1

STEP_PENALTY = 0.01  # 1 - gamma, on every step


class Game(NamedTuple):
    """What a game is made of, by name; a position in a tuple is the code in every array."""

    name: str
    size: int  # cells along each side, the wall around included
    max_steps: int
    tiles: tuple[str, ...]
    items: tuple[str, ...]
    most_items: int  # no count of one item ever exceeds this
    actions: tuple[str, ...]
    milestones: tuple[str, ...]
    tasks: tuple[str, ...]  # each named by its final milestone


# --- Crafting -------------------------------------------------------------------------------

PICKAXES = ("wood_pickaxe", "stone_pickaxe", "iron_pickaxe")  # weakest first
NEAR_DISTANCE = 2  # Chebyshev distance at which a bench or a furnace can be used


class Production(NamedTuple):
    """One way to make one thing. A mined production takes a tile, a crafted one pays a cost."""

    milestone: str
    action: str
    mines: str = ""  # the tile in front that it takes
    pickaxe: int = 0  # the weakest pickaxe that can: 0 by hand, 1 wood, 2 stone, 3 iron
    cost: tuple[tuple[int, str], ...] = ()
    near: str = ""  # the station that must be near
    places: str = ""  # the tile it puts on the empty cell in front
    gives: int = 1  # units of the item of its name, unless it places a tile


PRODUCTIONS = (
    Production("log", "mine", mines="tree"),
    Production("wood", "craft_wood", cost=((1, "log"),), gives=4),
    Production("stick", "craft_stick", cost=((2, "wood"),), gives=4),
    Production("crafting_bench", "craft_bench", cost=((4, "wood"),), places="crafting_bench"),
    Production(
        "wood_pickaxe", "craft_pickaxe", cost=((2, "stick"), (3, "wood")), near="crafting_bench"
    ),
    Production("stone", "mine", mines="stone", pickaxe=1),
    Production("furnace", "craft_furnace", cost=((4, "stone"),), places="furnace"),
    Production(
        "stone_pickaxe", "craft_pickaxe", cost=((2, "stick"), (3, "stone")), near="crafting_bench"
    ),
    Production("iron_ore", "mine", mines="iron_ore", pickaxe=2),
    Production("coal", "mine", mines="coal", pickaxe=2),
    Production("iron", "craft_iron", cost=((1, "iron_ore"), (1, "coal")), near="furnace"),
    Production(
        "iron_pickaxe", "craft_pickaxe", cost=((2, "stick"), (3, "iron")), near="crafting_bench"
    ),
    Production("diamond", "mine", mines="diamond", pickaxe=3),
    Production("dirt", "mine", mines="dirt"),  # last: it is made like the others, but no milestone
)
CRAFTING_MILESTONES = tuple(p.milestone for p in PRODUCTIONS if p.milestone != "dirt")

CRAFTING = Game(
    name="crafting",
    size=12,
    max_steps=4320,
    tiles=(
        "floor",
        "wall",
        "tree",
        "dirt",
        "stone",
        "coal",
        "iron_ore",
        "diamond",
        "crafting_bench",
        "furnace",
    ),
    items=(
        "log",
        "dirt",
        "wood",
        "stick",
        "stone",
        "wood_pickaxe",
        "stone_pickaxe",
        "iron_pickaxe",
        "iron_ore",
        "iron",
        "coal",
        "diamond",
    ),
    most_items=400,  # 50 cells of trees -> 50 logs -> 200 wood -> 400 sticks
    actions=(
        *MOVES,
        "mine",
        "craft_wood",
        "craft_stick",
        "craft_pickaxe",
        "craft_iron",
        "craft_bench",
        "craft_furnace",
    ),
    milestones=CRAFTING_MILESTONES,
    tasks=CRAFTING_MILESTONES,
)

# What each cell of a half is drawn from: a tile and its share of 50.
UPPER_SHARES = (("tree", 10), ("dirt", 4), ("floor", 36))
LOWER_SHARES = (("stone", 29), ("coal", 8), ("iron_ore", 8), ("dirt", 5))
# A world with fewer is drawn again; the agent needs a floor cell to start on.
FEWEST = {"tree": 5, "iron_ore": 4, "coal": 4, "floor": 1}

# Edge stochasticity: the weight of each held item in the draw of the one that disappears.
DISAPPEAR_WEIGHTS = {
    "log": 20,
    "wood": 20,
    "stick": 20,
    "stone": 10,
    "wood_pickaxe": 10,
    "stone_pickaxe": 8,
    "iron_ore": 5,
    "iron": 5,
    "coal": 5,
    "iron_pickaxe": 2,
    "diamond": 1,
    "dirt": 0,
}

# --- Treasure -------------------------------------------------------------------------------

DOORS = ("yellow_door", "red_door", "green_door", "blue_door")
BEHIND = {
    "yellow_door": ("blue_key",),
    "red_door": ("green_weight", "chest"),
    "green_door": ("purple_key",),
    "blue_door": ("scale",),
}
# The three starts: where the red and the yellow key lie, "" being the central room.
STARTS = (
    {"red_key": "", "yellow_key": ""},
    {"red_key": "", "yellow_key": "red_door"},
    {"red_key": "yellow_door", "yellow_key": ""},
)


class Interaction(NamedTuple):
    """What `interact` does with the tile in front: take it, or use the carried item on it."""

    milestone: str
    tile: str
    takes: str = ""  # the item then carried
    uses: str = ""  # the carried item it needs and uses up
    opens: str = ""  # the door that opens for good
    becomes: str = ""  # what the tile is from then on


INTERACTIONS = (
    Interaction("red_key", "red_key", takes="red_key"),
    Interaction("yellow_key", "yellow_key", takes="yellow_key"),
    Interaction("red_door", "red_door", uses="red_key", opens="red_door"),
    Interaction("yellow_door", "yellow_door", uses="yellow_key", opens="yellow_door"),
    Interaction("green_weight", "green_weight", takes="green_weight"),
    Interaction("blue_key", "blue_key", takes="blue_key"),
    Interaction("blue_door", "blue_door", uses="blue_key", opens="blue_door"),
    Interaction(
        "green_door", "scale", uses="green_weight", opens="green_door", becomes="pressed_scale"
    ),
    Interaction("purple_key", "purple_key", takes="purple_key"),
    Interaction("treasure", "chest", uses="purple_key"),
)

TREASURE = Game(
    name="treasure",
    size=11,
    max_steps=3630,
    tiles=(
        "floor",
        "wall",
        "red_key",
        "yellow_key",
        "blue_key",
        "purple_key",
        "green_weight",
        "scale",
        "chest",
        *DOORS,
        *(f"open_{door}" for door in DOORS),
        "pressed_scale",
    ),
    items=("red_key", "yellow_key", "blue_key", "purple_key", "green_weight"),
    most_items=1,
    actions=(*MOVES, "interact"),
    milestones=tuple(i.milestone for i in INTERACTIONS),
    tasks=("treasure", "green_door"),
)

GAMES = (CRAFTING, TREASURE)
CRAFTING_CODE, TREASURE_CODE = range(len(GAMES))
DEFAULT_TASK = TREASURE.tasks[0]


def game_of_task(task: str) -> int:
    """Return the code of the game that has this task."""
    for code, game in enumerate(GAMES):
        if task in game.tasks:
            return code
    legal = ", ".join(task for game in GAMES for task in game.tasks)
    raise ValueError(f"unknown task {task!r}; legal tasks: {legal}")


# --- The tables as arrays, for the kernels -------------------------------------------------


def codes(names: tuple[str, ...], wanted: list[str]) -> np.ndarray:
    """Return the position of each wanted name, NOTHING for the empty one."""
    return np.array([names.index(name) if name else NOTHING for name in wanted], dtype=np.int64)


def _costs() -> np.ndarray:
    cost = np.zeros((len(PRODUCTIONS), len(CRAFTING.items)), dtype=np.int64)
    for row, production in enumerate(PRODUCTIONS):
        for amount, item in production.cost:
            cost[row, CRAFTING.items.index(item)] = amount
    return cost


def _spread(shares: tuple[tuple[str, int], ...]) -> np.ndarray:
    """Return one tile code per share, so that a uniform draw among them has these odds."""
    tiles = codes(CRAFTING.tiles, [tile for tile, _ in shares])
    return np.repeat(tiles, [share for _, share in shares])


def _where(tiles: tuple[str, ...], wanted: list[str]) -> np.ndarray:
    """Return for each tile code the row of `wanted` that names it, else NOTHING."""
    return np.array([wanted.index(t) if t in wanted else NOTHING for t in tiles], dtype=np.int64)


NUM_PRODUCTIONS = len(PRODUCTIONS)
COST = _costs()  # (productions, items)
MINES = codes(CRAFTING.tiles, [p.mines for p in PRODUCTIONS])
PICKAXE_NEEDED = np.array([p.pickaxe for p in PRODUCTIONS])
NEAR = codes(CRAFTING.tiles, [p.near for p in PRODUCTIONS])
PLACES = codes(CRAFTING.tiles, [p.places for p in PRODUCTIONS])
GIVES = np.array([p.gives for p in PRODUCTIONS])
ITEM = codes(CRAFTING.items, ["" if p.places else p.milestone for p in PRODUCTIONS])
MINED_BY = _where(CRAFTING.tiles, [p.mines for p in PRODUCTIONS])  # tile -> production
PLACED_BY = _where(CRAFTING.tiles, [p.places for p in PRODUCTIONS])  # tile -> production
CRAFTED_BY = _where(CRAFTING.actions, [p.action for p in PRODUCTIONS])  # action -> production
PICKAXE_ITEMS = codes(CRAFTING.items, list(PICKAXES))
PICKAXE_MATERIALS = codes(CRAFTING.items, ["wood", "stone", "iron"])
PICKAXE_PRODUCTIONS = codes(CRAFTING.milestones, list(PICKAXES))
UPPER_TILES = _spread(UPPER_SHARES)
LOWER_TILES = _spread(LOWER_SHARES)
FEWEST_OF = np.array([FEWEST.get(tile, 0) for tile in CRAFTING.tiles])  # per tile
DISAPPEAR_WEIGHT = np.array([DISAPPEAR_WEIGHTS[item] for item in CRAFTING.items])

NUM_INTERACTIONS = len(INTERACTIONS)
INTERACTION_OF = _where(TREASURE.tiles, [i.tile for i in INTERACTIONS])  # tile -> interaction
INTERACTION_TILE = codes(TREASURE.tiles, [i.tile for i in INTERACTIONS])
TAKES = codes(TREASURE.items, [i.takes for i in INTERACTIONS])
USES = codes(TREASURE.items, [i.uses for i in INTERACTIONS])
OPENS = codes(TREASURE.tiles, [i.opens for i in INTERACTIONS])
BECOMES = codes(TREASURE.tiles, [i.becomes for i in INTERACTIONS])
ITEM_TILE = codes(TREASURE.tiles, list(TREASURE.items))  # item -> the tile it lies as
ITEM_OF_TILE = _where(TREASURE.tiles, list(TREASURE.items))
_PLACED = {tile: door for door, tiles in BEHIND.items() for tile in tiles}
OBJECT_TILE = codes(TREASURE.tiles, [*_PLACED, *STARTS[0]])
OBJECT_DOOR = np.array([codes(DOORS, [*_PLACED.values(), *start.values()]) for start in STARTS])
DOOR_TILE = codes(TREASURE.tiles, list(DOORS))
TO_OPEN_DOOR = len(DOORS)  # an open door's tile code is its closed one's plus this
