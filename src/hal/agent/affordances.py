"""Which subtasks are possible: context, classifier, mask (the paper's Sect. 6; lines are Alg. 1's).

Options label states (`add`), `update` trains on them, `afforded` tells what is left. `filter.py`
judges which failures were only bad luck.
"""

from functools import partial

import numpy as np
import torch
from torch import Tensor

from hal.agent.filter import FILTERS, tally_filter
from hal.agent.losses import classifier_loss, triplet_loss
from hal.agent.metrics import Tally
from hal.agent.networks.encoder import Encoder
from hal.agent.networks.heads import Context
from hal.agent.networks.learning import Learner
from hal.agent.networks.weights import load_named, named
from hal.agent.options import NONE, EndedOptions
from hal.agent.replay.examples import Examples
from hal.agent.replay.steps import Replay
from hal.agent.replay.triplets import draw_triplets
from hal.agent.schedules import Progress
from hal.config.settings import AffordanceSettings, NetworkSettings
from hal.envs.observations import Obs, pick

LATELY = 1000  # options of a milestone


class Affordances:
    """Learns f(s), the affordances of K milestones, from what options achieved and did not."""

    KEPT = (
        "positives",
        "negatives",
        "learner",
        "is_trained",
        "filter",
        "success_rate",
        "has_truth",
        "_rng",
    )

    def __init__(
        self,
        settings: AffordanceSettings,
        networks: NetworkSettings,
        encoder: Encoder,
        milestones: tuple[str, ...],
        rng: np.random.Generator,
        device: torch.device,
    ) -> None:
        self.settings = settings
        self.milestones = milestones
        num_milestones = len(milestones)
        self.encoder = encoder
        self.device = device
        self.positives = Examples(settings.examples, encoder.layout, num_milestones)
        self.negatives = Examples(settings.examples, encoder.layout, num_milestones)
        self.context = Context(settings, encoder, num_milestones).to(device)
        self.learner = Learner(self.context, networks, settings.learning_rate)
        self.is_trained = np.zeros(num_milestones, dtype=np.bool_)  # heads; others do not prune
        self.filter = FILTERS[settings.filter](settings, milestones, device)
        self.success_rate = np.full(num_milestones, 0.5)  # of options, lately
        self.has_truth = False  # whether the environment tells what is afforded
        self._rng = rng

    def add(self, replay: Replay, ended: EndedOptions, starts: np.ndarray) -> None:
        """Label the states of options that end now: positive for what they collected.

        An option that did not get what it intended is negative for that (Sect. 6, "The false
        negative problem"; Alg. 1, lines 11 and 12).
        """
        lanes, subtasks, collected = ended.lanes, ended.subtask, ended.collected
        is_milestone = subtasks < len(self.milestones)  # not the whole task
        pursued = subtasks[is_milestone]
        surprise = (collected[is_milestone] == pursued) - self.success_rate[pursued]
        np.add.at(self.success_rate, pursued, surprise / LATELY)
        parities = self._rng.integers(2, size=lanes.size)
        for examples, where, milestones in (
            (self.positives, collected != NONE, collected),
            (self.negatives, (collected != subtasks) & is_milestone, subtasks),
        ):
            examples.add_options(
                replay, lanes[where], starts[where], milestones[where], parities[where]
            )

    @torch.no_grad()
    def probabilities(self, obs: Obs) -> np.ndarray:
        """Return f(z(s)), (batch, K) (Alg. 1, line 15)."""
        features = self.encoder(obs, self.device)
        logits = self.context.logits(features, self.context(features))
        return torch.sigmoid(logits).cpu().numpy()

    def afforded(self, obs: Obs) -> np.ndarray:
        """Return which subtasks are held to be possible, (batch, K) bool: f(s) made binary."""
        afforded = (self.probabilities(obs) > self.settings.threshold) | ~self.is_trained
        if self.settings.prune_unachieved:
            afforded &= self.positives.counts > 0
        return afforded

    def update(self, replay: Replay, progress: Progress, tally: Tally) -> None:
        """Train the context by contrast and the classifier on examples, once (lines 40 to 47)."""
        losses = []
        if self.settings.use_contrast:
            losses += self._contrast(replay, tally)
        # A head without both kinds of examples cannot be trained.
        has_both = (self.positives.counts > 0) & (self.negatives.counts > 0)
        heads = np.flatnonzero(has_both)
        if heads.size:
            losses.append(self._classify(heads, tally))
        if not losses:
            return
        tally.add("gradient/context", self.learner.descend(torch.stack(losses).sum(), progress))
        self.is_trained[heads] = True

    @torch.no_grad()
    def refresh_filter(self, tally: Tally) -> None:
        """Let the filter look at the positives as the present context has them (lines 36 to 39)."""
        if self.filter is not None:
            for head in map(int, np.flatnonzero(self.positives.counts)):
                parity = self.positives.parity[head, : self.positives.sizes[head]]
                contexts_of = partial(self._contexts_of, head)
                self.filter.refresh(head, parity, contexts_of, self._rng, tally)

    def _contexts_of(self, head: int, at: np.ndarray) -> Tensor:
        contexts: Tensor = self.context(
            self.encoder(pick(self.positives.obs, head, at), self.device)
        )
        return contexts

    def _contrast(self, replay: Replay, tally: Tally) -> list[Tensor]:
        """Return the contrastive loss L_psi, or nothing while there is but one segment to draw."""
        settings = self.settings
        anchors, positives, negatives = draw_triplets(
            replay,
            settings.triplets,
            settings.sigma,
            settings.num_negatives,
            settings.same_lane_share,
            self._rng,
        )
        if len(anchors) == 0:
            return []
        rows, lanes = np.concatenate([anchors, positives, negatives.reshape(-1, 2)]).T
        features = self.encoder(pick(replay.obs, rows, lanes), self.device)
        anchor, positive, negative = self.context(features).split(
            [len(anchors), len(anchors), len(anchors) * settings.num_negatives]
        )
        negative = negative.unflatten(0, (len(anchors), settings.num_negatives))
        loss = triplet_loss(anchor, positive, negative, settings.triplet_margin)
        tally.add("loss/contrast", loss.item())
        return [loss]

    def _classify(self, heads: np.ndarray, tally: Tally) -> Tensor:
        """Return the classifier's loss: half positives, half negatives that pass the filter."""
        half = self.settings.classifier_batch // 2
        head = np.repeat(heads, half)
        positives = self.positives.draw(head, self._rng)
        negatives = self.negatives.draw(head, self._rng)
        obs = {
            name: np.concatenate([values, negatives.obs[name]])
            for name, values in positives.obs.items()
        }
        features = self.encoder(obs, self.device)
        contexts = self.context(features)
        is_flagged = None
        if self.filter is not None:
            is_flagged = self.filter.is_false(head, contexts[head.size :].detach())
        truth = negatives.truth if self.has_truth else None
        tally_filter(tally, self.milestones, head, is_flagged, truth)
        counts = self._failure_weight(head) * (1.0 if is_flagged is None else ~is_flagged)
        columns = torch.from_numpy(np.tile(head, 2)).to(self.device)
        logits = self.context.logits(features, contexts).gather(1, columns[:, None])[:, 0]
        labels = (torch.arange(2 * head.size, device=self.device) < head.size).float()
        weights = np.concatenate([np.ones(head.size), counts])
        weight = torch.from_numpy(weights.astype(np.float32)).to(self.device)
        loss = classifier_loss(logits, labels, weight)
        tally.add("loss/classifier", loss.item())
        return loss

    def _failure_weight(self, head: np.ndarray) -> np.ndarray:
        """Return how much negatives count: the failures for each success lately, at most 1.

        Where most options succeed, most failures are bad luck: as heavy as the successes, they
        would have half of the states pruned in which both happen.
        """
        if not self.settings.weigh_failures:
            return np.ones(head.size)
        rate = self.success_rate[head]
        return np.minimum((1 - rate) / rate, 1.0)

    def weights(self) -> dict[str, Tensor]:
        """Return everything that the mask needs."""
        return {
            "achieved": torch.from_numpy(self.positives.counts),
            "trained": torch.from_numpy(self.is_trained),
            **named("context", self.context),
        }

    def load_weights(self, tensors: dict[str, Tensor]) -> None:
        """Set what `weights` returned."""
        self.positives.counts[:] = tensors["achieved"].numpy()
        self.is_trained[:] = tensors["trained"].numpy()
        load_named("context", self.context, tensors)
