"""Sums of embeddings over sparse features, with a backward pass made for a CPU core.

torch sorts the features for every backward pass, which took a third of a run; adding rows up in
order takes a fifth of that.
"""

from typing import Any, NamedTuple

import numba
import numpy as np
import torch
from torch import Tensor
from torch.nn import functional as F  # noqa: N812 (the field's habit)


class Bag(NamedTuple):
    """A batch of observations as sparse features: which cells have which codes."""

    codes: Tensor  # (batch, cells) the code of every cell
    rows: Tensor  # (features,) a cell and its code: their row in a table of all pairs
    owners: Tensor  # (features,) which observation it is of
    offsets: Tensor  # (batch,) where each observation's features begin
    counts: Tensor  # (batch, counts) thermometer codes of the counts, and the numbers
    pixels: Tensor  # (batch, c, h, w) bytes, or empty


@numba.njit(cache=True, fastmath=True)
def _add_rows(grad: np.ndarray, rows: np.ndarray, owners: np.ndarray, out: np.ndarray) -> None:
    for f in range(rows.size):
        row, mine = out[rows[f]], grad[owners[f]]  # slices, or the loop below is not vectorised
        for k in range(mine.size):
            row[k] += mine[k]


class _BagSum(torch.autograd.Function):
    """See `bag_sum`."""

    @staticmethod
    def forward(ctx: Any, table: Tensor, bag: Bag) -> Tensor:
        """Sum."""
        ctx.bag, ctx.shape = bag, table.shape
        return F.embedding_bag(bag.rows, table, bag.offsets, mode="sum")

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor, None]:
        """Add each observation's gradient to its rows."""
        bag: Bag = ctx.bag
        out = grad.new_zeros(ctx.shape)
        if grad.is_cpu:
            _add_rows(grad.numpy(), bag.rows.numpy(), bag.owners.numpy(), out.numpy())
        else:
            out.index_add_(0, bag.rows, grad[bag.owners])
        return out, None


def bag_sum(table: Tensor, bag: Bag) -> Tensor:
    """Sum the rows of a table (pairs, width) that each observation has: (batch, width)."""
    if not len(table):
        return table.new_zeros(len(bag.offsets), table.shape[1])
    total: Tensor = _BagSum.apply(table, bag)  # type: ignore[no-untyped-call]
    return total
