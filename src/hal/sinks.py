"""Where a run's metrics go: a file of JSON lines, TensorBoard, and Weights & Biases if asked."""

import hashlib
import json
import os
import time
from dataclasses import asdict
from pathlib import Path
from typing import Any

from tensorboard.compat.proto.event_pb2 import Event, SessionLog
from tensorboard.compat.proto.summary_pb2 import Summary
from tensorboard.summary.writer.record_writer import RecordWriter

from hal.config import Config
from hal.files import file_name, write_text
from hal.log import METRICS, read_metrics


class Sinks:
    """Takes metrics; of a run that goes on, only those up to its checkpoint stay."""

    def __init__(self, folder: Path, config: Config, num_steps: int, use_wandb: bool) -> None:
        self._wandb = _begin_wandb(folder, config) if use_wandb else None
        kept = [line for line in read_metrics(folder) if line["steps"] <= num_steps]
        write_text(folder / METRICS, "".join(json.dumps(line) + "\n" for line in kept))
        self._file = (folder / METRICS).open("a", encoding="utf-8")
        self._events = _new_events(folder / "tensorboard", num_steps)

    def write(self, metrics: dict[str, Any]) -> None:
        """Take one line of metrics."""
        self._file.write(json.dumps(metrics) + "\n")
        self._file.flush()
        values = [Summary.Value(tag=name, simple_value=value) for name, value in metrics.items()]
        summary = Summary(value=values)
        event = Event(wall_time=time.time(), step=metrics["steps"], summary=summary)
        self._events.write(event.SerializeToString())
        self._events.flush()
        if self._wandb is not None:
            self._wandb.log(metrics, step=metrics["steps"])

    def sync(self) -> None:
        """Bring the lines to the disk: a checkpoint that says they are there is to come."""
        os.fsync(self._file.fileno())

    def close(self) -> None:
        """Bring everything to where it goes."""
        self._file.close()
        self._events.close()
        if self._wandb is not None:
            self._wandb.finish()


def _new_events(folder: Path, num_steps: int) -> RecordWriter:
    """Begin a file of TensorBoard's; what earlier ones have beyond these steps is forgotten."""
    folder.mkdir(exist_ok=True)
    is_first = not any(folder.iterdir())
    records = RecordWriter((folder / f"events.out.tfevents.{time.time_ns()}").open("wb"))
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
            config=asdict(config),
        )
    except wandb.errors.Error as error:
        raise ValueError(f"--wandb: {str(error).splitlines()[0]}") from error
