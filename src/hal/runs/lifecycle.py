"""One run on disk: train, show, log, checkpoint, evaluate; and go on where it was stopped."""

import json
import math
import shlex
import time
from contextlib import AbstractContextManager, closing
from dataclasses import asdict, dataclass
from datetime import datetime
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from hal.agent.networks.learning import device_of
from hal.checks import check_whole_number
from hal.config.file import load_config, save_config
from hal.config.settings import Config, with_values
from hal.envs.external.find import is_external
from hal.errors import (
    ContractError,
    DamagedError,
    DivergedError,
    FailedError,
    StoppedError,
    how_to_go_on,
)
from hal.files import file_name, locked, write_text
from hal.runs.checkpoint import (
    check_checkpoints,
    forget_checkpoints,
    load_newest,
    save_agent,
    save_checkpoint,
)
from hal.runs.display import Display, say, success_line
from hal.runs.evaluation import evaluate
from hal.runs.folder import (
    EVALUATION,
    FAILURE,
    KEEPING,
    LOCK,
    check_plain,
    is_done,
    read_json,
)
from hal.runs.home import Home, LostError
from hal.runs.loggers import make_loggers
from hal.runs.policy import Policy
from hal.runs.signals import Signals, is_stop
from hal.runs.training import Training
from hal.runs.trust import check_consent, note_own

MOST_EPISODES = 100_000  # they are all played at once
LONGEST = 2**53  # seconds, as a floating-point number has them


@dataclass(frozen=True)
class Keeping:
    """How a run is kept and judged; nothing here changes what it learns."""

    num_episodes: int = 200  # of the final evaluation
    checkpoint_seconds: float = 60.0  # CPU time between two checkpoints
    use_wandb: bool = False
    use_processes: bool = False  # one for each lane of an environment that is not native

    def __post_init__(self) -> None:
        check_whole_number("episodes", self.num_episodes, 1, MOST_EPISODES)
        seconds = self.checkpoint_seconds
        is_number = isinstance(seconds, int | float) and not isinstance(seconds, bool)
        if not is_number or not (0 <= seconds <= LONGEST or seconds == math.inf):
            raise ValueError(f"checkpoint-seconds {seconds!r}; legal: from 0")
        for name in ("use_wandb", "use_processes"):  # they may be a file's
            if not isinstance(getattr(self, name), bool):
                raise ValueError(f"{name} {getattr(self, name)!r}; legal: true or false")
        if self.use_wandb and find_spec("wandb") is None:
            raise ValueError('--wandb needs Weights & Biases: pip install "hal-rl[wandb]"')


def new_folder(config: Config) -> Path:
    """Return where a run goes if nobody says where."""
    now = datetime.now().strftime("%Y%m%d-%H%M%S")
    folder = Path("runs") / f"{file_name(config.task)}-{config.method}-{config.seed}-{now}"
    return folder if not folder.exists() else folder.with_name(f"{folder.name}-{time.time_ns()}")


def run_training(config: Config, folder: Path, keeping: Keeping) -> dict[str, Any]:
    """Train and evaluate in a new folder; return the evaluation."""
    device_of(config.device)
    place = folder.absolute()  # environments may change the folder that they are in
    if folder.exists():
        raise ValueError(f"{folder} exists already; take another one, or {how_to_go_on(folder)}")
    training = _new_training(config, keeping)
    if is_external(config.task):  # its milestones may change; what the agent learned does not
        config = with_values(config, {"environment.milestones": training.env.milestones})
    try:
        place.mkdir(parents=True)
        prepare_run(config, place, keeping)
    except BaseException:
        training.env.close()
        raise
    with _alone(place):
        return _go_on(training, Home(place, folder), keeping)


def _new_training(config: Config, keeping: Keeping) -> Training:
    """Make what is trained; it may be more than the machine can hold."""
    try:
        return Training(config, use_processes=keeping.use_processes)
    except RuntimeError as error:  # torch has no other word for it
        if "allocate memory" not in str(error):
            raise
        raise FailedError(f"not enough memory: {str(error).splitlines()[0]}") from error


def prepare_run(config: Config, folder: Path, keeping: Keeping) -> None:
    """Make a run's folder, for `resume_training` to begin there."""
    folder.mkdir(parents=True, exist_ok=True)
    write_text(folder / KEEPING, json.dumps(asdict(keeping)) + "\n")
    note_own(folder, config.task)
    save_config(config, folder)  # the last: what has a config is a run


def resume_training(
    folder: Path,
    patience: float = 1.0,
    env: str | None = None,
    trust: bool = False,
    **changes: Any,
) -> dict[str, Any]:
    """Go on with a run from its newest whole checkpoint, or from its start; see it through.

    It is kept and judged as it was to be, but for what `changes` says of its `Keeping`. Another
    process that is at it has so many seconds to let go. For `env` and `trust`, see `load`.
    """
    place = folder.absolute()  # environments may change the folder that they are in
    config = load_config(folder)
    check_plain(folder)
    check_consent(config.task, folder, env, trust)
    device_of(config.device)
    with _alone(place, patience):
        if is_done(place):
            forget_checkpoints(place)
            raise ValueError(f"{folder} is done; see it with: hal eval {shlex.quote(str(folder))}")
        keeping = Keeping(**{**_read_keeping(place), **changes})
        check_checkpoints(place, folder)
        training = _new_training(config, keeping)
        try:
            load_newest(training, place)
        except BaseException:
            training.env.close()
            raise
        (place / FAILURE).unlink(missing_ok=True)
        return _go_on(training, Home(place, folder), keeping)


