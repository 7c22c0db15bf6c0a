"""The meta-controller: values of subtasks, learned from whole options (Sect. 5)."""

import numpy as np
import torch

from hal.agent.losses import q_loss
from hal.agent.networks.encoder import Encoder
from hal.agent.networks.heads import DuelingValues
from hal.agent.networks.learning import Learner, Target
from hal.agent.options import NONE, EndedOptions
from hal.agent.replay.transitions import MetaReplay
from hal.agent.schedules import Progress
from hal.config.settings import MetaSettings, NetworkSettings
from hal.envs.observations import Obs, pick


class MetaController:
    """Q_mc(s, g) with its replay: an option is stored once the state it led to has been judged.

    A success tells the whole episode's options the return that was had.
    """

    KEPT = ("learner", "target", "replay", "episode_options", "_rng")

    def __init__(
        self,
        settings: MetaSettings,
        networks: NetworkSettings,
        encoder: Encoder,
        replay: MetaReplay,
        sizes: tuple[int, int, int],
        rng: np.random.Generator,
        device: torch.device,
    ) -> None:
        self.settings = settings
        self.encoder = encoder
        self.replay = replay
        self.device = device
        num_lanes, self.num_milestones, self.final = sizes
        network = DuelingValues(encoder, settings.hidden_size, self.num_milestones).to(device)
        self.learner = Learner(network, networks, settings.learning_rate)
        self.target = Target(network, networks, settings.every)
        # Of each lane's episode so far: every option's reward, discount, and its copies' numbers.
        self.episode_options: list[list[tuple[float, float, list[int]]]] = [
            [] for _ in range(num_lanes)
        ]
        self._rng = rng

    @torch.no_grad()
    def values(self, obs: Obs) -> np.ndarray:
        """Return Q_mc(s, g), (batch, K) (Alg. 1, line 16)."""
        features = self.encoder(obs, self.device)
        values: np.ndarray = self.learner.network(features).cpu().numpy()
        return values

    def store(
        self,
        ended: EndedOptions,
        obs: Obs,
        next_obs: Obs,
        next_mask: np.ndarray,
        has_future: np.ndarray,
    ) -> None:
        """Store options that led from states to states with these masks.

        As what they pursued and, in hindsight, as what they collected instead (Alg. 1, line 10).
        """
        is_final = (ended.collected == self.final) & (ended.collected != NONE)
        pursued = np.where(is_final, ended.collected, ended.subtask)
        pursued[pursued == self.num_milestones] = NONE  # the whole task, which is not its choice
        instead = np.where(is_final | (ended.collected == ended.subtask), NONE, ended.collected)
        settings = self.settings
        discount = settings.discount * settings.step_discount**ended.steps * has_future
        for lane, reward, rate in zip(ended.lanes, ended.reward, discount, strict=True):
            self.episode_options[lane].append((float(reward), float(rate), []))
        for subtask in (pursued, instead) if self.settings.hindsight else (pursued,):
            at = np.flatnonzero(subtask != NONE)
            if at.size == 0:
                continue
            numbers = self.replay.add(
                pick(obs, at),
                pick(next_obs, at),
                next_mask=next_mask[at],
                subtask=subtask[at],
                reward=ended.reward[at],
                discount=discount[at],
            )
            for lane, number in zip(ended.lanes[at], numbers, strict=True):
                self.episode_options[lane][-1][-1].append(int(number))

    def finish_episode(self, lane: int, is_success: bool) -> None:
        """Forget the episode; a success first bounds its options' values from below."""
        future = 0.0
        if is_success and self.settings.use_lower_bound:
            for reward, discount, copies in reversed(self.episode_options[lane]):
                future = reward + discount * future
                self.replay.bound(copies, future)
        self.episode_options[lane].clear()

    def abandon(self) -> None:
        """Forget the episodes that are under way."""
        for options in self.episode_options:
            options.clear()

    def update(self, progress: Progress, beta: float) -> dict[str, float]:
        """Train on a batch of options (Eq. 1 without a goal)."""
        replay, network = self.replay, self.learner.network
        at, weights = replay.draw(self.settings.batch_size, beta, self._rng)
        features = self.encoder(pick(replay.obs, at), self.device)

        def tensor(values: np.ndarray) -> torch.Tensor:
            return torch.from_numpy(values[at]).to(self.device)

        with torch.no_grad():
            ahead = self._best(pick(replay.next_obs, at), tensor(replay.next_mask))
            bootstrapped = tensor(replay.reward) + tensor(replay.discount) * ahead
            returns = torch.maximum(bootstrapped, tensor(replay.lower_bound))
        chosen = network(features).gather(1, tensor(replay.subtask)[:, None])[:, 0]
        loss = q_loss(chosen, returns, torch.from_numpy(weights).to(self.device))
        norm = self.learner.descend(loss, progress)
        self.target.follow(network)
        if replay.priorities is not None:
            replay.priorities.update(at, (chosen.detach() - returns).cpu().numpy())
        return {"loss/meta": loss.item(), "gradient/meta": norm}

    def _best(self, obs: Obs, mask: torch.Tensor) -> torch.Tensor:
        """Return the target's value of the best subtask, (batch,), which the network picks."""
        features = self.encoder(obs, self.device)
        values = self.learner.network(features)
        if self.settings.mask_target:
            values = values.masked_fill(~mask, -torch.inf)
        best = values.argmax(dim=1, keepdim=True)
        ahead: torch.Tensor = self.target.network(features).gather(1, best)[:, 0]
        return ahead
