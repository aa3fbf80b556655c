-- A check value of each key that something here is sealed or hashed with: a server with other keys does not start. It is
-- an HMAC of a constant text, so it tells nothing about the key.
CREATE TABLE key_checks (
    key_number  INTEGER NOT NULL PRIMARY KEY, -- its number in PII_KEYS; 0: PII_HASH_KEY
    check_value TEXT NOT NULL
);
