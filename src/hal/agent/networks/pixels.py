"""A small convolutional network for pictures of pixels."""

import torch
from torch import Tensor, nn

from hal.envs.observations import Part

BYTE = 255.0


class PictureTorso(nn.Module):
    """Three convolutions, then a layer: from bytes (batch, c, h, w) to (batch, width)."""

    def __init__(self, picture: Part, width: int) -> None:
        super().__init__()
        sides = list(picture.shape)
        channels = 1 if picture.channel_axis is None else sides.pop(picture.channel_axis)
        self.view = nn.Sequential(
            nn.Conv2d(channels, 16, 8, stride=4),
            nn.ReLU(),
            nn.Conv2d(16, 32, 4, stride=2, padding=1),
            nn.ReLU(),
            nn.Conv2d(32, 32, 3, padding=1),
            nn.ReLU(),
            nn.Flatten(),
        )
        with torch.no_grad():
            num_features = self.view(torch.zeros(1, channels, *sides)).shape[1]
        self.out = nn.Linear(num_features, width)

    def forward(self, pictures: Tensor) -> Tensor:
        """Return (batch, width)."""
        features: Tensor = self.out(self.view(pictures.float() / BYTE))
        return features
