"""From a config to the lanes of its environment: this package's games, or somebody's own."""

from dataclasses import asdict

from hal.config.settings import Config, grid_settings
from hal.envs.external.find import is_external
from hal.envs.external.lanes import ExternalLanes
from hal.envs.external.vectorising import make_vector
from hal.envs.grid.vector import GridVectorEnv
from hal.envs.lanes import Lanes


def make_lanes(
    config: Config,
    num_envs: int,
    *,
    to_play: bool = False,
    to_play_once: bool = False,
    use_processes: bool = False,
    render_mode: str | None = None,
) -> Lanes:
    """Return the lanes of a config's environment: to train in, or to play the game as it is.

    Where they are `to_play_once`, they need not go on after their first episode.
    """
    to_play = to_play or to_play_once
    if not is_external(config.task):
        return GridVectorEnv(num_envs=num_envs, **asdict(grid_settings(config, to_play)))
    env = config.environment
    lanes = make_vector(
        config.task,
        num_envs,
        env.horizon,
        to_play_once=to_play_once,
        use_processes=use_processes,
        render_mode=render_mode,
    )
    try:
        is_dense = env.reward == "dense" and not to_play
        return ExternalLanes(lanes, config.task, env.milestones, is_dense)
    except BaseException:
        lanes.close()  # it may have processes
        raise
