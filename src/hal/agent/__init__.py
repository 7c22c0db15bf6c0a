"""The agents: HAL, its baselines and ablations."""
