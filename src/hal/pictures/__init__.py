"""One moment of an episode as a picture, as text, or in a window.

At the bottom of all rooms: it knows names and arrays, neither rules nor agents, so that an
environment can draw itself. `envs` and `viewer` use it.
"""
