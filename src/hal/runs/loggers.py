"""Where a run's metrics go: a file of JSON lines, TensorBoard, and Weights & Biases if asked."""

import hashlib
import json
import os
import time
from pathlib import Path
from typing import Any, Protocol

from tensorboard.compat.proto.event_pb2 import Event, SessionLog
from tensorboard.compat.proto.summary_pb2 import Summary
from tensorboard.summary.writer.record_writer import RecordWriter

from hal.config.settings import Config, values_of
from hal.files import file_name, write_text
from hal.runs.folder import METRICS, TENSORBOARD, read_metrics


class Logger(Protocol):
    """Takes metrics; of a run that goes on, only those up to its checkpoint stay."""

    def write(self, metrics: dict[str, Any]) -> None:
        """Take one line of metrics."""

    def sync(self) -> None:
        """Bring the lines to the disk: a checkpoint that says they are there is to come."""

    def close(self) -> None:
        """Bring everything to where it goes."""


class LineLogger:
    """A file of JSON lines, which `hal plot` reads."""

    def __init__(self, folder: Path, num_steps: int) -> None:
        kept = [line for line in read_metrics(folder) if line["steps"] <= num_steps]
        write_text(folder / METRICS, "".join(json.dumps(line) + "\n" for line in kept))
        self._file = (folder / METRICS).open("a", encoding="utf-8")

    def write(self, metrics: dict[str, Any]) -> None:
        """Take one line of metrics."""
        self._file.write(json.dumps(metrics) + "\n")
        self._file.flush()

    def sync(self) -> None:
        """Bring the lines to the disk."""
        os.fsync(self._file.fileno())

    def close(self) -> None:
        """Close the file."""
        self._file.close()


class TensorBoardLogger:
    """Events of TensorBoard, one for each line."""

    def __init__(self, folder: Path, num_steps: int) -> None:
        self._events = _new_events(folder / TENSORBOARD, num_steps)

    def write(self, metrics: dict[str, Any]) -> None:
        """Take one line of metrics."""
        values = [Summary.Value(tag=name, simple_value=value) for name, value in metrics.items()]
        summary = Summary(value=values)
        event = Event(wall_time=time.time(), step=metrics["steps"], summary=summary)
        self._events.write(event.SerializeToString())
        self._events.flush()

    def sync(self) -> None:
        """Do nothing: nobody resumes from these."""

    def close(self) -> None:
        """Close the file."""
        self._events.close()


class WandbLogger:
    """Weights & Biases."""

    def __init__(self, folder: Path, config: Config) -> None:
        self._run = _begin_wandb(folder, config)

    def write(self, metrics: dict[str, Any]) -> None:
        """Take one line of metrics."""
        self._run.log(metrics, step=metrics["steps"])

    def sync(self) -> None:
        """Do nothing: it has its own ways."""

    def close(self) -> None:
        """Send what is left."""
        self._run.finish()


def make_loggers(folder: Path, config: Config, num_steps: int, use_wandb: bool) -> list[Logger]:
    """Return where the metrics of a run go that has come so far."""
    # The first to be asked for is the one that may refuse.
    others: list[Logger] = [WandbLogger(folder, config)] if use_wandb else []
    return [LineLogger(folder, num_steps), TensorBoardLogger(folder, num_steps), *others]


def _new_events(folder: Path, num_steps: int) -> RecordWriter:
    """Begin a file of TensorBoard's; what earlier ones have beyond these steps is forgotten."""
    folder.mkdir(exist_ok=True)
    is_first = not any(folder.iterdir())
    records = RecordWriter((folder / f"events.out.tfevents.{time.time_ns()}").open("xb"))
    records.write(Event(wall_time=time.time(), file_version="brain.Event:2").SerializeToString())
    if not is_first:
        start = SessionLog(status=SessionLog.START)
        event = Event(wall_time=time.time(), step=num_steps + 1, session_log=start)
        records.write(event.SerializeToString())
    return records


def _begin_wandb(folder: Path, config: Config) -> Any:
    import wandb  # noqa: PLC0415 (optional, and slow to import)

    place = hashlib.sha256(str(folder.resolve()).encode()).hexdigest()[:8]
    try:
        return wandb.init(
            project="hal",
            name=folder.name,
            id=f"{file_name(config.task)}-{config.seed}-{place}",  # the same when the run goes on
            resume="allow",
            dir=folder,
            config=values_of(config),
        )
    except wandb.errors.Error as error:
        raise ValueError(f"--wandb: {str(error).splitlines()[0]}") from error
