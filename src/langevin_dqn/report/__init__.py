"""The report: verdicts on claims, pictures, a page and a text."""
