"""Makers of test input: real git repositories with checkpoints, and lines of transcripts. No test stands here."""
