"""Attackers: what a stranger's files, a hasty hand or a failing machine may bring.

Each module has `attack(count, seed)`, which returns a line for every answer that is not legal.
"""
