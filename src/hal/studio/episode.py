"""An episode that can be gone through, interfered with, and taken back.

What was changed is a new list of records that shares its beginning with the one before.
"""

from copy import deepcopy
from dataclasses import dataclass, replace

import numpy as np

from hal.agent.options import NONE, OptionTracker
from hal.agent.schedules import Exploration
from hal.agent.task import TASK
from hal.checks import check_whole_number
from hal.envs.grid.edits import Edit
from hal.envs.observations import Obs
from hal.runs.policy import Policy
from hal.studio.agents import Player
from hal.studio.beliefs import Beliefs, believe
from hal.studio.worlds import Seen, make_world

LONGEST = 2_000  # steps
MOST_UNDO = 50
ONE_LANE = np.arange(1)
AGENT, HAND, EDITED = "agent", "hand", "edit"


@dataclass(frozen=True)
class Record:
    """One moment: what was seen, what the agent then decided, and how it came there."""

    seen: Seen
    action: int  # what the agent does from here, counted from 0
    options: OptionTracker  # with what it pursues from here
    came_by: str = AGENT
    is_forced: bool = False  # whether somebody else chose what is pursued
    timed_out: bool = False  # whether an option ended here without its milestone

    @property
    def subtask(self) -> int:
        """What is pursued from here."""
        return int(self.options.subtask[0])


class Episode:
    """An episode of one agent in one world.

    Args:
        player: the agent.
    """

    def __init__(self, player: Player) -> None:
        self.player = player
        self.world = make_world(player.config)
        self.records: list[Record] = []
        self.past: list[list[Record]] = []  # for undo
        self.seed = 0
        self.policy = Policy(player.agent)

    def close(self) -> None:
        """Give back what the world holds."""
        self.world.close()

    @property
    def subtasks(self) -> tuple[str, ...]:
        """What can be pursued, by name; nothing where the agent is flat."""
        agent = self.player.hierarchical
        if agent is None:
            return ()
        return (*self.player.milestones, *([TASK] if agent.task else []))

    def start(self, seed: int, epsilon: float, most: int) -> None:
        """Play an episode from its start, with a share of random actions and subtasks."""
        check_whole_number("seed", seed, 0, 2**31 - 1)
        self._check_most(most)
        explore = Exploration(controller=epsilon, meta=epsilon, mask=0.0)
        self.policy = Policy(self.player.agent, explore, seed)
        self.seed, self.past = seed, []
        self.records = [self._decided(self.world.reset(seed))]
        self._play(most)

    def go_on(self, at: int, most: int) -> None:
        """Let the agent play on from a moment."""
        self._check_most(most)
        self._branch(at)
        self._play(most)

    def force(self, at: int, subtask: int, most: int) -> None:
        """Have the agent pursue a subtask from a moment on, until that option ends."""
        check_whole_number("subtask", subtask, 0, len(self.subtasks) - 1)
        self._check_most(most)
        self._branch(at)
        here = self.records[-1]
        options = deepcopy(here.options)
        options.begin(ONE_LANE, np.array([subtask]))
        (action,) = self.player.agent.pursue(
            here.seen.obs, options.subtask, 0.0, np.random.default_rng(0), is_judged=True
        )
        self.records[-1] = replace(here, action=int(action), options=options, is_forced=True)
        self.policy.options = deepcopy(options)
        self._play(most)

    def act(self, at: int, action: int) -> None:
        """Do one action by hand; the agent says what it would do then."""
        check_whole_number("action", action, 0, len(self.world.actions) - 1)
        if self.at(at).seen.is_over:
            raise ValueError("the episode is over; legal: an earlier step")
        self._branch(at)
        self._step(action, HAND)

    def edit(self, at: int, edit: Edit) -> None:
        """Change the state of a moment; the agent decides anew."""
        self._branch(at)
        try:
            seen = self.world.edit(edit)
        except ValueError:
            self.undo()
            raise
        self.policy.options = None
        self.records[-1] = replace(self._decided(seen), came_by=EDITED)

    def undo(self) -> None:
        """Take back the last interference."""
        if not self.past:
            raise ValueError("nothing to undo")
        self.records = self.past.pop()

    def beliefs(self) -> Beliefs:
        """Return what the agent believes at every moment."""
        signals = [record.seen.signals for record in self.records]
        truth = None
        if all("affordances" in one for one in signals):
            truth = np.concatenate([one["affordances"] for one in signals])
        subtask = np.array([record.subtask for record in self.records])
        return believe(self.player.agent, self.obs(), subtask, truth)

    def obs(self) -> Obs:
        """Return the observations of all moments."""
        names = self.records[0].seen.obs
        return {
            name: np.concatenate([record.seen.obs[name] for record in self.records])
            for name in names
        }

    def at(self, step: int) -> Record:
        """Return a moment, or refuse one that there is not."""
        check_whole_number("step", step, 0, len(self.records) - 1)
        return self.records[step]

    # --- playing ----------------------------------------------------------------------------

    def _check_most(self, most: int) -> None:
        check_whole_number("steps", most, 1, LONGEST)

    def _branch(self, at: int) -> None:
        """Return to a moment; what came after it can be had back by `undo`."""
        here = self.at(at)
        self.world.go_back(here.seen.state)
        self.past = [*self.past, self.records][-MOST_UNDO:]
        self.records = self.records[: at + 1]
        self.policy.options = deepcopy(here.options)

    def _play(self, most: int) -> None:
        while len(self.records) <= most and not self.records[-1].seen.is_over:
            self._step(self.records[-1].action, AGENT)

    def _step(self, action: int, came_by: str) -> None:
        before = self.records[-1].options
        record = self._decided(self.world.step(action))
        is_at_end = before.subtask[0] != NONE and before.steps[0] + 1 >= before.max_steps
        timed_out = bool(is_at_end and not record.seen.signals["milestones"].any())
        has_subtasks = self.player.hierarchical is not None
        self.records.append(replace(record, came_by=came_by, timed_out=timed_out and has_subtasks))

    def _decided(self, seen: Seen) -> Record:
        decision = self.policy.decide(ONE_LANE, seen.obs, seen.signals)
        options = self.policy.options
        assert options is not None
        return Record(seen, int(decision.actions[0]), deepcopy(options))
