"""Pictures of frames: one function a picture, which takes a frame and `ax`, and gives the axes.

What `f` draws, `f_data` gives as a frame, or the frame given holds it as it is. Colours are those of `style`, the same
for the same thing in every picture. `show` and `save` keep the alt text with the picture. matplotlib is imported when
something is drawn.
"""

from sessionbank.plot.attribution import (
    attribution_by_commit,
    attribution_by_commit_data,
    cost_by_commit,
    cost_by_commit_data,
)
from sessionbank.plot.compression import compression_sizes, compression_sizes_data
from sessionbank.plot.context import context_growth, context_growth_data
from sessionbank.plot.playbooks import line_support, line_support_data
from sessionbank.plot.saving import save, show
from sessionbank.plot.style import alt_text, colour, colours
from sessionbank.plot.support import support_matrix, support_matrix_data
from sessionbank.plot.swimlanes import team_timeline, team_timeline_data
from sessionbank.plot.team import (
    compression_frontier,
    handover_matrix,
    member_cost,
    member_cost_data,
    score_profile,
    score_profile_data,
    team_graph,
    team_graph_data,
)
from sessionbank.plot.themes import theme
from sessionbank.plot.timeline import session_timeline, session_timeline_data
from sessionbank.plot.tokens import (
    bridge,
    cost_by_model,
    cost_by_model_data,
    naive_and_true,
    naive_and_true_data,
    reconcile_scopes,
    reconcile_scopes_data,
    tokens_over_time,
    tokens_over_time_data,
)
from sessionbank.plot.tools import (
    messages_by_kind,
    messages_by_kind_data,
    tools_by_status,
    tools_by_status_data,
)

__all__ = [
    "alt_text", "attribution_by_commit", "attribution_by_commit_data", "bridge", "colour", "colours",
    "compression_frontier", "compression_sizes", "compression_sizes_data", "context_growth", "context_growth_data",
    "cost_by_commit", "cost_by_commit_data", "cost_by_model", "cost_by_model_data", "handover_matrix",
    "line_support", "line_support_data", "member_cost", "member_cost_data", "messages_by_kind",
    "messages_by_kind_data", "naive_and_true", "naive_and_true_data", "reconcile_scopes", "reconcile_scopes_data",
    "save", "score_profile", "score_profile_data", "session_timeline", "session_timeline_data", "show",
    "support_matrix", "support_matrix_data", "team_graph", "team_graph_data", "team_timeline", "team_timeline_data",
    "theme", "tokens_over_time", "tokens_over_time_data", "tools_by_status", "tools_by_status_data",
]  # fmt: skip
