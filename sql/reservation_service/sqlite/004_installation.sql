-- Which installation this is: all servers on this database, and nobody else. Its keys and channels in Redis begin with
-- it, so that several installations can share one Redis.
CREATE TABLE installation (
    only_row INTEGER NOT NULL PRIMARY KEY CONSTRAINT installation_only_row CHECK (only_row = 1),
    id       TEXT    NOT NULL
);
INSERT INTO installation (only_row, id) VALUES (1, lower(hex(randomblob(8))));
