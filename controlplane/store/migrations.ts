type Dialect = "sqlite" | "postgres";

/**
 * Forward only: a migration that was released is never changed; each runs once, in order, in a transaction. Words
 * in capitals with a `$` are what the databases call differently.
 */
const released = [
  `
  CREATE TABLE runs (
    seq            $SERIAL,
    run            $TEXT NOT NULL UNIQUE,
    template       TEXT NOT NULL,
    request_sha256 TEXT NOT NULL,
    limits         TEXT NOT NULL,
    missing_output TEXT NOT NULL,
    created_at     TEXT NOT NULL,
    events         INTEGER NOT NULL DEFAULT 0,
    active_at      TEXT NOT NULL
  );
  CREATE INDEX runs_by_activity ON runs (active_at);
  CREATE TABLE steps (
    run            $TEXT NOT NULL REFERENCES runs (run) ON DELETE CASCADE,
    step           $TEXT NOT NULL,
    attempt        INTEGER NOT NULL,
    seq            INTEGER NOT NULL,
    request_sha256 TEXT NOT NULL,
    depends_on     TEXT NOT NULL,
    outputs        TEXT NOT NULL,
    deadline       TEXT NOT NULL,
    lease_ends_at  TEXT NOT NULL,
    stamped_at     TEXT NOT NULL,
    instance       TEXT,
    ended_at       TEXT,
    status         TEXT,
    cause          TEXT,
    sha256         TEXT,
    receipt        TEXT,
    manifest       TEXT,
    PRIMARY KEY (run, step, attempt)
  );
  CREATE UNIQUE INDEX steps_in_order ON steps (run, seq);
  CREATE INDEX steps_open ON steps (lease_ends_at) WHERE ended_at IS NULL;
  CREATE TABLE contents (
    id     $SERIAL,
    sha256 TEXT NOT NULL UNIQUE,
    bytes  $BYTES NOT NULL
  );
  CREATE TABLE variables (
    run     $TEXT NOT NULL REFERENCES runs (run) ON DELETE CASCADE,
    step    $TEXT NOT NULL,
    attempt INTEGER NOT NULL,
    key     $TEXT NOT NULL,
    size    INTEGER NOT NULL,
    sha256  TEXT NOT NULL,
    content BIGINT NOT NULL REFERENCES contents (id),
    kind    TEXT NOT NULL,
    set_at  TEXT NOT NULL,
    PRIMARY KEY (run, step, attempt, key)
  ) $INKEYORDER;
  CREATE INDEX variables_by_content ON variables (content);
  CREATE TABLE events (
    run  $TEXT NOT NULL REFERENCES runs (run) ON DELETE CASCADE,
    seq  INTEGER NOT NULL,
    at   TEXT NOT NULL,
    type TEXT NOT NULL,
    data TEXT NOT NULL,
    PRIMARY KEY (run, seq)
  ) $INKEYORDER;
  `,
] as const;

const words: Readonly<Record<Dialect, Readonly<Record<string, string>>>> = {
  sqlite: {
    $SERIAL: "INTEGER PRIMARY KEY AUTOINCREMENT",
    $TEXT: "TEXT",
    $BYTES: "BLOB",
    // One tree, and not a second one for the key.
    $INKEYORDER: "WITHOUT ROWID",
  },
  postgres: {
    $SERIAL: "BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY",
    // Order and ranges by bytes, as keys and paths are compared everywhere else.
    $TEXT: 'TEXT COLLATE "C"',
    $BYTES: "BYTEA",
    $INKEYORDER: "",
  },
};

/** Version 1 was before the first release, and no migration leads from it. */
const beforeRelease = 1;
const newest = beforeRelease + released.length;

export const migrations = {
  /** Of a database that has seen all. */
  newest,
  /**
   * Those that a database of that version has not seen; 0 is an empty one. Throws where a newer wfvar made it, or one
   * before the first release.
   */
  after(version: number, dialect: Dialect): string[] {
    if (version > newest) throw new Error("the database was made by a newer version of wfvar");
    if (version === beforeRelease) {
      throw new Error(
        "the database was made before wfvar's first release: choose another data folder, or remove it",
      );
    }
    return released
      .slice(version === 0 ? 0 : version - beforeRelease)
      .map((sql) => sql.replaceAll(/\$[A-Z]+/g, (word) => words[dialect][word] ?? word));
  },
} as const;
