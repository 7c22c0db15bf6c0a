"""The paper's experiments: `hal reproduce`."""
