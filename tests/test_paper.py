"""The `paper` preset: every value of the paper's Table 3, its networks, its replay."""

from typing import Any

import numpy as np
import pytest
import torch

from hal.agent.controller import Controller
from hal.agent.meta_controller import MetaController
from hal.agent.networks.convolution import HeadsQ, PlaneEncoder
from hal.agent.networks.heads import Context, DuelingValues
from hal.agent.options import NONE
from hal.agent.replay.priorities import Priorities
from hal.agent.replay.steps import Replay
from hal.agent.replay.transitions import MetaReplay
from hal.agent.schedules import Progress, exploration, importance
from hal.config.presets import METHODS, make_config
from hal.config.settings import values_of
from tests.parts import ended_options, grid_parts

CPU = torch.device("cpu")
ENCODER = PlaneEncoder(grid_parts((11, 11), num_codes=5, num_counts=3), background=np.array([0]))

# The table's name, our field, the table's value.
TABLE_3: list[tuple[str, str, Any]] = [
    ("adam_lr, controller", "controller.learning_rate", 0.000625),
    ("adam_lr, meta-controller", "meta.learning_rate", 0.000625),
    ("adam_lr, context and classifier", "affordances.learning_rate", 0.000625),
    ("adam_lr does not decay", "networks.final_rate_share", 1.0),
    ("adam_eps", "networks.adam_eps", 0.00015),
    ("batch_size, controller", "replay.batch_windows", 32),
    ("batch_size, meta-controller", "meta.batch_size", 32),
    ("batch_size, contrastive loss", "affordances.triplets", 32),
    ("batch_size, classifier", "affordances.classifier_batch", 32),
    ("discount", "controller.discount", 0.99),
    ("discount, meta-controller", "meta.discount", 0.99),
    ("discount, flat", "controller.flat_discount", 0.99),
    ("targ_update", "networks.target_every", 1_000),
    ("targ_update copies", "networks.target_rate", 1.0),
    ("exp_steps", "replay.warmup_steps", 400),
    ("eps_c", "exploration.controller_epsilon", (0.5, 0.05)),
    ("eps_mc", "exploration.meta_epsilon", (0.2, 0.05)),
    ("eps_aff", "exploration.mask_epsilon", (0.8, 0.0)),
    ("n_steps", "replay.window", 10),
    ("n_steps, not lambda", "controller.td_lambda", 1.0),
    ("n_steps of the first step", "controller.trained_steps", 1),
    ("max_option_steps", "options.max_steps", 50),
    ("update_freq", "controller.every", 4),
    ("meta_update_freq", "meta.every", 40),
    ("margin_update_freq", "affordances.filter_every", 600),
    ("aff_update_freq and rep_update_freq", "affordances.every", 40),
    ("sigma", "affordances.sigma", 7.0),
    ("knn_n", "affordances.knn_n", 1_000),
    ("knn_k", "affordances.knn_k", 1),
    ("fnf_conf", "affordances.filter_confidence", 0.95),
    ("fnf_perc", "affordances.filter_percentile", 0.9),
]
# What the specification adds to it.
BESIDE_THE_TABLE: list[tuple[str, Any]] = [
    ("environment.num_envs", 4),
    ("exploration.anneal_share", 0.8),
    ("replay.prioritised", True),
    ("replay.alpha", 0.4),
    ("replay.importance", (0.6, 1.0)),
    ("controller.double_q", True),
    ("networks.torso", "convolution"),
    ("controller.hidden_size", 512),
    ("meta.hidden_size", 512),
    ("affordances.hidden_size", 512),
    ("affordances.context_size", 128),
    ("networks.max_grad_norm", 10.0),
    ("networks.weight_decay", 1e-5),
    ("affordances.triplet_margin", 1.0),
    ("affordances.threshold", 0.5),
    ("controller.step_penalty", 0.01),
    ("options.rarity", "none"),
    ("meta.mask_target", False),
    ("affordances.num_negatives", 1),
    ("meta.hindsight", False),
    ("meta.bootstrap_truncation", True),
]


@pytest.mark.parametrize(("name", "field", "value"), TABLE_3)
def test_table_3(name: str, field: str, value: Any) -> None:
    assert values_of(make_config("iron", "hal", "paper"))[field] == value, name


@pytest.mark.parametrize(("field", "value"), BESIDE_THE_TABLE)
def test_beside_the_table(field: str, value: Any) -> None:
    assert values_of(make_config("iron", "hal", "paper"))[field] == value


