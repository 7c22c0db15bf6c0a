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

    cells: Tensor  # (features,) which cell
    codes: Tensor  # (features,) which code it has
    rows: Tensor  # (features,) the row of that pair in a table of all pairs
    owners: Tensor  # (features,) which observation it is of
    offsets: Tensor  # (batch,) where each observation's features begin
    counts: Tensor  # (batch, counts) thermometer codes of the counts


@numba.njit(cache=True, fastmath=True)
def _add_rows(grad: np.ndarray, rows: np.ndarray, owners: np.ndarray, out: np.ndarray) -> None:
    for f in range(rows.size):
        row, mine = out[rows[f]], grad[owners[f]]  # slices, or the loop below is not vectorised
        for k in range(mine.size):
            row[k] += mine[k]


@numba.njit(cache=True, fastmath=True)
def _add_weighted_rows(
    grad: np.ndarray,
    cells: np.ndarray,
    codes: np.ndarray,
    owners: np.ndarray,
    goals: np.ndarray,
    places: np.ndarray,
    interest: np.ndarray,
    out_places: np.ndarray,
    out_interest: np.ndarray,
) -> None:
    for f in range(cells.size):
        goal, code = goals[owners[f]], codes[f]
        mine, place, row = grad[owners[f]], places[cells[f]], out_places[cells[f]]
        weight, product = interest[goal, code], np.float32(0.0)
        for k in range(mine.size):
            row[k] += weight * mine[k]
            product += place[k] * mine[k]
        out_interest[goal, code] += product


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


class _GoalBagSum(torch.autograd.Function):
    """See `goal_bag_sum`."""

    @staticmethod
    def forward(ctx: Any, places: Tensor, interest: Tensor, bag: Bag, goals: Tensor) -> Tensor:
        """Sum."""
        ctx.bag = bag
        ctx.save_for_backward(places, interest, goals)
        weights = interest[goals[bag.owners], bag.codes]
        return F.embedding_bag(
            bag.cells, places, bag.offsets, mode="sum", per_sample_weights=weights
        )

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor, Tensor, None, None]:
        """Add gradients to the places and the interest."""
        bag: Bag = ctx.bag
        places, interest, goals = ctx.saved_tensors
        out_places, out_interest = torch.zeros_like(places), torch.zeros_like(interest)
        if grad.is_cpu:
            _add_weighted_rows(
                grad.numpy(),
                bag.cells.numpy(),
                bag.codes.numpy(),
                bag.owners.numpy(),
                goals.numpy(),
                places.detach().numpy(),
                interest.detach().numpy(),
                out_places.numpy(),
                out_interest.numpy(),
            )
        else:
            mine, at = grad[bag.owners], (goals[bag.owners], bag.codes)
            out_places.index_add_(0, bag.cells, mine * interest[at][:, None])
            out_interest.index_put_(at, (mine * places[bag.cells]).sum(dim=1), accumulate=True)
        return out_places, out_interest, None, None


def bag_sum(table: Tensor, bag: Bag) -> Tensor:
    """Sum the rows of a table (pairs, width) that each observation has: (batch, width)."""
    total: Tensor = _BagSum.apply(table, bag)  # type: ignore[no-untyped-call]
    return total


def goal_bag_sum(places: Tensor, interest: Tensor, bag: Bag, goals: Tensor) -> Tensor:
    """Sum the places (cells, width) of what each observation's goal has an interest in.

    `interest` is (goals, codes): a cell counts as much as the goal cares for the code it has.
    """
    total: Tensor = _GoalBagSum.apply(  # type: ignore[no-untyped-call]
        places, interest, bag, goals
    )
    return total
