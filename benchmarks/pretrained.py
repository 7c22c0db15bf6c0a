"""Train the two small agents that come with the package: `make pretrained`."""

import json
from pathlib import Path
from typing import Any

import torch

from hal.config.file import CONFIG
from hal.config.presets import make_config
from hal.files import write_text
from hal.runs.checkpoint import PRETRAINED, load, load_weights, save_weights
from hal.runs.folder import EVALUATION
from hal.runs.lifecycle import Keeping, evaluate_policy, run_training

# As narrow as each task allows: with all layers of 64, iron is learned much later.
SMALL: dict[str, dict[str, Any]] = {
    "treasure": {"width": 64, "meta_width": 64, "context_width": 64},
    "iron": {"context_width": 64},
}


def pack(run: Path, folder: Path) -> None:
    """Copy a run's agent with weights of 16 bits, and evaluate what is left of it."""
    folder.mkdir(parents=True, exist_ok=True)
    tensors = {
        name: tensor.to(torch.float16) if tensor.is_floating_point() else tensor
        for name, tensor in load_weights(run).items()
    }
    save_weights(tensors, folder)
    write_text(folder / CONFIG, (run / CONFIG).read_text())
    result = evaluate_policy(load(folder), num_episodes=200)
    write_text(folder / EVALUATION, json.dumps(result, indent=2) + "\n")


def main() -> None:
    """Train, unless the run is there, and pack."""
    for task, small in SMALL.items():
        run = Path("runs") / f"pretrained-{task}"
        if not run.exists():
            run_training(make_config(task, **small), run, Keeping())
        pack(run, PRETRAINED / task)


if __name__ == "__main__":
    main()
