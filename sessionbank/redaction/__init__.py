"""Secrets, addresses and names of people in texts: found, and replaced by placeholders. Texts only: trajectories,
pages and pictures are other rooms' work, which ask here.
"""

from __future__ import annotations

from sessionbank.redaction.views import are_views_redacted, redact_views, shown, shown_all

__all__ = ["are_views_redacted", "redact_views", "shown", "shown_all"]
