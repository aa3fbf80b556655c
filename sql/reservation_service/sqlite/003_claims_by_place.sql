-- House and seat as one number: the seats of a sale, which go in order, are then appended to SQLite's table. By two
-- columns it was a tree in which they were moved about, three pages at a time.
CREATE TABLE claims_by_place (
    place      INTEGER PRIMARY KEY, -- house_id * 2^20 + seat_id
    house_id   INTEGER AS (place >> 20),
    seat_id    INTEGER AS (place & 0xfffff),
    user_id    TEXT    NOT NULL,
    user_name  TEXT,
    phone      TEXT,
    claimed_at INTEGER NOT NULL,
    sequence   INTEGER NOT NULL
);
INSERT INTO claims_by_place (place, user_id, user_name, phone, claimed_at, sequence)
    SELECT (house_id << 20) + seat_id, user_id, user_name, phone, claimed_at, sequence
    FROM claims ORDER BY house_id, seat_id;
DROP TABLE claims;
ALTER TABLE claims_by_place RENAME TO claims;
-- The user first: nearly always that alone tells two rows apart.
CREATE UNIQUE INDEX claims_user ON claims (user_id, house_id);
