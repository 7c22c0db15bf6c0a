"""The paper's experiments: suite -> engines -> results -> figures, claims, report.

It trains many runs by `runs`, on this machine or on Ray, and says what they show. Commands use it.
"""
