-- A house is the seats of one schedule. Every change of its seats raises the version, under this row's lock,
-- and draws its sequence numbers here, so seats are handed out in the order of the sequence.
CREATE TABLE houses (
    id         INTEGER PRIMARY KEY,
    schedule   TEXT    NOT NULL,
    title      TEXT    NOT NULL,
    title_ko   TEXT    NOT NULL,
    venue      TEXT    NOT NULL,
    venue_ko   TEXT    NOT NULL,
    starts_at  INTEGER,
    seats      INTEGER NOT NULL CONSTRAINT houses_seats_check CHECK (seats >= 0),
    generation INTEGER NOT NULL DEFAULT 1,
    version    INTEGER NOT NULL DEFAULT 0,
    sequence   INTEGER NOT NULL DEFAULT 0
);
CREATE UNIQUE INDEX houses_schedule ON houses (schedule);

-- A row is a taken seat. One owner per seat and one seat per user are the database's to keep. That the house exists is
-- known without a reference, which would look it up for each seat: a claim is written under the lock of its row.
CREATE TABLE claims (
    house_id   INTEGER NOT NULL,
    seat_id    INTEGER NOT NULL,
    user_id    TEXT    NOT NULL,
    user_name  TEXT,
    phone      TEXT,
    claimed_at INTEGER NOT NULL,
    sequence   INTEGER NOT NULL,
    PRIMARY KEY (house_id, seat_id)
) WITHOUT ROWID;
-- The user first: nearly always that alone tells two rows apart.
CREATE UNIQUE INDEX claims_user ON claims (user_id, house_id);

-- Every attempt. Those that changed seats have the version that they made.
CREATE TABLE reservation_history (
    id       INTEGER PRIMARY KEY,
    house_id INTEGER NOT NULL,
    version  INTEGER,
    at       INTEGER NOT NULL,
    user_id  TEXT    NOT NULL,
    seat_id  INTEGER,
    outcome  TEXT    NOT NULL,
    sequence INTEGER
);
