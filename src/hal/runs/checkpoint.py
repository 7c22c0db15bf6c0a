"""What is kept of a run: its agent's weights, and checkpoints to go on from.

Weights are safetensors, arrays npz without pickled objects, the rest JSON: loading
never executes anything. A file is written all or nothing; a checkpoint, a folder of files with
their checksums, likewise.
"""

import hashlib
import json
import shutil
import sys
import zipfile
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from pathlib import Path

import numpy as np
import torch
from safetensors import SafetensorError
from safetensors.torch import load as load_tensors
from safetensors.torch import save
from torch import Tensor

import hal
from hal.agent.build import make_agent
from hal.agent.hal import HierarchicalAgent
from hal.agent.protocol import Agent
from hal.agent.task import JUDGED_BY
from hal.checks import printable
from hal.config.file import CONFIG, load_config
from hal.config.settings import Config
from hal.errors import DamagedError
from hal.files import all_or_nothing, flush, read_bytes, write_text
from hal.runs.display import say
from hal.runs.folder import CHECKPOINTS, METRICS, NEWEST, WEIGHTS, read_json
from hal.runs.lanes import make_lanes
from hal.runs.policy import Policy
from hal.runs.snapshot import Parts, gather, restore
from hal.runs.training import Training
from hal.runs.trust import check_consent

TENSORS, ARRAYS, VALUES, SUMS = "tensors.safetensors", "arrays.npz", "values.json", "sums.json"
PRETRAINED = Path(hal.__file__).parent / "pretrained"  # runs' folders, by task
SUM = "sha256"  # of all other weights
NUM_KEPT = 2  # checkpoints
ROOT = "run"  # what the names in a checkpoint begin with


def save_agent(agent: Agent, folder: Path) -> None:
    """Write an agent's weights."""
    save_weights(agent.weights(), folder)


def save_weights(tensors: dict[str, Tensor], folder: Path) -> None:
    """Write weights with their checksum among them."""
    packed = _packed({**tensors, SUM: _checksum(tensors)})
    with all_or_nothing(folder / WEIGHTS) as part:
        part.write_bytes(packed)


def load_weights(folder: Path) -> dict[str, Tensor]:
    """Read weights, or say what is wrong with them."""
    path = folder / WEIGHTS
    if not path.is_file():
        raise ValueError(f"{folder} has no {WEIGHTS}: the run is not finished")
    try:
        tensors = load_tensors(read_bytes(path))
        is_whole = tensors.pop(SUM).equal(_checksum(tensors))
    except (SafetensorError, OSError, KeyError, RuntimeError) as error:
        raise DamagedError(f"{path} is damaged: {error}") from error
    if not is_whole:
        raise DamagedError(f"{path} is damaged: its checksum is wrong")
    return tensors


def _checksum(tensors: dict[str, Tensor]) -> Tensor:
    digest = hashlib.sha256(_packed(tensors)).digest()
    return torch.frombuffer(bytearray(digest), dtype=torch.uint8)


def load(folder: Path | str, *, env: str | None = None, trust: bool = False) -> Policy:
    """Return a run's trained agent, to act, to be asked what it believes, and to be evaluated.

    An agent of an environment `module:function` imports that. Unless this user has trained the run,
    they have to agree: by its name as `env`, or by `trust` in whatever the folder names.
    """
    return Policy(load_agent(Path(folder), env, trust))


def load_pretrained(task: str) -> Policy:
    """Return an agent that comes with the package."""
    names = sorted(path.name for path in PRETRAINED.iterdir() if path.is_dir())
    if task not in names:
        raise ValueError(f"there is no pretrained agent for {task!r}; legal: {', '.join(names)}")
    return load(PRETRAINED / task)


def load_by_name(name: str, env: str | None = None, trust: bool = False) -> Policy:
    """Return the agent of a run's folder, or the one that comes with the package for a task."""
    is_task = not Path(name).exists() and (PRETRAINED / name / CONFIG).is_file()
    return load_pretrained(name) if is_task else load(name, env=env, trust=trust)


def load_agent(folder: Path, env: str | None = None, trust: bool = False) -> Agent:
    """Return a run's agent; it has no experience to learn from."""
    config = load_config(folder)
    check_consent(config.task, folder, env, trust)
    if config.device == "cuda":  # whoever trained it had one; acting takes any
        config = replace(config, device="auto")
    return agent_from_weights(config, folder)


def agent_from_weights(config: Config, folder: Path) -> Agent:
    """Return an agent of a config with the weights in a folder."""
    tensors = load_weights(folder)
    try:
        agent = _new_agent(config, tensors["background"].reshape(-1).numpy())
        agent.load_weights(tensors)
    except ValueError:
        raise
    except Exception as error:  # whatever it is that they do not fit in
        reason = _reason_of(error)
        raise DamagedError(f"{folder / WEIGHTS} does not fit its {CONFIG}: {reason}") from error
    return agent


