"""The parts of the sample bank: what happened (stories), how it is written (writers), where it is stored, what is true.

Holds nothing itself. It imports nothing from the package under test: its truth must not depend on the code it checks.
"""
