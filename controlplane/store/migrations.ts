/**
 * Forward only: a migration that was released is never changed; each runs once, in order, in a transaction.
 */
export const sqliteMigrations: readonly string[] = [
  `
  CREATE TABLE runs (
    seq            INTEGER PRIMARY KEY AUTOINCREMENT,
    run            TEXT NOT NULL UNIQUE,
    template       TEXT NOT NULL,
    request_sha256 TEXT NOT NULL,
    limits         TEXT NOT NULL,
    missing_output TEXT NOT NULL,
    created_at     TEXT NOT NULL
  );
  CREATE TABLE steps (
    run            TEXT NOT NULL REFERENCES runs (run) ON DELETE CASCADE,
    step           TEXT NOT NULL,
    attempt        INTEGER NOT NULL,
    request_sha256 TEXT NOT NULL,
    depends_on     TEXT NOT NULL,
    outputs        TEXT NOT NULL,
    deadline       TEXT NOT NULL,
    stamped_at     TEXT NOT NULL,
    instance       TEXT,
    accepted_at    TEXT,
    sha256         TEXT,
    receipt        TEXT,
    manifest       TEXT,
    PRIMARY KEY (run, step, attempt)
  );
  CREATE TABLE contents (
    sha256 TEXT PRIMARY KEY,
    bytes  BLOB NOT NULL
  );
  CREATE TABLE variables (
    run     TEXT NOT NULL REFERENCES runs (run) ON DELETE CASCADE,
    step    TEXT NOT NULL,
    attempt INTEGER NOT NULL,
    key     TEXT NOT NULL,
    size    INTEGER NOT NULL,
    sha256  TEXT NOT NULL REFERENCES contents (sha256),
    set_at  TEXT NOT NULL,
    PRIMARY KEY (run, step, attempt, key)
  ) WITHOUT ROWID;
  CREATE TABLE events (
    run  TEXT NOT NULL REFERENCES runs (run) ON DELETE CASCADE,
    seq  INTEGER NOT NULL,
    at   TEXT NOT NULL,
    type TEXT NOT NULL,
    data TEXT NOT NULL,
    PRIMARY KEY (run, seq)
  ) WITHOUT ROWID;
  `,
];
