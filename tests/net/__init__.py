"""The safety net under the redesign: what version 78e259d did, and files that it wrote.

`python -m tests.net --help` runs it; README.md says how to read what it finds.
"""
