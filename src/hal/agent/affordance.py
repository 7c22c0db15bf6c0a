"""Which subtasks are possible: context, classifier, filter of false negatives, mask.

Options label states (`add`), `update` trains on them, `afforded` tells what is left.
"""

import numpy as np
import torch
from torch import Tensor

from hal.agent.examples import Examples
from hal.agent.losses import classifier_loss, nearest_distances, tolerance_bound, triplet_loss
from hal.agent.networks import Context, Encoder, Learner
from hal.agent.replay import NONE, Replay
from hal.config import Config
from hal.log import Tally
from hal.observations import Obs, pick

LATELY = 1000  # options of a milestone


class Affordances:
    """Learns f(s), the affordances of K milestones, from what options achieved and did not."""

    KEPT = (
        "positives",
        "negatives",
        "learner",
        "is_trained",
        "margins",
        "populations",
        "has_population",
        "success_rate",
        "has_truth",
        "_rng",
    )

    def __init__(
        self,
        config: Config,
        encoder: Encoder,
        milestones: tuple[str, ...],
        rng: np.random.Generator,
        device: torch.device,
    ) -> None:
        self.config = config
        self.milestones = milestones
        num_milestones = len(milestones)
        self.encoder = encoder
        self.device = device
        self.positives = Examples(config.examples, encoder, num_milestones)
        self.negatives = Examples(config.examples, encoder, num_milestones)
        self.context = Context(config, encoder, num_milestones).to(device)
        self.learner = Learner(self.context, config, config.context_learning_rate)
        self.is_trained = np.zeros(num_milestones, dtype=np.bool_)  # heads; others do not prune
        self.margins = np.zeros(num_milestones)
        size = (num_milestones, config.knn_n, config.context_size)
        self.populations = torch.zeros(size, device=device)  # contexts of known positives
        self.has_population = np.zeros(num_milestones, dtype=np.bool_)
        self.success_rate = np.full(num_milestones, 0.5)  # of options, lately
        self.has_truth = False  # whether the environment tells what is afforded
        self._rng = rng

    def add(
        self,
        replay: Replay,
        lanes: np.ndarray,
        starts: np.ndarray,
        subtasks: np.ndarray,
        collected: np.ndarray,
    ) -> None:
        """Label the states of options that end now: positive for what they collected.

        An option that did not get what it intended is negative for that.
        """
        surprise = (collected == subtasks) - self.success_rate[subtasks]
        np.add.at(self.success_rate, subtasks, surprise / LATELY)
        parities = self._rng.integers(2, size=lanes.size)
        for examples, where, milestones in (
            (self.positives, collected != NONE, collected),
            (self.negatives, collected != subtasks, subtasks),
        ):
            examples.add_options(
                replay, lanes[where], starts[where], milestones[where], parities[where]
            )

    @torch.no_grad()
    def probabilities(self, obs: Obs) -> np.ndarray:
        """Return f(s), (batch, K)."""
        features = self.encoder(obs, self.device)
        logits = self.context.logits(features, self.context(features))
        return torch.sigmoid(logits).cpu().numpy()

    def afforded(self, obs: Obs) -> np.ndarray:
        """Return which subtasks are held to be possible, (batch, K) bool."""
        afforded = (self.probabilities(obs) > self.config.aff_threshold) | ~self.is_trained
        if self.config.prune_unachieved:
            afforded &= self.positives.counts > 0
        return afforded

    def update(self, replay: Replay, num_steps: int, tally: Tally) -> None:
        """Train the context by contrast and the classifier on examples, once."""
        losses = []
        if self.config.use_contrast:
            losses += self._contrast(replay, tally)
        # A head without both kinds of examples cannot be trained.
        has_both = (self.positives.counts > 0) & (self.negatives.counts > 0)
        heads = np.flatnonzero(has_both)
        if heads.size:
            losses.append(self._classify(heads, tally))
        if not losses:
            return
        tally.add("gradient/context", self.learner.descend(torch.stack(losses).sum(), num_steps))
        self.is_trained[heads] = True

    @torch.no_grad()
    def refresh_filter(self, tally: Tally) -> None:
        """Draw populations and, from other options, reference positives; set each head's bound."""
        config = self.config
        for head in np.flatnonzero(self.positives.counts):
            parity = self.positives.parity[head, : self.positives.sizes[head]]
            sides = [np.flatnonzero(parity == side) for side in (0, 1)]
            self.has_population[head] = min(side.size for side in sides) > 0
            if not self.has_population[head]:
                continue
            population, reference = (
                self._contexts_of(int(head), self._rng.choice(side, config.knn_n)) for side in sides
            )
            distances = nearest_distances(reference, population, config.knn_k).cpu().numpy()
            self.margins[head] = tolerance_bound(distances, config.fnf_perc, config.fnf_conf)
            self.populations[head] = population
            margin = self.margins[[head]]
            tally.add_columns("filter/margin", np.array([head]), margin, self.milestones)

    def _contexts_of(self, head: int, at: np.ndarray) -> Tensor:
        contexts: Tensor = self.context(
            self.encoder(pick(self.positives.obs, head, at), self.device)
        )
        return contexts

    def _contrast(self, replay: Replay, tally: Tally) -> list[Tensor]:
        """Return the contrastive loss, or nothing while there is but one segment to draw from."""
        config = self.config
        anchors, positives, negatives = replay.draw_triplets(
            config.triplets, config.sigma, config.num_negatives, config.same_lane_share
        )
        if len(anchors) == 0:
            return []
        rows, lanes = np.concatenate([anchors, positives, negatives.reshape(-1, 2)]).T
        features = self.encoder(pick(replay.obs, rows, lanes), self.device)
        anchor, positive, negative = self.context(features).split(
            [len(anchors), len(anchors), len(anchors) * config.num_negatives]
        )
        negative = negative.unflatten(0, (len(anchors), config.num_negatives))
        loss = triplet_loss(anchor, positive, negative, config.triplet_margin)
        tally.add("loss/contrast", loss.item())
        return [loss]

    def _classify(self, heads: np.ndarray, tally: Tally) -> Tensor:
        """Return the classifier's loss: half positives, half negatives that pass the filter."""
        half = self.config.classifier_batch // 2
        head = np.repeat(heads, half)
        positives = self.positives.draw(head, self._rng)
        negatives = self.negatives.draw(head, self._rng)
        obs = {
            name: np.concatenate([values, negatives.obs[name]])
            for name, values in positives.obs.items()
        }
        features = self.encoder(obs, self.device)
        contexts = self.context(features)
        is_flagged = np.zeros(head.size, dtype=np.bool_)
        if self.config.use_filter:
            is_flagged = self._is_false_negative(heads, half, contexts[head.size :].detach())
        self._tally_filter(tally, head, is_flagged, negatives.truth)
        columns = torch.from_numpy(np.tile(head, 2)).to(self.device)
        logits = self.context.logits(features, contexts).gather(1, columns[:, None])[:, 0]
        labels = (torch.arange(2 * head.size, device=self.device) < head.size).float()
        weights = np.concatenate([np.ones(head.size), self._failure_weight(head) * ~is_flagged])
        weight = torch.from_numpy(weights.astype(np.float32)).to(self.device)
        loss = classifier_loss(logits, labels, weight)
        tally.add("loss/classifier", loss.item())
        return loss

    def _failure_weight(self, head: np.ndarray) -> np.ndarray:
        """Return how much negatives count: the failures for each success lately, at most 1.

        Where most options succeed, most failures are bad luck: as heavy as the successes, they
        would have half of the states pruned in which both happen.
        """
        if not self.config.weigh_failures:
            return np.ones(head.size)
        rate = self.success_rate[head]
        return np.minimum((1 - rate) / rate, 1.0)

    def _is_false_negative(self, heads: np.ndarray, half: int, contexts: Tensor) -> np.ndarray:
        """Tell which negatives, `half` per head in order, are closer to positives than bound."""
        is_flagged = np.zeros(len(contexts), dtype=np.bool_)
        for i, head in enumerate(heads):
            if self.has_population[head]:
                mine = slice(i * half, (i + 1) * half)
                distances = nearest_distances(
                    contexts[mine], self.populations[head], self.config.knn_k
                )
                is_flagged[mine] = distances.cpu().numpy() < self.margins[head]
        return is_flagged

    def _tally_filter(
        self, tally: Tally, head: np.ndarray, is_flagged: np.ndarray, is_afforded: np.ndarray
    ) -> None:
        """Count what the filter flags and, if the truth is told, its hits and misses."""
        kinds = {}
        if self.config.use_filter:
            kinds["flagged"] = (head, is_flagged)
        if self.has_truth:
            kinds["false_negatives"] = (head, is_afforded)
        if self.config.use_filter and self.has_truth:
            kinds["false_negative_accuracy"] = (head[is_afforded], is_flagged[is_afforded])
            kinds["true_negative_accuracy"] = (head[~is_afforded], ~is_flagged[~is_afforded])
        for kind, (columns, values) in kinds.items():
            tally.add_columns(f"filter/{kind}", columns, values, self.milestones)
