"""One run on disk: train, show, log, checkpoint, evaluate; and go on where it was stopped."""

import json
import shlex
import shutil
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from filelock import FileLock, Timeout

from hal.agent.networks import device_of
from hal.checkpoint import (
    CHECKPOINTS,
    DamagedError,
    checkpoints_of,
    load_checkpoint,
    load_config,
    save_agent,
    save_checkpoint,
    save_config,
    write_text,
)
from hal.config import Config
from hal.display import Display, success_line
from hal.evaluation import evaluate
from hal.policy import Policy
from hal.sinks import Sinks
from hal.training import Training

EVALUATION, FAILURE, LOCK = "evaluation.json", "failure.txt", "run.lock"


@dataclass(frozen=True)
class Keeping:
    """How a run is kept; nothing here changes what it learns."""

    num_episodes: int = 200  # of the final evaluation
    checkpoint_seconds: float = 60.0  # between two checkpoints
    use_wandb: bool = False

    def __post_init__(self) -> None:
        check_episodes(self.num_episodes)
        if not self.checkpoint_seconds >= 0:
            raise ValueError(f"checkpoint-seconds {self.checkpoint_seconds}; legal: from 0")
        if self.use_wandb and find_spec("wandb") is None:
            raise ValueError('--wandb needs Weights & Biases: pip install "hal[wandb]"')


class StoppedError(Exception):
    """Somebody stopped the run; it can go on."""

    def __init__(self, folder: Path, num_steps: int, code: int) -> None:
        super().__init__(f"stopped after {num_steps:,} steps; {how_to_go_on(folder)}")
        self.code = code


class FailedError(Exception):
    """The machine failed the run; its checkpoints are whole."""


def how_to_go_on(folder: Path) -> str:
    """Return the command that resumes a run, in words."""
    return f"go on with: hal train --resume {shlex.quote(str(folder))}"


def new_folder(config: Config) -> Path:
    """Return where a run goes if nobody says where."""
    now = datetime.now().strftime("%Y%m%d-%H%M%S")
    folder = Path("runs") / f"{config.task}-{config.method}-{config.seed}-{now}"
    return folder if not folder.exists() else folder.with_name(f"{folder.name}-{time.time_ns()}")


def run_training(config: Config, folder: Path, keeping: Keeping) -> dict[str, Any]:
    """Train and evaluate in a new folder; return the evaluation."""
    device_of(config.device)
    if folder.exists():
        raise ValueError(f"{folder} exists already; take another one, or {how_to_go_on(folder)}")
    folder.mkdir(parents=True)
    save_config(config, folder)
    with locked(folder):
        return _go_on(Training(config), folder, keeping)


def resume_training(folder: Path, keeping: Keeping) -> dict[str, Any]:
    """Go on with a run from its newest whole checkpoint, or from its start; see it through."""
    config = load_config(folder)
    device_of(config.device)
    with locked(folder):
        if (folder / EVALUATION).exists():
            raise ValueError(f"{folder} is done; see it with: hal eval {shlex.quote(str(folder))}")
        training = Training(config)
        _load_newest(training, folder)
        (folder / FAILURE).unlink(missing_ok=True)
        return _go_on(training, folder, keeping)


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Keep other processes off a run; the lock goes with this process, however it ends."""
    try:
        with FileLock(folder / LOCK, timeout=1):
            yield
    except Timeout:
        raise ValueError(f"{folder} is being trained by another process") from None


def _load_newest(training: Training, folder: Path) -> None:
    paths = checkpoints_of(folder)
    for path in paths:
        try:
            load_checkpoint(training, path)
        except DamagedError as error:
            print(f"hal: {error}; trying the one before", flush=True)
        else:
            return
    if paths:
        raise ValueError(f"{folder} has no whole checkpoint; start anew with `hal train`")


def _go_on(training: Training, folder: Path, keeping: Keeping) -> dict[str, Any]:
    """Train to the end, then evaluate; a checkpoint is there whatever happens."""
    try:
        _train(training, folder, keeping)
        result = _finish(training, folder, keeping)
    except KeyboardInterrupt:
        raise StoppedError(folder, training.agent.num_steps, 130) from None
    except OSError as error:
        _note_failure(folder, str(error))
        raise FailedError(f"{error}; {how_to_go_on(folder)}") from error
    except (StoppedError, ValueError):
        raise
    except Exception as error:
        _note_failure(folder, repr(error))
        raise
    return result


def _train(training: Training, folder: Path, keeping: Keeping) -> None:
    sinks = Sinks(folder, training.config, training.agent.num_steps, keeping.use_wandb)
    next_checkpoint = time.monotonic() + keeping.checkpoint_seconds
    start = time.process_time() - training.cpu_seconds
    try:
        display = Display(training.config, folder, training.agent.num_steps)
        with noticing_signals() as noticed, display:
            while not training.is_done:
                training.step()
                metrics = training.report()
                if metrics is not None:
                    others = time.process_time() - start - training.cpu_seconds
                    sinks.write({**metrics, "keeping_seconds": round(others, 3)})
                display.show(training.agent.num_steps, metrics)
                if noticed or time.monotonic() >= next_checkpoint:
                    save_checkpoint(training, folder)
                    next_checkpoint = time.monotonic() + keeping.checkpoint_seconds
                if noticed:
                    raise StoppedError(folder, training.agent.num_steps, 128 + noticed[0])
    finally:
        sinks.close()


@contextmanager
def noticing_signals() -> Iterator[list[int]]:
    """Give a list that a request to stop is added to; a second one interrupts at once."""
    noticed: list[int] = []

    def notice(number: int, _: object) -> None:
        if noticed:
            raise KeyboardInterrupt
        noticed.append(number)

    if threading.current_thread() is not threading.main_thread():
        yield noticed  # signals are not for others
        return
    before = {number: signal.signal(number, notice) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield noticed
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _finish(training: Training, folder: Path, keeping: Keeping) -> dict[str, Any]:
    """Keep the agent, evaluate it, and let go of what was only there to go on."""
    save_agent(training.agent, folder)
    print(f"evaluating {keeping.num_episodes} episodes", flush=True)
    result = evaluate_policy(Policy(training.agent), keeping.num_episodes)
    write_text(folder / EVALUATION, json.dumps(result, indent=2) + "\n")
    shutil.rmtree(folder / CHECKPOINTS, ignore_errors=True)
    print(f"{success_line(result)}; see {folder}")
    return result


def _note_failure(folder: Path, reason: str) -> None:
    try:
        write_text(folder / FAILURE, reason + "\n")
    except OSError:
        return  # the folder is what failed


def evaluate_policy(policy: Policy, num_episodes: int) -> dict[str, Any]:
    """Return what a run was and how its agent does, greedily and in fresh episodes."""
    check_episodes(num_episodes)
    config = policy.config
    return {
        "task": config.task,
        "method": config.method,
        "preset": config.preset,
        "seed": config.seed,
        "steps": config.steps,
        "episodes": num_episodes,
        **evaluate(policy, num_episodes=num_episodes).summary(policy.milestones),
    }


def check_episodes(num_episodes: int) -> None:
    """Refuse to evaluate nothing."""
    if num_episodes < 1:
        raise ValueError(f"episodes {num_episodes}; legal: whole numbers from 1")
