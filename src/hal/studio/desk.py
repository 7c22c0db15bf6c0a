"""What is open in the studio, and what the page can ask for: a method per command.

A command's arguments are checked against its annotations before it is called. It returns messages
for all pages; `app.py` carries them. One command is done at a time.
"""

from collections.abc import Callable
from typing import Any

from hal.agent.affordances import Affordances
from hal.checks import check_choice, check_whole_number
from hal.envs.grid.edits import Edit
from hal.envs.grid.rules import FLOOR
from hal.pictures.frame import Frame
from hal.studio.agents import Player
from hal.studio.arguments import checked
from hal.studio.contexts import Points, points_of
from hal.studio.episode import Episode
from hal.studio.library import HEATS, Library
from hal.studio.pack import Packed, pack_episode, rounded
from hal.studio.sights import sight_of
from hal.studio.why import Nearest, influences, nearest

VIEWS = ("runs", "episode", "interfere", "compare", "map", "share")
SIDES = ("first", "second")
Messages = list[Packed]


class Desk:
    """Everything that is open; whoever reloads the page finds it again.

    Args:
        library: the runs.
    """

    def __init__(self, library: Library) -> None:
        self.library = library
        self.view = VIEWS[0]
        self.selected: list[int] = []
        self.metric, self.along, self.kind = "episode/success", "steps", HEATS[0]
        self.places = [0, 0]  # the step that each side shows
        self.milestone = 0  # what "why" and the map are about
        self.episodes: list[Episode | None] = [None, None]
        self.opened: list[tuple[int, str] | None] = [None, None]  # run and stage
        self.trusted: set[int] = set()
        self.points: Points | None = None
        self.versions = [0, 0]  # of the episodes: pictures have addresses

    def call(self, message: Any) -> Messages:
        """Do what a page asks for, or refuse it by a ValueError."""
        if not isinstance(message, dict) or not isinstance(message.get("do"), str):
            raise ValueError("a message is not a command")
        name = message["do"]
        check_choice("command", name, tuple(COMMANDS))
        return COMMANDS[name](self, **checked(COMMANDS[name], message))

    def state(self) -> Packed:
        """Return what is open, in short."""
        return {
            "kind": "desk",
            "view": self.view,
            "selected": self.selected,
            "metric": self.metric,
            "along": self.along,
            "heatKind": self.kind,
            "heatKinds": list(HEATS),
            "places": self.places,
            "milestone": self.milestone,
            "opened": self.opened,
        }

    def everything(self) -> Messages:
        """Return all that a page needs that was just opened."""
        return [
            {"kind": "runs", "runs": self.library.rows()},
            self.state(),
            *self.learned(),
            *(self.packed(side) for side in (0, 1) if self.episodes[side]),
        ]

    def learned(self) -> Messages:
        """Return the curves and the heat map of what is selected."""
        if not self.selected:
            return [{"kind": "learned", "metrics": [], "curves": [], "heat": []}]
        known = self.library
        return [
            {
                "kind": "learned",
                "metrics": known.metrics(self.selected),
                "curves": known.curves(self.selected, self.metric, self.along),
                "heat": known.heat(self.selected, self.kind),
            }
        ]

    def packed(self, side: int) -> Packed:
        """Return an episode for the page."""
        episode = self.episode(side)
        return {
            "kind": "episode",
            "side": side,
            "version": self.versions[side],
            "episode": pack_episode(episode),
        }

    def episode(self, side: int) -> Episode:
        """Return the episode of a side, or say that there is none."""
        check_whole_number("side", side, 0, 1)
        found = self.episodes[side]
        if found is None:
            raise ValueError(f"no {SIDES[side]} agent is open; legal: open one")
        return found

    # --- commands ---------------------------------------------------------------------------

    def show(self, view: str) -> Messages:
        """Turn to a view."""
        check_choice("view", view, VIEWS)
        self.view = view
        return [self.state()]

    def select(self, runs: list[int], metric: str, along: str, heat: str) -> Messages:
        """Choose what curves and heat map show."""
        check_choice("axis", along, ("steps", "cpu_seconds"))
        check_choice("heat map", heat, HEATS)
        for number in runs:
            self.library.run(number)
        self.selected, self.metric, self.along, self.kind = runs, metric, along, heat
        return [self.state(), *self.learned()]

    def agree(self, run: int) -> Messages:
        """Let this run import its environment, as the user has said."""
        self.library.run(run)
        self.trusted.add(run)
        return [self.state()]

    def play(
        self, side: int, run: int, stage: str, seed: int, epsilon: float, most: int
    ) -> Messages:
        """Open an agent, unless it is open, and play an episode from its start."""
        check_whole_number("side", side, 0, 1)
        if not 0 <= epsilon <= 1:
            raise ValueError(f"exploration {epsilon}; legal: 0 to 1")
        present = self.episodes[side]
        if present is None or self.opened[side] != (run, stage):
            fresh = Episode(self._player(side, run, stage))
        else:
            fresh = present
        fresh.start(seed, epsilon, most)
        if present is not None and fresh is not present:
            present.close()
        self.episodes[side], self.opened[side] = fresh, (run, stage)
        self.milestone = min(self.milestone, len(fresh.player.milestones) - 1)
        return self._changed(side, 0)

    def at(self, side: int, step: int) -> Messages:
        """Remember which moment is looked at; pages have it already."""
        self.episode(side).at(step)
        self.places[side] = step
        return []

    def go_on(self, side: int, step: int, most: int) -> Messages:
        """Let the agent play on from a moment."""
        self.episode(side).go_on(step, most)
        return self._changed(side, step)

    def force(self, side: int, step: int, subtask: int, most: int) -> Messages:
        """Have the agent pursue a subtask."""
        self.episode(side).force(step, subtask, most)
        return self._changed(side, step)

    def act(self, side: int, step: int, action: int) -> Messages:
        """Do one action by hand."""
        self.episode(side).act(step, action)
        return self._changed(side, step + 1)

    def edit(
        self, side: int, step: int, what: str, row: int, col: int, code: int, amount: int
    ) -> Messages:
        """Change the state of a moment."""
        self.episode(side).edit(step, Edit(what, row, col, code, amount))
        return self._changed(side, step)

    def undo(self, side: int) -> Messages:
        """Take back the last interference."""
        episode = self.episode(side)
        episode.undo()
        return self._changed(side, min(self.places[side], len(episode.records) - 1))

    def why(self, side: int, step: int, milestone: int) -> Messages:
        """Tell why a milestone is held to be possible, or not, at a moment."""
        episode = self.episode(side)
        record, player = episode.at(step), episode.player
        check_whole_number("milestone", milestone, 0, len(player.milestones) - 1)
        self.milestone = milestone
        about = {"kind": "why", "side": side, "step": step, "milestone": milestone}
        own, examples = player.affordances, player.examples
        if own is None or examples is None:
            return [{**about, "none": f"{player.config.method} learns no affordances"}]
        parts = player.agent.controller.encoder.layout.parts
        floor = FLOOR if isinstance(record.seen.shown, Frame) else None
        now, found = influences(own, record.seen.obs, parts, milestone, floor)
        near = nearest(examples, record.seen.obs, milestone)
        return [
            {
                **about,
                "probability": rounded(now),
                "distance": near.distance,
                "margin": near.margin,
                "known": near.num_known,
                "nearest": _pictures(near, examples, milestone, episode),
                "influences": [{**one._asdict(), "changes": rounded(one.changes)} for one in found],
            }
        ]

    def rates(self, side: int) -> Messages:
        """Tell how often each milestone's subpolicy succeeds."""
        return [{"kind": "rates", "side": side, "rates": self.episode(side).player.rates}]

    def map(self, of: str, milestone: int) -> Messages:
        """Show states as points."""
        episode = self.episode(0)
        check_whole_number("milestone", milestone, 0, len(episode.player.milestones) - 1)
        self.milestone = milestone
        points = self.points = points_of(episode, of, milestone)
        own = episode.player.affordances
        predicted = None
        if own is not None:
            predicted = rounded(own.probabilities(points.obs)[:, milestone])
        return [
            {
                "kind": "map",
                "of": of,
                "about": milestone,
                "what": points.what,
                "places": rounded(points.places),
                "shares": rounded(points.shares),
                "milestone": points.milestone.tolist(),
                "label": points.label.tolist(),
                "predicted": predicted,
                "truth": None if points.truth is None else points.truth.astype(int).tolist(),
            }
        ]

    def look(self, point: int) -> Messages:
        """Show the state of a point of the map."""
        if self.points is None:
            raise ValueError("there is no map; legal: make one")
        check_whole_number("point", point, 0, len(self.points.places) - 1)
        one = {name: values[point] for name, values in self.points.obs.items()}
        return [{"kind": "sight", "point": point, **sight_of(one, self.episode(0))}]

    def _player(self, side: int, run: int, stage: str) -> Player:
        """Return an agent, the other side's if that is the same one."""
        other = self.episodes[1 - side]
        if other is not None and self.opened[1 - side] == (run, stage):
            return other.player
        return Player(self.library.run(run), stage, run in self.trusted)

    def _changed(self, side: int, step: int) -> Messages:
        self.versions[side] += 1
        self.places[side] = step
        return [self.state(), self.packed(side)]


def _pictures(
    near: Nearest, examples: Affordances, milestone: int, episode: Episode
) -> list[Packed]:
    """Return the nearest known positives, as the page shows them."""
    seen = examples.positives.obs
    return [
        {
            "distance": rounded(float(distance)),
            **sight_of({name: values[milestone, at] for name, values in seen.items()}, episode),
        }
        for at, distance in zip(near.at, near.distances, strict=True)
    ]


_NAMES = (
    *("show", "select", "agree", "play", "at", "go_on", "force", "act", "edit", "undo"),
    *("why", "rates", "map", "look"),
)
COMMANDS: dict[str, Callable[..., Messages]] = {name: getattr(Desk, name) for name in _NAMES}
