"""Episodes to look at: a person, the script or a trained agent at play, on a screen or in a film.

It plays environments and the agents of `runs`, and shows each moment by `pictures`. Commands use
it.
"""
