"""Networks on made-up data: bags, counts, targets, and where tensors are made."""

from typing import Any

import numpy as np
import pytest
import torch
from torch import nn

from hal.agent.build import background_of, make_agent
from hal.agent.networks.bags import bag_sum
from hal.agent.networks.embedding import BagEncoder, GoalQ
from hal.agent.networks.heads import dueling
from hal.agent.networks.learning import Target
from hal.config.presets import make_config
from hal.config.settings import NetworkSettings
from hal.envs.grid.vector import GridVectorEnv
from tests.parts import TINY, grid_parts

CPU = torch.device("cpu")
ENCODER = BagEncoder(grid_parts((3, 3), num_codes=4, num_counts=2), background=np.array([1]))


def random_obs(rng: np.random.Generator, size: int) -> tuple[np.ndarray, np.ndarray]:
    return rng.integers(4, size=(size, 3, 3)).astype(np.uint8), rng.integers(9, size=(size, 2))


def test_bags_sum_and_differentiate_like_dense_layers() -> None:
    image, counts = random_obs(np.random.default_rng(0), 6)
    table = torch.randn(36, 5, requires_grad=True)
    fast = bag_sum(table, ENCODER({"image": image, "inventory": counts}, CPU))
    one_hot = nn.functional.one_hot(torch.from_numpy(image.reshape(6, 9)).long(), 4).float()
    one_hot[:, :, 1] = 0
    dense = one_hot.flatten(1) @ table
    torch.testing.assert_close(fast, dense)
    weights = torch.randn_like(fast)
    (mine,) = torch.autograd.grad((fast * weights).sum(), table)
    (other,) = torch.autograd.grad((dense * weights).sum(), table)
    torch.testing.assert_close(mine, other)


@pytest.mark.parametrize("ways", [1, 3])
def test_a_goal_weighs_codes_alike_in_all_places_in_several_ways(ways: int) -> None:
    image, counts = random_obs(np.random.default_rng(1), 4)
    encoder = BagEncoder(ENCODER.layout.parts, ENCODER.background, ways)
    network = GoalQ(encoder, hidden_size=5, num_goals=2, num_actions=3)
    network.mix = nn.Sequential()
    assert network.counts is not None
    with torch.no_grad():
        for left_out in (network.cells, network.goals, network.counts.weight, network.counts.bias):
            left_out.zero_()
    goals = torch.tensor([0, 1, 1, 0])
    found = network(encoder({"image": image, "inventory": counts}, CPU), goals)
    interest = network.interest.view(2, ways, 4).clone()
    interest[:, :, 1] = 0  # the background
    places = network.places.view(ways, 9, 5)
    one_hot = nn.functional.one_hot(torch.from_numpy(image.reshape(4, 9)).long(), 4).float()
    weighed = torch.einsum("bpc,bwc->bwp", one_hot, interest[goals])
    hidden = torch.einsum("bwp,wph->bh", weighed, places)
    torch.testing.assert_close(found, dueling(network.out(hidden + network.goal_bias[goals])))


def test_counts_are_read_as_thermometers() -> None:
    counts = ENCODER(
        {"image": np.zeros((1, 3, 3), np.uint8), "inventory": np.array([[3, 9]])}, CPU
    ).counts
    assert counts.tolist() == [[1, 1, 1, 0, 0, 1, 1, 1, 1, 1]]


@pytest.mark.parametrize("update_every", [1, 4])
def test_target_moves_by_its_rate_when_it_is_time(update_every: int) -> None:
    network = nn.Linear(2, 3)
    # In environment steps: at every update, and at every third.
    often = NetworkSettings(target_rate=0.25, target_every=1)
    seldom = NetworkSettings(target_rate=1.0, target_every=3 * update_every)
    soft, hard = Target(network, often, update_every), Target(network, seldom, update_every)
    with torch.no_grad():
        network.bias.add_(1.0)
    soft.follow(network)
    torch.testing.assert_close(dict(soft.network.named_parameters())["bias"], network.bias - 0.75)
    for is_moved in (False, False, True, True):
        hard.follow(network)
        bias = dict(hard.network.named_parameters())["bias"]
        assert torch.equal(bias, network.bias) == is_moved
    assert not any(parameter.requires_grad for parameter in soft.network.parameters())


class Unplaced(torch.Tensor):
    """A tensor that has not been brought to its device: nothing else can be done with it."""

    @classmethod
    def __torch_function__(
        cls, func: Any, types: Any, args: Any = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        assert func is torch.Tensor.to, f"{func} before the tensor was brought to its device"
        placed = super().__torch_function__(func, types, args, kwargs)  # type: ignore[no-untyped-call]
        return placed.as_subclass(torch.Tensor)


@pytest.mark.parametrize("method", ["hal", "rainbow"])
@pytest.mark.parametrize("torso", ["embedding", "convolution"])
def test_no_tensor_is_made_on_a_fixed_device(
    monkeypatch: pytest.MonkeyPatch, method: str, torso: str
) -> None:
    """What is made without a device is on one where nothing can be computed."""
    config = make_config("stick", method, **{**TINY, "torso": torso, "prioritised": True})
    env = GridVectorEnv(num_envs=16, task="stick", max_steps=40)
    obs, info = env.reset(seed=0)
    agent = make_agent(config, env, background_of(env, obs))
    from_numpy = torch.from_numpy
    monkeypatch.setattr(torch, "from_numpy", lambda array: from_numpy(array).as_subclass(Unplaced))
    monkeypatch.setattr(agent, "num_successes", 1, raising=False)
    torch.set_default_device("meta")
    try:
        for _ in range(60):
            obs, reward, terminated, truncated, info = env.step(agent.act(obs, info))
            agent.observe(obs, reward, terminated, truncated, info)
            agent.update()
    finally:
        torch.set_default_device(None)
    trained = agent.tally.take()
    assert {"loss/controller"} <= set(trained)
    assert method == "rainbow" or {"loss/meta", "loss/classifier", "loss/contrast"} <= set(trained)
