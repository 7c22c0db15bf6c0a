"""Where a run's metrics go: a file of JSON lines, TensorBoard, and Weights & Biases if asked."""

import json
import time
from dataclasses import asdict
from pathlib import Path
from typing import Any

from tensorboard.compat.proto.event_pb2 import Event, SessionLog
from tensorboard.compat.proto.summary_pb2 import Summary
from tensorboard.summary.writer.event_file_writer import EventFileWriter

from hal.checkpoint import write_text
from hal.config import Config
from hal.log import METRICS, read_metrics


class Sinks:
    """Takes metrics; of a run that goes on, only those up to its checkpoint stay."""

    def __init__(self, folder: Path, config: Config, num_steps: int, use_wandb: bool) -> None:
        kept = [line for line in read_metrics(folder) if line["steps"] <= num_steps]
        write_text(folder / METRICS, "".join(json.dumps(line) + "\n" for line in kept))
        self._file = (folder / METRICS).open("a", encoding="utf-8")
        self._events = EventFileWriter(str(folder / "tensorboard"))
        if num_steps:  # TensorBoard forgets what came later
            start = SessionLog(status=SessionLog.START)
            self._events.add_event(
                Event(wall_time=time.time(), step=num_steps + 1, session_log=start)
            )
        self._wandb = _begin_wandb(folder, config) if use_wandb else None

    def write(self, metrics: dict[str, Any]) -> None:
        """Take one line of metrics."""
        self._file.write(json.dumps(metrics) + "\n")
        self._file.flush()
        values = [Summary.Value(tag=name, simple_value=value) for name, value in metrics.items()]
        self._events.add_event(
            Event(wall_time=time.time(), step=metrics["steps"], summary=Summary(value=values))
        )
        if self._wandb is not None:
            self._wandb.log(metrics, step=metrics["steps"])

    def close(self) -> None:
        """Bring everything to where it goes."""
        self._file.close()
        self._events.close()
        if self._wandb is not None:
            self._wandb.finish()


def _begin_wandb(folder: Path, config: Config) -> Any:
    import wandb  # noqa: PLC0415 (optional, and slow to import)

    return wandb.init(
        project="hal",
        name=folder.name,
        id=folder.name,
        resume="allow",
        dir=folder,
        config=asdict(config),
    )