def _read_keeping(folder: Path) -> dict[str, Any]:
    try:
        values: dict[str, Any] = read_json(folder / KEEPING)
        Keeping(**values)
    except DamagedError:
        raise
    except (OSError, ValueError, TypeError) as error:
        raise DamagedError(f"{folder / KEEPING} is damaged: {error}") from error
    return values


def _alone(folder: Path, patience: float = 1.0) -> AbstractContextManager[None]:
    """Keep other processes off a run."""
    return locked(folder / LOCK, f"{folder} is being trained by another process", patience)


def _go_on(training: Training, home: Home, keeping: Keeping) -> dict[str, Any]:
    """Train to the end, then evaluate; whatever happens, the run can go on."""
    with Signals() as signals, closing(home):
        try:
            with closing(training.env):
                _train(training, home, keeping, signals)
                signals.is_patient = False
                if signals.noticed is not None:
                    raise KeyboardInterrupt
                return _finish(training, home, keeping)
        except DivergedError as error:  # the same again, if it went on
            _note_failure(home.path, str(error))
            raise FailedError(str(error)) from error
        except LostError as error:
            raise FailedError(_rescued(training, home, keeping)) from error
        except (OSError, ContractError) as error:
            _note_failure(home.path, str(error))
            raise FailedError(f"{error}; {how_to_go_on(home.name)}") from error
        except BaseException as error:
            if is_stop(error):
                raise StoppedError(home.name, training.agent.num_steps, signals.code) from None
            _note_failure(home.path, repr(error))
            raise


def _rescued(training: Training, home: Home, keeping: Keeping) -> str:
    """Keep what is left of a run whose folder is not there any more; return what has become of it.

    It is in memory as it was after its last step.
    """
    moved = home.new_path()
    if moved is not None:
        save_checkpoint(training, moved)
        return f"{home.name} was moved to {moved} while it was trained; {how_to_go_on(moved)}"
    what = f"{home.name} was removed while it was trained"
    if home.path.exists() and not home.is_there():
        return f"{what}, and something else is there; nothing is kept"
    prepare_run(training.config, home.path, keeping)
    save_checkpoint(training, home.path)
    return f"{what}; all but its metrics is there again, {how_to_go_on(home.name)}"


def _train(training: Training, home: Home, keeping: Keeping, signals: Signals) -> None:
    """Train to the end; a checkpoint is left there, or where somebody stopped it."""
    agent, folder = training.agent, home.path
    loggers = make_loggers(folder, training.config, agent.num_steps, keeping.use_wandb)
    next_checkpoint = training.cpu_seconds + keeping.checkpoint_seconds
    start = time.process_time() - training.cpu_seconds
    try:
        with Display(training.config, agent.milestones, home.name, agent.num_steps) as display:
            while not training.is_done:
                training.step()
                metrics = training.report()
                if metrics is not None:
                    home.check()
                    display.warn(agent.num_steps, agent.has_collected)
                    others = time.process_time() - start - training.cpu_seconds
                    for logger in loggers:
                        logger.write({**metrics, "keeping_seconds": round(others, 3)})
                display.show(agent.num_steps, metrics)
                is_stopped = signals.noticed is not None
                if is_stopped or training.is_done or training.cpu_seconds >= next_checkpoint:
                    home.check()
                    for logger in loggers:
                        logger.sync()
                    save_checkpoint(training, folder)
                    next_checkpoint = training.cpu_seconds + keeping.checkpoint_seconds
                if is_stopped:
                    raise KeyboardInterrupt
    finally:
        for logger in loggers:
            logger.close()


def _finish(training: Training, home: Home, keeping: Keeping) -> dict[str, Any]:
    """Keep the agent, evaluate it, and let go of what was only there to go on."""
    save_agent(training.agent, home.path)
    say(f"evaluating {keeping.num_episodes} episodes")
    result = evaluate_policy(Policy(training.agent), keeping.num_episodes)
    home.check()
    write_text(home.path / EVALUATION, json.dumps(result, indent=2) + "\n")
    forget_checkpoints(home.path)
    say(f"{success_line(result)}; see {home.name}")
    return result


def _note_failure(folder: Path, reason: str) -> None:
    try:
        write_text(folder / FAILURE, reason + "\n")
    except OSError:
        return  # the folder is what failed


def evaluate_policy(policy: Policy, num_episodes: int) -> dict[str, Any]:
    """Return what a run was and how its agent does, greedily and in fresh episodes."""
    check_whole_number("episodes", num_episodes, 1, MOST_EPISODES)
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
