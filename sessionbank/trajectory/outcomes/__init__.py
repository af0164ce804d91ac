"""How a session ended: one module a strategy, what they read with, and how they are compared.

The front is `sessionbank.trajectory.outcome`; nothing is named here.
"""
