"""Records as frames: sessions as unions of their snapshots, rows as Arrow tables, the cache, and the counting rules.

Bytes are read in `sources` and understood in `transcripts`; the front door is `bank`.
"""
