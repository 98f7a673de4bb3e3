"""Tables of a database of trials."""

from __future__ import annotations

SCHEMA = """
CREATE TABLE IF NOT EXISTS studies (
  id INTEGER PRIMARY KEY, key TEXT NOT NULL UNIQUE, identity TEXT NOT NULL,
  created TEXT NOT NULL DEFAULT CURRENT_TIMESTAMP
);
CREATE TABLE IF NOT EXISTS trials (
  study INTEGER NOT NULL REFERENCES studies(id) ON DELETE CASCADE, number INTEGER NOT NULL,
  config TEXT NOT NULL, invalidity TEXT NOT NULL, message TEXT NOT NULL,
  ratio REAL, low REAL, high REAL, baseline TEXT NOT NULL, candidate TEXT NOT NULL,
  finished TEXT NOT NULL DEFAULT CURRENT_TIMESTAMP, PRIMARY KEY (study, config)
);
CREATE TABLE IF NOT EXISTS claims (
  study INTEGER PRIMARY KEY REFERENCES studies(id) ON DELETE CASCADE, config TEXT NOT NULL,
  verdict TEXT NOT NULL, ratio REAL NOT NULL, low REAL NOT NULL, high REAL NOT NULL,
  noise REAL NOT NULL, races TEXT NOT NULL, finished TEXT NOT NULL DEFAULT CURRENT_TIMESTAMP
);
CREATE TABLE IF NOT EXISTS transfers (
  study INTEGER NOT NULL REFERENCES studies(id) ON DELETE CASCADE, source TEXT NOT NULL,
  layer TEXT NOT NULL, identity TEXT NOT NULL, configs TEXT NOT NULL, trials INTEGER NOT NULL,
  outside INTEGER NOT NULL, PRIMARY KEY (study, source)
);
"""

COLUMNS = {
    "studies": {"id", "key", "identity"},
    "trials": {"study", "number", "config", "invalidity"},
    "claims": {"study", "config", "verdict"},
    "transfers": {"study", "source", "configs"},
    "choices": {"identity", "key", "choice"},
}
"""Columns that identify the tables of this package."""
