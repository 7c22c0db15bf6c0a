"""All lanes, one step: act, disappear, afford, reward, end, reset, observe.

`vector.py` calls the two kernels below once per step or reset, whatever the number of lanes.
"""

from typing import NamedTuple

import numpy as np

from hal.envs.grid import crafting, treasure
from hal.envs.grid.affordances import afford_crafting, afford_treasure
from hal.envs.grid.geometry import view
from hal.envs.grid.jit import kernel
from hal.envs.grid.rules import CRAFTING_CODE, NOTHING, STEP_PENALTY
from hal.envs.grid.settings import KernelSettings
from hal.envs.grid.state import GridState, Lane


class Outcome(NamedTuple):
    """What a step tells, per lane."""

    image: np.ndarray  # (lanes, view, view) uint8
    inventory: np.ndarray  # (lanes, items) int32
    milestones: np.ndarray  # (lanes, K) bool
    affordances: np.ndarray  # (lanes, K) bool
    reward: np.ndarray  # (lanes,)
    terminated: np.ndarray  # (lanes,) bool
    truncated: np.ndarray  # (lanes,) bool

    @classmethod
    def empty(
        cls, num_lanes: int, view_size: int, num_items: int, num_milestones: int
    ) -> "Outcome":
        """Return arrays for a kernel to write to."""
        return cls(
            image=np.empty((num_lanes, view_size, view_size), dtype=np.uint8),
            inventory=np.empty((num_lanes, num_items), dtype=np.int32),
            milestones=np.zeros((num_lanes, num_milestones), dtype=np.bool_),
            affordances=np.empty((num_lanes, num_milestones), dtype=np.bool_),
            reward=np.zeros(num_lanes),
            terminated=np.zeros(num_lanes, dtype=np.bool_),
            truncated=np.zeros(num_lanes, dtype=np.bool_),
        )


@kernel
def reset_lanes(
    settings: KernelSettings, state: GridState, is_chosen: np.ndarray, outcome: Outcome
) -> None:
    """Begin a new episode on the chosen lanes; observe all."""
    for i in range(state.size):
        if is_chosen[i]:
            begin(settings, state[i])
        observe(settings, state[i], i, outcome)


@kernel
def step_lanes(
    settings: KernelSettings,
    state: GridState,
    actions: np.ndarray,
    is_same_step: bool,
    outcome: Outcome,
    final: Outcome,
) -> bool:
    """Step every lane; return whether `final` was written.

    A lane that had ended begins its next episode instead (next-step autoreset). With same-step
    autoreset one that ends now does so at once, and its last moment goes to `final`.
    """
    has_final = False
    for i in range(state.size):
        lane = state[i]
        if lane.is_done:
            begin(settings, lane)
        else:
            advance(settings, lane, i, actions[i], outcome)
            if lane.is_done and is_same_step:
                has_final = True
                observe(settings, lane, i, final)
                for column in range(settings.chosen.size):
                    final.milestones[i, column] = outcome.milestones[i, column]
                    outcome.milestones[i, column] = False
                begin(settings, lane)
        observe(settings, lane, i, outcome)
    return has_final


@kernel
def begin(settings: KernelSettings, lane: Lane) -> None:
    """Generate the lane's next world."""
    if settings.game == CRAFTING_CODE:
        crafting.generate(lane)
    else:
        treasure.generate(lane)
    lane.inventory[:] = 0
    lane.steps = 0
    lane.is_achieved[:] = 0
    lane.is_done = False
    afford(settings, lane)


@kernel
def advance(settings: KernelSettings, lane: Lane, i: int, action: int, outcome: Outcome) -> None:
    """Do one action and judge it."""
    is_changed = False
    if settings.game == CRAFTING_CODE:
        done = crafting.act(lane, action)
        if settings.disappear_rate > 0:
            is_changed = crafting.disappear(lane, settings.disappear_rate)
    else:
        done = treasure.act(lane, action)
    # Moving never changes what can be reached, hence not what is possible.
    if is_changed or done != NOTHING:
        afford(settings, lane)

    reward = -STEP_PENALTY
    if done != NOTHING and settings.is_milestone[done]:
        outcome.milestones[i, settings.column[done]] = True
        if settings.is_dense and not lane.is_achieved[done]:
            reward += 1 / settings.chosen.size
        elif not settings.is_dense and done == settings.final:
            reward += 1
        lane.is_achieved[done] = 1
    lane.steps += 1
    is_terminated = done == settings.final
    is_exhausted = settings.game == CRAFTING_CODE and lane.is_afforded.max() == 0
    is_truncated = not is_terminated and (is_exhausted or lane.steps >= settings.max_steps)
    outcome.reward[i] = reward
    outcome.terminated[i] = is_terminated
    outcome.truncated[i] = is_truncated
    lane.is_done = is_terminated or is_truncated


@kernel
def afford(settings: KernelSettings, lane: Lane) -> None:
    """Bring the lane's affordances up to date."""
    if settings.game == CRAFTING_CODE:
        afford_crafting(lane, settings.is_milestone)
    else:
        afford_treasure(lane, settings.is_milestone)


@kernel
def observe(settings: KernelSettings, lane: Lane, i: int, outcome: Outcome) -> None:
    """Write what the lane shows."""
    view(lane, outcome.image[i])
    for item in range(outcome.inventory.shape[1]):
        outcome.inventory[i, item] = lane.inventory[item]
    for column in range(settings.chosen.size):
        outcome.affordances[i, column] = lane.is_afforded[settings.chosen[column]]
