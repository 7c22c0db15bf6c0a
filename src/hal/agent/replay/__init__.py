"""What is remembered: steps, whole options, examples of affordances.

`observe` writes, `update` draws; priorities decide what is drawn where they are asked for. Only the
agent's own modules use it.
"""
