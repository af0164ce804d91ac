"""Where bytes come from: git repositories, bundles, folders; and what Entire's layouts and metadata look like.

No transcript is understood here (that is `transcripts`) and no table made (`tables`).
"""
