"""A scripted player of both games: it knows the rules and sees the whole world.

Shows how an episode goes, without learning anything. It plays through the public interface.
"""

import heapq
from collections import Counter
from collections.abc import Callable, Collection, Iterator
from dataclasses import replace

from hal.envs.grid.geometry import DIRECTIONS
from hal.envs.grid.rules import (
    BACKWARD,
    CRAFTING,
    FORWARD,
    INTERACTIONS,
    NEAR_DISTANCE,
    PICKAXES,
    PRODUCTIONS,
    TREASURE,
    TURN_LEFT,
    TURN_RIGHT,
)
from hal.envs.grid.single import GridEnv
from hal.pictures.frame import Frame

Pose = tuple[int, int, int]  # row, column, direction

# A diamond's shopping list: how often each milestone must have been collected, in this order.
CRAFTING_LIST = (
    ("log", 5),
    ("wood", 5),
    ("stick", 2),
    ("crafting_bench", 1),
    ("wood_pickaxe", 1),
    ("stone", 3),
    ("stone_pickaxe", 1),
    ("stone", 7),
    ("furnace", 1),
    ("iron_ore", 3),
    ("coal", 3),
    ("iron", 3),
    ("iron_pickaxe", 1),
    ("diamond", 1),
)
# What to do first of what is afforded. What is carried is used before anything else is taken.
TREASURE_ORDER = (
    "treasure",
    "green_door",
    "blue_door",
    "red_door",
    "yellow_door",
    "purple_key",
    "blue_key",
    "yellow_key",
    "red_key",
    "green_weight",  # last: it is of use only when there are no more doors to unlock
)


class NoWayError(ValueError):
    """Not every world can be solved: in one of a thousand, ores wall in the stone."""


def play_episode(env: GridEnv) -> Iterator[Frame]:
    """Play on from a reset to the end of the episode; yield each moment after the first."""
    collected: Counter[str] = Counter()
    is_over = False
    while not is_over:
        frame = env.frame()
        subtask = next_subtask(frame, collected)
        try:
            actions = actions_for(frame, subtask)
        except NoWayError:
            what = f"after {frame.step} steps there is no way to {subtask} in this world"
            raise NoWayError(f"{what}; take another --seed") from None
        for action in actions:
            _, _, terminated, truncated, _ = env.step(action)
            frame = replace(env.frame(), subtask=subtask)
            yield frame
            is_over = terminated or truncated
            if frame.collected:
                collected[frame.collected] += 1
            if is_over or frame.collected:
                break  # what was planned may have changed


def next_subtask(frame: Frame, collected: Counter[str]) -> str:
    """Return the milestone to pursue next."""
    if frame.game is TREASURE:
        afforded = {
            name for name, is_so in zip(frame.milestones, frame.affordances, strict=True) if is_so
        }
        return next(name for name in TREASURE_ORDER if name in afforded)
    return next(
        name
        for name, times in CRAFTING_LIST
        if name in frame.milestones and collected[name] < times
    )


def actions_for(frame: Frame, milestone: str) -> list[int]:
    """Return actions that complete the milestone, mining what is in the way."""
    if frame.game is TREASURE:
        tile = next(i.tile for i in INTERACTIONS if i.milestone == milestone)
        return [*route(frame, facing(frame, {tile})), TREASURE.actions.index("interact")]
    production = next(p for p in PRODUCTIONS if p.milestone == milestone)
    if production.mines:
        actions = route(frame, facing(frame, {production.mines}))
    elif production.near:
        actions = route(frame, close_to(frame, production.near))
    elif production.places:
        actions = _way_to_room(frame)
    else:
        actions = []
    return [*actions, CRAFTING.actions.index(production.action)]


def _way_to_room(frame: Frame) -> list[int]:
    """Return a way to floor for a station, which stays there: not where it cuts anything off."""
    is_floor = facing(frame, {"floor"})

    def is_room(pose: Pose) -> bool:
        if not is_floor(pose):
            return False
        place = step_from(pose, 1)
        return reached(frame, pose[:2], place) == reached(frame, pose[:2]) - {place}

    try:
        return route(frame, is_room)
    except NoWayError:
        return route(frame, is_floor)


