"""A single observation as the page shows it: a view of our games, a picture, or numbers."""

import numpy as np

from hal.envs.observations import Part
from hal.pictures.frame import Frame, to_png
from hal.studio.episode import Episode
from hal.studio.pack import Packed, data_url, letters, rounded

MOST_NUMBERS = 200  # of a part that is shown as it is


def sight_of(obs: dict[str, np.ndarray], episode: Episode) -> Packed:
    """Return what there is to see of one observation, without a batch's axis."""
    if isinstance(episode.records[0].seen.shown, Frame):
        view = obs["image"]
        middle = view.shape[0] // 2
        return {
            "view": letters(view),
            "side": view.shape[0],
            "agent": [middle, middle, 0],
            "items": obs["inventory"].tolist(),
        }
    parts = episode.player.agent.controller.encoder.layout.parts
    return {"parts": [_sight_of_part(obs[part.name], part) for part in parts]}


def _sight_of_part(values: np.ndarray, part: Part) -> Packed:
    if part.kind == "pixels":
        picture = part.channels_last(values[np.newaxis])[0]
        if picture.shape[-1] != 3:
            picture = np.repeat(picture[..., :1], 3, axis=-1)
        return {"name": part.name, "picture": data_url(to_png(np.ascontiguousarray(picture)))}
    shown = values
    if values.ndim == 3:  # of a cell's channels, the first says what it is
        shown = part.channels_last(values[np.newaxis])[0][..., 0]
    if shown.ndim == 2:
        return {"name": part.name, "codes": shown.astype(int).tolist()}
    return {"name": part.name, "numbers": rounded(shown.ravel()[:MOST_NUMBERS].astype(float))}