def test_sigma_is_smaller_where_items_disappear() -> None:
    assert make_config("iron", "hal", "paper", disappear_rate=0.02).affordances.sigma == 2.0
    assert make_config("iron", "hal", disappear_rate=0.02).affordances.sigma == 2.0
    assert make_config("iron", "hal", disappear_rate=0.02, sigma=4.0).affordances.sigma == 4.0


def test_full_episodes_and_schedules() -> None:
    iron, treasure = (make_config(task, "hal", "paper") for task in ("iron", "treasure"))
    assert (iron.environment.horizon, treasure.environment.horizon) == (4320, 3630)
    assert (iron.steps, treasure.steps) == (6_000_000, 4_000_000)
    for share, expected in ((0.0, 0.5), (0.4, 0.275), (0.8, 0.05), (1.0, 0.05)):
        progress = Progress(int(share * iron.steps), iron.steps)
        explore = exploration(iron.exploration, progress, 0 if iron.anneals_by_success else None)
        assert explore.controller == pytest.approx(expected)
        assert explore.mask == pytest.approx(0.8 * (1 - min(share / 0.8, 1)))
        beta = importance(iron.replay.importance, iron.exploration, progress)
        assert beta == pytest.approx(0.6 + 0.4 * min(share / 0.8, 1))


def test_every_method_has_a_paper_config() -> None:
    for method in METHODS:
        config = make_config("treasure", method, "paper")
        assert config.networks.torso == "convolution"
    assert make_config("iron", "hr", "paper").options.rarity == "none"


def test_targets_are_copied_by_environment_steps() -> None:
    """Every 1,000 environment steps: 250 updates of the controller, 25 of the meta-controller."""
    config = make_config("iron", "hal", "paper", meta_replay=100)
    controller = Controller(config.controller, config.networks, ENCODER, (1, 2), 0.9, CPU)
    assert controller.target.every == 250
    replay, rng = MetaReplay(config.meta.capacity, ENCODER.layout, 2), np.random.default_rng(0)
    meta = MetaController(config.meta, config.networks, ENCODER, replay, (4, 2, 1), rng, CPU)
    assert meta.target.every == 25


# --- networks -------------------------------------------------------------------------------


def test_the_papers_networks() -> None:
    """Conv 5x5 x32, conv 3x3 x64, 512; counts 512; both 512; dueling heads; context 128."""
    config = make_config("iron", "hal", "paper")
    shapes = {name: tuple(p.shape) for name, p in HeadsQ(ENCODER, 512, 7, 4).named_parameters()}
    assert shapes["torso.view.0.weight"] == (32, 5, 5, 5)
    assert shapes["torso.view.2.weight"] == (64, 32, 3, 3)
    assert shapes["torso.view.5.weight"] == (512, 64 * 5 * 5)
    assert shapes["torso.counts.0.weight"] == (512, 3)
    assert shapes["torso.join.0.weight"] == (512, 1024)
    assert shapes["out.weight"] == (7 * (1 + 4), 512)
    context = Context(config.affordances, ENCODER, 7)
    assert context.embed.out_features == 128
    assert context.classify.in_features == 128
    assert DuelingValues(ENCODER, 512, 7).out.out_features == 1 + 7


def test_cells_are_codes_and_counts_are_counts() -> None:
    image = np.arange(121).reshape(1, 11, 11).astype(np.uint8) % 5
    codes, counts = ENCODER({"image": image, "inventory": np.array([[0, 9, 2]])}, CPU)
    np.testing.assert_array_equal(codes[..., 0].numpy(), image)
    assert counts.tolist() == [[0.0, 9.0, 2.0]]


def test_each_goal_has_its_own_dueling_head() -> None:
    network = HeadsQ(ENCODER, 16, num_goals=3, num_actions=4)
    with torch.no_grad():
        network.out.weight.zero_()
        network.out.bias.copy_(torch.arange(15.0))
    features = ENCODER(ENCODER.layout.blank(2), CPU)
    values = network(features, torch.tensor([0, 2]))
    # Head g has value 5g and advantages 5g + 1 to 5g + 4, whose mean is 5g + 2.5.
    assert values.tolist() == [[-1.5, -0.5, 0.5, 1.5], [8.5, 9.5, 10.5, 11.5]]