def reached(
    frame: Frame, start: tuple[int, int], closed: tuple[int, int] | None = None
) -> set[tuple[int, int]]:
    """Return the cells that can be dug to from a cell, once there is a pickaxe, but for one."""
    stack, cells = [start], {start}
    while stack:
        row, col = stack.pop()
        for direction in range(len(DIRECTIONS)):
            cell = step_from((row, col, direction), 1)
            tile = frame.game.tiles[frame.grid[cell]]
            is_open = tile in ("floor", "diamond") or _can_mine(frame, tile, at_least=1)
            if is_open and cell != closed and cell not in cells:
                cells.add(cell)
                stack.append(cell)
    return cells


def facing(frame: Frame, tiles: Collection[str]) -> Callable[[Pose], bool]:
    """Return the test of a pose for having one of these tiles in front."""

    def is_facing(pose: Pose) -> bool:
        row, col = step_from(pose, 1)
        return frame.game.tiles[frame.grid[row, col]] in tiles

    return is_facing


def close_to(frame: Frame, station: str) -> Callable[[Pose], bool]:
    """Return the test of a pose for being near enough to a station to craft there."""
    code = frame.game.tiles.index(station)

    def is_close(pose: Pose) -> bool:
        top, left = (max(x - NEAR_DISTANCE, 0) for x in pose[:2])
        bottom, right = (x + NEAR_DISTANCE + 1 for x in pose[:2])
        return bool((frame.grid[top:bottom, left:right] == code).any())

    return is_close


def step_from(pose: Pose, distance: int) -> tuple[int, int]:
    """Return the cell so many steps ahead of a pose."""
    row, col, direction = pose
    return row + distance * int(DIRECTIONS[direction, 0]), col + distance * int(
        DIRECTIONS[direction, 1]
    )


def route(frame: Frame, is_goal: Callable[[Pose], bool]) -> list[int]:
    """Return the fewest actions to a pose that is a goal (Dijkstra's algorithm)."""
    start: Pose = (*frame.position, frame.direction)
    queue: list[tuple[int, Pose, list[int]]] = [(0, start, [])]
    visited: set[Pose] = set()
    while queue:
        cost, pose, actions = heapq.heappop(queue)
        if is_goal(pose):
            return actions
        if pose in visited:
            continue
        visited.add(pose)
        for next_pose, step in _steps(frame, pose):
            heapq.heappush(queue, (cost + len(step), next_pose, actions + step))
    raise NoWayError("there is no way to that")


def _steps(frame: Frame, pose: Pose) -> Iterator[tuple[Pose, list[int]]]:
    row, col, direction = pose
    yield (row, col, (direction + 3) % 4), [TURN_LEFT]
    yield (row, col, (direction + 1) % 4), [TURN_RIGHT]
    for distance, action in ((1, FORWARD), (-1, BACKWARD)):
        next_row, next_col = step_from(pose, distance)
        tile = frame.game.tiles[frame.grid[next_row, next_col]]
        if tile == "floor" or tile.startswith("open_"):
            yield (next_row, next_col, direction), [action]
        elif action == FORWARD and _can_mine(frame, tile):
            yield (next_row, next_col, direction), [CRAFTING.actions.index("mine"), FORWARD]


def _can_mine(frame: Frame, tile: str, at_least: int = 0) -> bool:
    """Tell whether a tile can be mined with what is held, or with a pickaxe of this strength."""
    if frame.game is not CRAFTING:
        return False
    pickaxes = [frame.inventory[CRAFTING.items.index(item)] > 0 for item in PICKAXES]
    strongest = max((i + 1 for i, is_held in enumerate(pickaxes) if is_held), default=at_least)
    return any(p.mines == tile and p.pickaxe <= strongest for p in PRODUCTIONS)
