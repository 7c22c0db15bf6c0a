"""What is read off a torso: values of subtasks, contexts and affordances."""

from torch import Tensor, nn

from hal.agent.networks.encoder import Encoder, Features
from hal.config.settings import AffordanceSettings


def dueling(out: Tensor) -> Tensor:
    """Join a value and advantages (batch, 1 + n) to values (batch, n)."""
    value, advantage = out[:, :1], out[:, 1:]
    return value + advantage - advantage.mean(dim=1, keepdim=True)


class DuelingValues(nn.Module):
    """Values of n choices, (batch, n)."""

    def __init__(self, encoder: Encoder, width: int, num_choices: int) -> None:
        super().__init__()
        self.torso = encoder.torso(width)
        self.out = nn.Linear(width, 1 + num_choices)

    def forward(self, features: Features) -> Tensor:
        """Return values (batch, choices)."""
        return dueling(self.out(self.torso(features)))


class Context(nn.Module):
    """The context embedding z_psi(s) and the affordance classifier f_phi (Sect. 6)."""

    def __init__(self, settings: AffordanceSettings, encoder: Encoder, num_milestones: int) -> None:
        super().__init__()
        width, scale = settings.hidden_size, settings.count_scale
        self.torso = encoder.torso(width, scale)
        self.embed = nn.Linear(width, settings.context_size)
        self.reads_context = settings.classify_context
        self.tunes_context = settings.tune_context
        # Without the context as its input, the classifier has a body of its own.
        self.raw = None if self.reads_context else encoder.torso(width, scale)
        inputs = settings.context_size if self.reads_context else width
        self.classify = nn.Linear(inputs, num_milestones)

    def forward(self, features: Features) -> Tensor:
        """Return contexts (batch, size)."""
        context: Tensor = self.embed(self.torso(features))
        return context

    def logits(self, features: Features, contexts: Tensor) -> Tensor:
        """Return the classifier's outputs (batch, K) for states and their contexts."""
        if self.raw is not None:
            inputs = self.raw(features)
        else:
            inputs = contexts if self.tunes_context else contexts.detach()
        logits: Tensor = self.classify(inputs)
        return logits
