-- When somebody showed that the e-mail is theirs: by Google, or the operator says so. An account that never did gives way
-- to whoever does.
ALTER TABLE users ADD COLUMN email_verified_at BIGINT;
UPDATE users SET email_verified_at = created_at WHERE google_hash IS NOT NULL AND status = 'ACTIVE';

-- When a token was taken back, in Unix ms: servers look for new ones every second, and need not read them all.
ALTER TABLE revoked_tokens ADD COLUMN revoked_at BIGINT NOT NULL
    DEFAULT (extract(epoch FROM clock_timestamp()) * 1000)::BIGINT;
CREATE INDEX revoked_tokens_new ON revoked_tokens (revoked_at);
