"""A convolution that reads codes: what it makes of their one-hot planes, without the planes.

Nearly all of a plane is zeros, and most of a view is background. So a CPU core begins with what a
view of nothing but background has, and adds rows of weights where a cell is something else: a
third of the time that a convolution over planes takes.
"""

from typing import Any

import numba
import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional as F  # noqa: N812 (the field's habit)


@numba.njit(cache=True, fastmath=True)
def _add_cells(
    codes: np.ndarray, background: np.ndarray, table: np.ndarray, empty: np.ndarray, out: np.ndarray
) -> None:
    size = table.shape[0]
    for i in range(codes.shape[0]):
        out[i] = empty
        for y in range(codes.shape[1]):
            for x in range(codes.shape[2]):
                for c in range(codes.shape[3]):
                    code = codes[i, y, x, c]
                    if code == background[c]:
                        continue
                    for dy in range(max(0, y - out.shape[1] + 1), min(size, y + 1)):
                        for dx in range(max(0, x - out.shape[2] + 1), min(size, x + 1)):
                            # Slices, or the loop below is not vectorised.
                            row, mine = out[i, y - dy, x - dx], table[dy, dx, code]
                            usual = table[dy, dx, background[c]]
                            for k in range(row.size):
                                row[k] += mine[k] - usual[k]


@numba.njit(cache=True, fastmath=True)
def _add_gradients(
    codes: np.ndarray, background: np.ndarray, grad: np.ndarray, out: np.ndarray
) -> None:
    """Add up the gradients of all cells' rows of weights, but for the background's."""
    size = out.shape[0]
    for i in range(codes.shape[0]):
        for y in range(codes.shape[1]):
            for x in range(codes.shape[2]):
                for c in range(codes.shape[3]):
                    code = codes[i, y, x, c]
                    if code == background[c]:
                        continue
                    for dy in range(max(0, y - grad.shape[1] + 1), min(size, y + 1)):
                        for dx in range(max(0, x - grad.shape[2] + 1), min(size, x + 1)):
                            row, mine = out[dy, dx, code], grad[i, y - dy, x - dx]
                            for k in range(row.size):
                                row[k] += mine[k]


class _CodeConv(torch.autograd.Function):
    """See `CodeConv`; on a CPU."""

    @staticmethod
    def forward(ctx: Any, weight: Tensor, bias: Tensor, codes: Tensor, layer: "CodeConv") -> Tensor:
        """Add up rows of weights."""
        table = weight.permute(2, 3, 1, 0).contiguous()  # (size, size, codes, width)
        empty = bias + table[:, :, layer.background].sum(dim=(0, 1, 2))
        height, breadth = (side - table.shape[0] + 1 for side in codes.shape[1:3])
        out = weight.new_empty(len(codes), height, breadth, len(bias))
        _add_cells(codes.numpy(), layer.background, table.numpy(), empty.numpy(), out.numpy())
        ctx.codes, ctx.layer, ctx.shape = codes, layer, table.shape
        return out.permute(0, 3, 1, 2)

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor, Tensor, None, None]:
        """Add up gradients; a background's is what the channel's other codes leave of all."""
        layer: CodeConv = ctx.layer
        out = grad.new_zeros(ctx.shape)
        rows = grad.permute(0, 2, 3, 1).contiguous()  # (batch, h, w, width)
        _add_gradients(ctx.codes.numpy(), layer.background, rows.numpy(), out.numpy())
        total = rows.sum(dim=(0, 1, 2))
        for usual, mine in zip(layer.background, layer.channels, strict=True):
            out[:, :, usual] = total - out[:, :, mine].sum(dim=2)
        return out.permute(3, 2, 0, 1).contiguous(), total, None, None


class CodeConv(nn.Conv2d):
    """A convolution over the one-hot planes of a grid's codes, from the codes.

    Its weights are those of a convolution over the planes. Every channel has codes of its own, and
    a background, the code of most of its cells.
    """

    def __init__(
        self, num_codes: np.ndarray, width: int, size: int, background: np.ndarray
    ) -> None:
        super().__init__(int(num_codes.sum()), width, size)
        self.background = background  # (channels,)
        ends = np.cumsum(num_codes)
        self.channels = [slice(end - n, end) for n, end in zip(num_codes, ends, strict=True)]

    def forward(self, codes: Tensor) -> Tensor:
        """Return (batch, width, h, w) of codes (batch, h, w, channels)."""
        if codes.is_cpu:
            out: Tensor = _CodeConv.apply(self.weight, self.bias, codes, self)  # type: ignore[no-untyped-call]
            return out
        return self.of_planes(codes)

    def of_planes(self, codes: Tensor) -> Tensor:
        """Return the same as `forward`, by a convolution over planes."""
        planes = F.one_hot(codes, self.in_channels).sum(dim=3)
        return super().forward(planes.permute(0, 3, 1, 2).float())
