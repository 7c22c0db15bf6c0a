"""The meta-controller: values of subtasks, learned from whole options."""

import numpy as np
import torch

from hal.agent.losses import q_loss
from hal.agent.networks import DuelingValues, Encoder, descend, target_of, update_target
from hal.agent.replay import NONE, MetaReplay, Obs
from hal.config import Config


class MetaController:
    """Q(s, g) with its replay. An option is stored when the state it led to has been judged.

    A lane's option begins (`begin`), ends (`end`), and is stored with the mask of the state it led
    to (`store`). A success tells the whole episode's options the return that was had.
    """

    def __init__(
        self,
        config: Config,
        encoder: Encoder,
        num_milestones: int,
        rng: np.random.Generator,
        device: torch.device,
    ) -> None:
        self.config = config
        self.encoder = encoder
        self.device = device
        self.num_milestones = num_milestones
        self.network = DuelingValues(encoder, config.meta_width, num_milestones).to(device)
        self.target = target_of(self.network)
        self.optimizer = torch.optim.Adam(
            self.network.parameters(), lr=config.meta_learning_rate, fused=True
        )
        self.replay = MetaReplay(config.meta_replay, encoder, num_milestones)
        lanes = config.num_lanes
        self.first_image = np.zeros((lanes, *encoder.view), dtype=np.uint8)
        self.first_inventory = np.zeros((lanes, encoder.num_counts), dtype=np.int16)
        self.reward = np.zeros(lanes)  # of the present option so far
        self.ended = np.full(lanes, NONE)  # the subtask of an option that is to be stored
        self.episode_options: list[list[int]] = [[] for _ in range(lanes)]
        self._rng = rng

    @torch.no_grad()
    def values(self, image: np.ndarray, inventory: np.ndarray) -> np.ndarray:
        """Return Q(s, g), (batch, K)."""
        bag = self.encoder(image, inventory, self.device)
        return self.network(bag).cpu().numpy()

    def begin(self, lanes: np.ndarray, obs: Obs) -> None:
        """Note where options begin."""
        self.first_image[lanes] = obs["image"][lanes]
        self.first_inventory[lanes] = obs["inventory"][lanes]
        self.reward[lanes] = 0.0

    def end(self, lanes: np.ndarray, subtasks: np.ndarray, collected: np.ndarray) -> None:
        """Note what ended options pursued; what they collected counts as that, in hindsight."""
        is_final = collected == self.num_milestones - 1
        counts = (collected != NONE) if self.config.meta_hindsight else is_final
        self.ended[lanes] = np.where(counts, collected, subtasks)

    def store(
        self, lanes: np.ndarray, obs: Obs, mask: np.ndarray, has_future: np.ndarray | bool = True
    ) -> None:
        """Store the ended options of these lanes, with the mask of the states they led to."""
        is_ended = self.ended[lanes] != NONE
        future = np.broadcast_to(has_future, lanes.shape)[is_ended]
        lanes, mask = lanes[is_ended], mask[is_ended]
        if lanes.size == 0:
            return
        at = self.replay.add(
            image=self.first_image[lanes],
            inventory=self.first_inventory[lanes],
            next_image=obs["image"][lanes],
            next_inventory=obs["inventory"][lanes],
            next_mask=mask,
            subtask=self.ended[lanes],
            reward=self.reward[lanes],
            discount=self.config.meta_discount * future,
        )
        for lane, place in zip(lanes, at, strict=True):
            self.episode_options[lane].append(int(place))
        self.ended[lanes] = NONE

    def finish_episode(self, lane: int, is_success: bool) -> None:
        """Forget the episode; a success first bounds its options' values from below."""
        future = 0.0
        if is_success:
            for at in reversed(self.episode_options[lane]):
                future = float(self.replay.reward[at]) + self.config.meta_discount * future
                self.replay.lower_bound[at] = future
        self.episode_options[lane].clear()

    def update(self) -> dict[str, float]:
        """Train on a batch of options; the future is looked for within the mask."""
        replay = self.replay
        at = self._rng.integers(len(replay), size=self.config.meta_batch)
        bag = self.encoder(replay.image[at], replay.inventory[at], self.device)
        next_bag = self.encoder(replay.next_image[at], replay.next_inventory[at], self.device)

        def tensor(values: np.ndarray) -> torch.Tensor:
            return torch.from_numpy(values[at]).to(self.device)

        with torch.no_grad():
            online = self.network(next_bag).masked_fill(~tensor(replay.next_mask), -torch.inf)
            best = online.argmax(dim=1, keepdim=True)
            ahead = self.target(next_bag).gather(1, best)[:, 0]
            bootstrapped = tensor(replay.reward) + tensor(replay.discount) * ahead
            returns = torch.maximum(bootstrapped, tensor(replay.lower_bound))
        chosen = self.network(bag).gather(1, tensor(replay.subtask)[:, None])[:, 0]
        loss = q_loss(chosen, returns)
        norm = descend(loss, self.network, self.optimizer, self.config.clip)
        update_target(self.target, self.network, self.config.target_rate)
        return {"loss/meta": loss.item(), "gradient/meta": norm}
