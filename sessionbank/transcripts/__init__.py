"""An agent's bytes as messages, blocks, calls and usage: one module a format, one signature (`rows.Format`).

Which format it is, is told by content (`sniff`). Sessions and tables are put together in `tables`.
"""
