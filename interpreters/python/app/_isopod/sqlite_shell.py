"""`sqlite3`."""
def main(arguments): raise SystemExit("sqlite3: not yet")
