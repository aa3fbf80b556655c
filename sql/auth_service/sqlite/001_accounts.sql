-- Who has an account. Columns that say something about a person are encrypted (email, name, phone, ci); beside them stand
-- keyed hashes to search by. An erased account keeps its row, with all of that wiped, so that its id stays taken.
CREATE TABLE users (
    id            TEXT   NOT NULL PRIMARY KEY,
    email         TEXT   NOT NULL,
    email_hash    TEXT,
    name          TEXT   NOT NULL,
    phone         TEXT,
    phone_hash    TEXT,
    ci            TEXT,
    ci_hash       TEXT,
    password_hash TEXT,
    google_hash   TEXT,
    role          TEXT   NOT NULL CONSTRAINT users_role_check CHECK (role IN ('USER', 'STAFF', 'ADMIN')),
    status        TEXT   NOT NULL CONSTRAINT users_status_check CHECK (status IN ('ACTIVE', 'DELETED')),
    created_at    INTEGER NOT NULL,
    updated_at    INTEGER NOT NULL,
    last_login_at INTEGER,
    deleted_at    INTEGER
);
CREATE UNIQUE INDEX users_email ON users (email_hash);
CREATE UNIQUE INDEX users_ci ON users (ci_hash);
CREATE UNIQUE INDEX users_google ON users (google_hash);
CREATE INDEX users_phone ON users (phone_hash);

-- A session is what begins with a sign-in and ends with a sign-out: a family of refresh tokens, of which one is usable.
CREATE TABLE sessions (
    id           TEXT   NOT NULL PRIMARY KEY,
    user_id      TEXT   NOT NULL REFERENCES users (id),
    method       TEXT   NOT NULL,
    address      TEXT   NOT NULL,
    agent        TEXT   NOT NULL,
    created_at   INTEGER NOT NULL,
    last_used_at INTEGER NOT NULL,
    expires_at   INTEGER NOT NULL,
    ended_at     INTEGER
);
CREATE INDEX sessions_user ON sessions (user_id, ended_at);
CREATE INDEX sessions_expiry ON sessions (expires_at);

-- Only the hash of a refresh token is kept. Used ones stay until the session expires, so that a second use is noticed.
-- access_token_id is the access token that was given out with it; ending the session takes it back.
CREATE TABLE refresh_tokens (
    token_hash        TEXT   NOT NULL PRIMARY KEY,
    session_id        TEXT   NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
    access_token_id   TEXT   NOT NULL,
    access_expires_at INTEGER NOT NULL, -- Unix seconds, as in the token
    expires_at        INTEGER NOT NULL,
    used_at           INTEGER
);
CREATE INDEX refresh_tokens_session ON refresh_tokens (session_id);

-- Access tokens taken back before their time. In Unix seconds.
CREATE TABLE revoked_tokens (
    token_id   TEXT   NOT NULL PRIMARY KEY,
    expires_at INTEGER NOT NULL
);
CREATE INDEX revoked_tokens_expiry ON revoked_tokens (expires_at);

-- Every attempt to sign in, good or bad; user_id is NULL where the e-mail has no account.
CREATE TABLE login_history (
    id         INTEGER PRIMARY KEY,
    user_id    TEXT,
    email_hash TEXT,
    at         INTEGER  NOT NULL,
    address    TEXT    NOT NULL,
    agent      TEXT    NOT NULL,
    method     TEXT    NOT NULL,
    success    INTEGER NOT NULL,
    reason     TEXT
);
CREATE INDEX login_history_user ON login_history (user_id, id);
CREATE INDEX login_history_at ON login_history (at);

-- Sign-ins of an e-mail, with an account or without, that failed or are still under way.
CREATE TABLE login_failures (
    email_hash    TEXT   NOT NULL PRIMARY KEY,
    failures      INTEGER NOT NULL,
    last_at       INTEGER NOT NULL,
    blocked_until INTEGER NOT NULL
);
CREATE INDEX login_failures_last ON login_failures (last_at);

-- People whose identity a verifying service has confirmed: a registration may refer to one of them, once.
CREATE TABLE verified_identities (
    id         TEXT   NOT NULL PRIMARY KEY,
    ci         TEXT   NOT NULL,
    ci_hash    TEXT   NOT NULL,
    expires_at INTEGER NOT NULL
);
CREATE INDEX verified_identities_expiry ON verified_identities (expires_at);
