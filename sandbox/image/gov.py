"""Governed data from inside a sandbox: each call goes through the door with the turn's token, as the gov command does."""

import json
import os
import subprocess
import tempfile


class GovError(Exception):
    """A refusal or a failure, in the words that gov prints."""


def _run(*args):
    done = subprocess.run(["gov", *args], stdin=subprocess.DEVNULL, capture_output=True, text=True)
    if done.returncode != 0:
        raise GovError(done.stderr.strip() or f"gov ended with {done.returncode}")
    return done.stdout


def sql(statement):
    """Run one SELECT and return a pandas DataFrame."""
    import pandas

    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "rows.csv")
        _run("sql", statement, "-o", path)
        return pandas.read_csv(path)


def vin(*vins):
    """Decode VINs and return the answer as Python objects."""
    return json.loads(_run("vin", *vins))


def extraction(document):
    """Return the extracted rows of one document."""
    return json.loads(_run("extraction", document))
