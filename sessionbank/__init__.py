"""sessionbank: true tables, trajectories, teams and playbooks from the sessions of coding agents.

The public names, nothing else. Heavy libraries (pandas, pyarrow, matplotlib) are imported when first needed.
"""

from sessionbank.bank import SessionBank, SessionQuery, open_bank
from sessionbank.errors import SessionBankError
from sessionbank.records import Session, SessionRecord
from sessionbank.selection import Selection

__version__ = "0.1.0"

__all__ = ["Selection", "Session", "SessionBank", "SessionBankError", "SessionQuery", "SessionRecord", "open_bank"]
