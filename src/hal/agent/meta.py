"""The meta-controller: values of subtasks, learned from whole options."""

import numpy as np
import torch

from hal.agent.base import EnvFacts
from hal.agent.losses import q_loss
from hal.agent.meta_replay import MetaReplay
from hal.agent.networks import DuelingValues, Encoder, Learner, Target
from hal.agent.priorities import Priorities
from hal.agent.replay import NONE
from hal.config import Config
from hal.observations import Obs, pick


class MetaController:
    """Q(s, g) with its replay. An option is stored when the state it led to has been judged.

    A lane's option begins (`begin`), ends (`end`), and is stored with the mask of the state it led
    to (`store`). A success tells the whole episode's options the return that was had.
    """

    KEPT = (
        "learner",
        "target",
        "replay",
        "first_obs",
        "reward",
        "ended",
        "hindsight",
        "episode_options",
        "_rng",
    )

    def __init__(
        self,
        config: Config,
        encoder: Encoder,
        env: EnvFacts,
        rng: np.random.Generator,
        device: torch.device,
    ) -> None:
        self.config = config
        self.encoder = encoder
        self.device = device
        self.final = env.final
        num_milestones = len(env.milestones)
        network = DuelingValues(encoder, config.meta_width, num_milestones).to(device)
        self.learner = Learner(network, config, config.meta_learning_rate)
        every = max(config.target_every // config.meta_every, 1)
        self.target = Target(network, config.target_rate, every)
        priorities = Priorities(config.meta_replay, config.alpha) if config.prioritised else None
        self.replay = MetaReplay(config.meta_replay, encoder, num_milestones, priorities)
        lanes = config.num_lanes
        self.first_obs = encoder.blank(lanes)  # where the present option began
        self.reward = np.zeros(lanes)  # of the present option so far
        self.ended = np.full(lanes, NONE)  # the subtask of an option that is to be stored
        self.hindsight = np.full(lanes, NONE)  # what that option collected instead
        # Of each lane's episode so far: every option's reward, and the numbers of its copies.
        self.episode_options: list[list[tuple[float, list[int]]]] = [[] for _ in range(lanes)]
        self._rng = rng

    @torch.no_grad()
    def values(self, obs: Obs) -> np.ndarray:
        """Return Q(s, g), (batch, K)."""
        features = self.encoder(obs, self.device)
        values: np.ndarray = self.learner.network(features).cpu().numpy()
        return values

    def begin(self, lanes: np.ndarray, obs: Obs) -> None:
        """Note where options begin."""
        for name, values in obs.items():
            self.first_obs[name][lanes] = values[lanes]
        self.reward[lanes] = 0.0

    def end(self, lanes: np.ndarray, subtasks: np.ndarray, collected: np.ndarray) -> None:
        """Note what ended options pursued and, in hindsight, what else they might have."""
        is_final = (collected == self.final) & (collected != NONE)
        self.ended[lanes] = np.where(is_final, collected, subtasks)
        if self.config.meta_hindsight:
            self.hindsight[lanes] = np.where(is_final | (collected == subtasks), NONE, collected)

    def store(
        self, lanes: np.ndarray, obs: Obs, mask: np.ndarray, has_future: np.ndarray | bool = True
    ) -> None:
        """Store the ended options of these lanes, with the mask of the states they led to."""
        future = np.broadcast_to(has_future, lanes.shape)
        for lane in lanes[self.ended[lanes] != NONE]:
            self.episode_options[lane].append((float(self.reward[lane]), []))
        self._add(lanes, obs, mask, future, self.ended[lanes])
        self._add(lanes, obs, mask, future, self.hindsight[lanes])
        self.ended[lanes] = self.hindsight[lanes] = NONE

    def _add(
        self,
        lanes: np.ndarray,
        obs: Obs,
        mask: np.ndarray,
        has_future: np.ndarray,
        subtasks: np.ndarray,
    ) -> None:
        is_some = subtasks != NONE
        lanes, mask, future, subtasks = (
            part[is_some] for part in (lanes, mask, has_future, subtasks)
        )
        if lanes.size == 0:
            return
        numbers = self.replay.add(
            pick(self.first_obs, lanes),
            pick(obs, lanes),
            next_mask=mask,
            subtask=subtasks,
            reward=self.reward[lanes],
            discount=self.config.meta_discount * future,
        )
        for lane, number in zip(lanes, numbers, strict=True):
            self.episode_options[lane][-1][1].append(int(number))

    def finish_episode(self, lane: int, is_success: bool) -> None:
        """Forget the episode; a success first bounds its options' values from below."""
        future = 0.0
        if is_success and self.config.use_lower_bound:
            for reward, copies in reversed(self.episode_options[lane]):
                future = reward + self.config.meta_discount * future
                self.replay.bound(copies, future)
        self.episode_options[lane].clear()

    def abandon(self) -> None:
        """Forget the options and episodes that are under way."""
        self.ended[:] = self.hindsight[:] = NONE
        for options in self.episode_options:
            options.clear()

    def update(self, num_steps: int) -> dict[str, float]:
        """Train on a batch of options; the future is looked for within the mask."""
        replay, network = self.replay, self.learner.network
        beta = self.config.beta(num_steps)
        at, weights = replay.draw(self.config.meta_batch, beta, self._rng)
        features = self.encoder(pick(replay.obs, at), self.device)
        following = self.encoder(pick(replay.next_obs, at), self.device)

        def tensor(values: np.ndarray) -> torch.Tensor:
            return torch.from_numpy(values[at]).to(self.device)

        with torch.no_grad():
            online = network(following).masked_fill(~tensor(replay.next_mask), -torch.inf)
            best = online.argmax(dim=1, keepdim=True)
            ahead = self.target.network(following).gather(1, best)[:, 0]
            bootstrapped = tensor(replay.reward) + tensor(replay.discount) * ahead
            returns = torch.maximum(bootstrapped, tensor(replay.lower_bound))
        chosen = network(features).gather(1, tensor(replay.subtask)[:, None])[:, 0]
        loss = q_loss(chosen, returns, torch.from_numpy(weights).to(self.device))
        norm = self.learner.descend(loss, num_steps)
        self.target.follow(network)
        if replay.priorities is not None:
            replay.priorities.update(at, (chosen.detach() - returns).cpu().numpy())
        return {"loss/meta": loss.item(), "gradient/meta": norm}
