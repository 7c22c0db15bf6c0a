"""`hal train`: from words, and maybe a file, to a config.

The task, the method and the preset decide the defaults; a file's settings come over these, and the
command line's over both.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

from tyro.conf import Positional, arg

from hal.config.file import read_settings
from hal.config.names import spellings
from hal.config.presets import METHODS, PAPER, make_config
from hal.config.settings import (
    AffordanceSettings,
    Config,
    ControllerSettings,
    EnvironmentSettings,
    ExplorationSettings,
    MetaSettings,
    NetworkSettings,
    OptionSettings,
    ReplaySettings,
    values_of,
)

KEEPING = {  # arguments that a run can be resumed with, and their names in `Keeping`
    "episodes": "num_episodes",
    "checkpoint_seconds": "checkpoint_seconds",
    "wandb": "use_wandb",
    "processes": "use_processes",
}
CHOSEN = ("task", "method", "preset")  # what decides the defaults


def train_from(
    default: Config, settings_of_file: dict[str, Any], words: list[str]
) -> Callable[..., None]:
    """Return the command `hal train` for its words; settings are by default those of a config."""

    def train(
        task: Annotated[Positional[str], arg(metavar="TASK")] = default.task,
        *,
        env: str | None = None,
        method: str = default.method,
        preset: str = default.preset,
        seed: int = default.seed,
        steps: int = default.steps,
        config: Path | None = None,
        out: Path | None = None,
        resume: Path | None = None,
        device: str = default.device,
        episodes: int = 200,
        checkpoint_seconds: float = 60.0,
        wandb: bool = False,
        processes: bool = False,
        trust: bool = False,
        environment: EnvironmentSettings = default.environment,
        options: OptionSettings = default.options,
        exploration: ExplorationSettings = default.exploration,
        replay: ReplaySettings = default.replay,
        networks: NetworkSettings = default.networks,
        controller: ControllerSettings = default.controller,
        meta: MetaSettings = default.meta,
        affordances: AffordanceSettings = default.affordances,
    ) -> None:
        """Train an agent and evaluate it greedily; or go on with a run that was stopped.

        The defaults shown are those of the task, the method and the preset that are given. A
        setting that only one group has needs no group: --sigma is --affordances.sigma.

        Args:
            task: What to learn, see `hal tasks`.
            env: Instead of a task, an environment: module:function, or a name of `hal tasks`.
            method: What it learns by, see `hal methods`.
            preset: Scale: fast (learns soonest on a core), faithful (the same networks, lanes and
                batches, the paper's algorithm) or paper (the paper's settings).
            seed: Of everything random.
            steps: Environment steps of training, over all lanes.
            config: A TOML file with some of these settings; the command line wins.
            out: A new folder for the run; runs/TASK-METHOD-SEED-TIME without it.
            resume: Go on with the run in this folder, exactly, with its own settings.
            device: cpu, cuda or auto.
            episodes: Episodes of the final evaluation.
            checkpoint_seconds: CPU time between two checkpoints.
            wandb: Log to Weights & Biases too; WANDB_MODE=offline keeps it on this machine.
            processes: With --env: a process for each lane, for environments that are slow.
            trust: Import whatever environment the file or the run names. Not needed with --env,
                nor for a run of one's own.
            environment: What is trained in.
            options: What an option is, and how the next subtask is chosen.
            exploration: Shares of random choices, from the first to the second value.
            replay: What is remembered of steps, and what is drawn from that.
            networks: How networks read observations and are trained.
            controller: Actions that pursue a subtask.
            meta: Values of subtasks.
            affordances: What is possible: context, classifier, filter, mask.
        """
        from hal.runs.lifecycle import Keeping, new_folder, resume_training, run_training
        from hal.runs.trust import check_consent

        given = given_names(words)
        if env not in (None, task):
            raise ValueError(f"--env {env} and the task {task!r}; legal: one of them")
        if resume is None:
            groups = (environment, options, exploration, replay, networks)
            learners = (controller, meta, affordances)
            values = values_of(
                Config(task, method, preset, seed, steps, device, *groups, *learners)
            )
            chosen = {name: values[name] for name in CHOSEN}
            overrides = settings_of_file | {name: values[name] for name in given & values.keys()}
            made = make_config(**chosen, **_without(overrides, CHOSEN))
            if config is not None:
                check_consent(made.task, config.parent, task if task in words else env, trust)
            keeping = Keeping(episodes, checkpoint_seconds, wandb, processes)
            run_training(made, out or new_folder(made), keeping)
            return
        if given - KEEPING.keys() - {"resume", "env", "trust"} or task not in (Config.task, env):
            raise ValueError("--resume goes on with the run's own settings; leave out the others")
        asked = {
            "episodes": episodes,
            "checkpoint_seconds": checkpoint_seconds,
            "wandb": wandb,
            "processes": processes,
        }
        changes = {KEEPING[name]: asked[name] for name in given & KEEPING.keys()}
        resume_training(resume, env=env, trust=trust, **changes)

    return train


def plain_words(words: list[str]) -> list[str]:
    """Return a command line with every setting by its path: --sigma as --affordances.sigma."""
    return [_with_path(word) if word.startswith("--") else word for word in words]


def _with_path(word: str) -> str:
    name, equals, value = word[2:].partition("=")
    name = name.replace("-", "_")
    path, no = spellings().get(name), ""
    if path is None:
        path, no = spellings().get(name.removeprefix("no_")), "no-"
    if path is None or "." not in path:
        return word
    group, _, field = path.partition(".")
    return f"--{group}.{no}{field.replace('_', '-')}{equals}{value}"


def given_names(words: list[str]) -> set[str]:
    """Return the names of the arguments on a command line, settings by their paths."""
    names = {word[2:].partition("=")[0].replace("-", "_") for word in words if word[:2] == "--"}
    return {name.replace(".no_", ".").removeprefix("no_") for name in names}


def defaults_of(words: list[str]) -> tuple[Config, dict[str, Any]]:
    """Return the config that a command line begins with, and what the file that it names sets."""
    chosen: dict[str, str] = {}
    for name in ("method", "preset", "env", "config"):
        for at, word in enumerate(words):
            argument, _, value = word.partition("=")
            if argument == f"--{name}":
                chosen[name] = value or "".join(words[at + 1 : at + 2])
    has_task = bool(words) and not words[0].startswith("-")
    if has_task and "env" in chosen:
        raise ValueError(f"--env {chosen['env']} and the task {words[0]!r}; legal: one of them")
    if has_task:
        chosen["task"] = words[0]
    if "env" in chosen:
        chosen["task"] = chosen.pop("env")
    file = chosen.pop("config", None)
    settings = {} if file is None else read_settings(Path(file))
    _check_agreement(chosen, settings)
    decided = {name: settings[name] for name in CHOSEN if name in settings} | chosen
    decided.setdefault("task", Config.task)
    return make_config(**decided, **_without(settings, CHOSEN)), settings


def _check_agreement(chosen: dict[str, str], settings: dict[str, Any]) -> None:
    """Refuse a method or preset beside a file of another one that says what these decide."""
    named = {settings.get("method"), chosen.get("method")}
    switches = {path for name, own in METHODS.items() if name in named for path in own.switches}
    for name, decided in (("method", switches), ("preset", PAPER.keys())):
        both = sorted(decided & settings.keys())
        if both and name in chosen and settings.get(name, chosen[name]) != chosen[name]:
            what = f"--{name} {chosen[name]} and a file of {settings[name]} that sets {both[0]}"
            raise ValueError(f"{what}; legal: one of them")


def _without(values: dict[str, Any], names: tuple[str, ...]) -> dict[str, Any]:
    return {name: value for name, value in values.items() if name not in names}