def test_goals_of_one_observation_are_read_off_it_together() -> None:
    network = HeadsQ(ENCODER, 16, num_goals=3, num_actions=4)
    rng = np.random.default_rng(0)
    image, inventory = rng.integers(5, size=(2, 11, 11)), rng.integers(9, size=(2, 3))
    owners, goals = np.array([1, 0, 1]), torch.tensor([0, 2, 2])
    features = ENCODER({"image": image, "inventory": inventory}, CPU)
    repeated = ENCODER({"image": image[owners], "inventory": inventory[owners]}, CPU)
    together = network(features, goals, torch.from_numpy(owners))
    torch.testing.assert_close(together, network(repeated, goals))


# --- prioritised replay ---------------------------------------------------------------------


def test_slots_are_drawn_in_proportion_to_their_priority() -> None:
    rng = np.random.default_rng(0)
    priorities = Priorities(6, exponent=0.5)
    priorities.open(np.arange(5))
    priorities.update(np.array([0, 1, 2, 3]), np.array([1.0, 4.0, 9.0, 16.0]))
    priorities.close(np.array([4]))
    drawn = np.concatenate([priorities.draw(100, 1.0, rng).slots for _ in range(200)])
    shares = np.bincount(drawn, minlength=6) / drawn.size
    np.testing.assert_allclose(shares, [0.1, 0.2, 0.3, 0.4, 0, 0], atol=0.01)


def test_importance_undoes_the_priorities() -> None:
    rng = np.random.default_rng(0)
    priorities = Priorities(4, exponent=1.0)
    priorities.open(np.arange(4))
    priorities.update(np.arange(4), np.array([1.0, 2.0, 3.0, 4.0]))
    slots, weights = priorities.draw(5_000, 1.0, rng)
    total = np.bincount(slots, weights, minlength=4)
    np.testing.assert_allclose(total / total.sum(), 0.25, atol=0.01)
    assert weights.max() == 1.0
    assert (priorities.draw(50, 0.0, rng).weights == 1.0).all()


def test_new_slots_have_the_largest_priority_so_far() -> None:
    priorities = Priorities(3, exponent=1.0)
    priorities.open(np.array([0]))
    priorities.update(np.array([0]), np.array([7.0]))
    priorities.open(np.array([1]))
    assert priorities.tree[priorities.first_leaf + 1] == pytest.approx(7.0)
    assert priorities.tree[1] == pytest.approx(14.0)
    assert priorities.num_open == 2


def prioritised_replay(num_rows: int) -> Replay:
    """Two lanes, capacity 12, windows of 4; lane 1's rows of number 5k only reset."""
    priorities = Priorities(24, exponent=1.0)
    replay = Replay(12, 2, ENCODER.layout, 3, np.random.default_rng(0), priorities, window=4)
    for row in range(num_rows):
        inventory = np.array([[row, lane, 0] for lane in range(2)])
        replay.add(
            {"image": np.zeros((2, 11, 11)), "inventory": inventory},
            milestone=np.full(2, NONE),
            is_valid=np.array([True, row % 5 != 0]),
        )
    return replay


def test_hindsight_makes_rows_news_again() -> None:
    replay = prioritised_replay(11)
    assert replay.priorities is not None
    replay.subtask[:] = 1
    slots = np.arange(2 * 11)
    open_ones = slots[replay.priorities.tree[replay.priorities.first_leaf + slots] > 0]
    replay.priorities.update(open_ones, np.full(open_ones.size, 0.1))
    replay.mark(ended_options([1, 1], [2, 1], steps=7), starts=np.array([4, 4]))
    priority = replay.priorities.tree[replay.priorities.first_leaf + slots].reshape(11, 2)
    # Lane 0's option got another milestone than it pursued; its last rows have no window yet.
    np.testing.assert_allclose(priority[:, 0], [0.1] * 4 + [1.0] * 3 + [0] * 4, atol=1e-5)
    assert priority[:, 1].max() == pytest.approx(0.1, abs=1e-5)


@pytest.mark.parametrize("num_rows", [6, 11, 12, 13, 40])
def test_only_whole_windows_of_valid_rows_are_drawn(num_rows: int) -> None:
    windows = prioritised_replay(num_rows).draw_prioritised(400, beta=1.0)
    rows, lanes = (windows.obs["inventory"][..., i] for i in range(2))
    assert (np.diff(rows, axis=1) == 1).all(), "no window crosses the newest row"
    assert windows.is_valid[:, 0].all()
    eligible = {
        (row, lane)
        for row in range(max(0, num_rows - 12), num_rows - 4)
        for lane in range(2)
        if lane == 0 or row % 5 != 0
    }
    assert set(zip(rows[:, 0].tolist(), lanes[:, 0].tolist(), strict=True)) == eligible
