"""Where methods are compared, and for how long."""

from dataclasses import dataclass, field
from typing import Any

from hal.config.presets import make_config
from hal.config.settings import Config

METHODS = ("halo", "hal", "hr+her", "rainbow")
TOLD = "the agent is told of achievements and sees symbols"


@dataclass(frozen=True)
class Testbed:
    """An environment and how it is measured."""

    task: str
    steps: int
    every: int  # steps between two lines of a run
    speeds: dict[str, int] = field(default_factory=dict)  # steps per CPU second of training
    settings: dict[str, Any] = field(default_factory=dict)
    note: str = ""  # what has to be said beside every figure

    def config(self, method: str, seed: int) -> Config:
        """Return the config of a run."""
        return make_config(self.task, method, seed=seed, steps=self.steps, **self.settings)


def _speeds(*speeds: int) -> dict[str, int]:
    """Return what was measured on one core of a busy machine, steps 8,000 to 20,000 of seed 100."""
    return dict(zip(METHODS, speeds, strict=True))


MINIGRID = {
    "blocked-unlock-pickup": ("BlockedUnlockPickup", _speeds(2_100, 2_850, 3_430, 3_580)),
    "key-corridor-s3r3": ("KeyCorridorS3R3", _speeds(1_830, 2_790, 3_550, 3_770)),
    "key-corridor-s4r3": ("KeyCorridorS4R3", _speeds(2_330, 2_900, 3_530, 3_900)),
}
MINEHCRAFT = _speeds(2_360, 3_230, 4_890, 6_030)
TESTBEDS = {
    "craftax-classic": Testbed(
        "craftax/classic", 1_000_000, 50_000, _speeds(1_930, 1_870, 2_360, 3_690), note=TOLD
    ),
    **{
        name: Testbed(f"minigrid/{task}", 500_000, 25_000, speeds)
        for name, (task, speeds) in MINIGRID.items()
    },
    "minehcraft-stone_pickaxe": Testbed(
        "hierarchycraft/minehcraft-stone_pickaxe", 500_000, 25_000, MINEHCRAFT
    ),
    "minehcraft-diamond": Testbed(
        "hierarchycraft/minehcraft-diamond", 1_000_000, 50_000, MINEHCRAFT
    ),
    "tea-without-boil": Testbed(
        "examples.tea:make",
        200_000,
        10_000,
        _speeds(3_230, 3_950, 5_340, 6_080),
        {"environment.milestones": ("water", "leaves", "brew", "serve")},
    ),
}
