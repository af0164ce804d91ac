"""The report of a bank: one HTML file with the tables and pictures that a lead would send round.

`facts` gathers the numbers, `pictures` draws them, `sections` and `trust` put them into words and tables, `page` and `look`
make the file. Nothing is counted here that no table gives; nothing is fetched, and no script is in the file.
"""

from sessionbank.report.write import write_report

__all__ = ["write_report"]
