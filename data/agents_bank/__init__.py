"""The invented repository of `make_agents_bank.py`: one code base, many coding agents. Imports nothing of sessionbank."""
