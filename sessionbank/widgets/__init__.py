"""Widgets for a notebook: how people look at sessions, and label them. Each module is one widget."""