def agent_from_checkpoint(config: Config, path: Path) -> Agent:
    """Return an agent as a checkpoint has it: its networks and examples, but no other experience.

    The config may have other lanes and less memory than the run's own.
    """
    with _whole(path) as parts:
        agent = _new_agent(config, parts.arrays[f"{ROOT}.background"])
        owner = f"{ROOT}.agent"
        restore(agent.controller, f"{owner}.controller", parts)
        if isinstance(agent, HierarchicalAgent):
            restore(agent.meta.learner, f"{owner}.meta.learner", parts)
            agent.replay.events.counts[:] = parts.arrays[f"{owner}.replay.events.counts"]
            if agent.affordances is not None:
                restore(agent.affordances, f"{owner}.affordances", parts)
            if agent.task is not None:
                restore(agent.task.controller, f"{owner}.task.controller", parts)
                for name in JUDGED_BY:
                    getattr(agent.task, name)[:] = parts.arrays[f"{owner}.task.{name}"]
        agent.num_steps = int(parts.values[f"{owner}.num_steps"])
    return agent


def _new_agent(config: Config, background: np.ndarray) -> Agent:
    with closing(make_lanes(config, 1)) as lanes:
        return make_agent(config, lanes, background)


def save_checkpoint(training: Training, folder: Path) -> None:
    """Write all of a run's state as its newest checkpoint, then forget all but the last two."""
    path = folder / CHECKPOINTS / f"step-{training.agent.num_steps:012d}"
    if path.exists():  # it is the same: nothing but steps changes a run
        return
    part = path.with_name(path.name + ".part")
    for left in path.parent.glob("*.part"):
        shutil.rmtree(left, ignore_errors=True)
    try:
        part.mkdir(parents=True)
        parts = Parts()
        gather(training, ROOT, parts)
        (part / TENSORS).write_bytes(_packed(parts.tensors))
        np.savez(part / ARRAYS, **parts.arrays)  # type: ignore[arg-type]  # its names are free
        (part / VALUES).write_text(json.dumps(parts.values), encoding="utf-8")
        sums = {name: _digest(part / name) for name in (TENSORS, ARRAYS, VALUES)}
        (part / SUMS).write_text(json.dumps(sums), encoding="utf-8")
        for name in (*sums, SUMS, "."):
            flush(part / name)
        part.rename(path)
        flush(path.parent)
    except BaseException:
        shutil.rmtree(part, ignore_errors=True)
        raise
    write_text(folder / NEWEST, path.name + "\n")
    for old in checkpoints_of(folder)[NUM_KEPT:]:
        shutil.rmtree(old, ignore_errors=True)


def forget_checkpoints(folder: Path) -> None:
    """Remove what is only there to go on."""
    (folder / NEWEST).unlink(missing_ok=True)
    shutil.rmtree(folder / CHECKPOINTS, ignore_errors=True)


def checkpoints_of(folder: Path) -> list[Path]:
    """Return a run's checkpoints, the newest first."""
    paths = (folder / CHECKPOINTS).glob("step-*")
    return sorted((path for path in paths if path.suffix != ".part"), reverse=True)


def load_checkpoint(training: Training, path: Path) -> None:
    """Set all of a new run's state; DamagedError says what is wrong with the checkpoint."""
    with _whole(path) as parts:
        training.take_background(parts.arrays[f"{ROOT}.background"])
        restore(training, ROOT, parts)


@contextmanager
def _whole(path: Path) -> Iterator[Parts]:
    """Yield the parts of a checkpoint; DamagedError where they are not what was written."""
    try:
        sums = read_json(path / SUMS)
        for name in (TENSORS, ARRAYS, VALUES):
            if _digest(path / name) != sums[name]:
                raise DamagedError(f"{path} is damaged: the checksum of {name} is wrong")
        values = read_json(path / VALUES)
        tensors = load_tensors(read_bytes(path / TENSORS))
        with np.load(path / ARRAYS) as arrays:
            yield Parts(tensors, arrays, values)
    except DamagedError:
        raise
    except (OSError, SafetensorError, zipfile.BadZipFile, EOFError) as error:
        raise DamagedError(f"{path} is damaged: {error}") from error
    except Exception as error:  # whatever it is that they do not fit in
        reason = _reason_of(error)
        raise DamagedError(f"{path} is damaged or of another version: {reason}") from error


def check_checkpoints(place: Path, name: Path) -> None:
    """Refuse to begin again over what a run has done, should somebody have lost its checkpoints."""
    if checkpoints_of(place):
        return
    if (place / NEWEST).is_file():
        newest = printable(read_bytes(place / NEWEST).decode(errors="replace").strip())
        what = f"{name} has lost its checkpoints, the last was {newest}"
        raise ValueError(f"{what}; put them back into {name / CHECKPOINTS}, or begin a new run")
    if (place / METRICS).is_file():
        say(f"{name} was stopped before its first checkpoint: it begins again")


def load_newest(training: Training, folder: Path) -> None:
    """Load the newest whole checkpoint; damaged ones are told and given up."""
    paths = checkpoints_of(folder)
    for number, path in enumerate(paths, start=1):
        try:
            load_checkpoint(training, path)
        except DamagedError as error:
            rest = "trying the one before" if number < len(paths) else "there is no other one"
            print(f"hal: {printable(str(error))}; {rest}", file=sys.stderr)
        else:
            training.begin_anew()
            for damaged in paths[: number - 1]:
                shutil.rmtree(damaged, ignore_errors=True)
            return
    if paths:
        raise ValueError(f"{folder} has no whole checkpoint; start anew with `hal train`")


def _reason_of(error: Exception) -> str:
    return (str(error).splitlines() or [repr(error)])[0]


def _packed(tensors: dict[str, Tensor]) -> bytes:
    return save({name: tensor.contiguous().cpu() for name, tensor in tensors.items()})


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
