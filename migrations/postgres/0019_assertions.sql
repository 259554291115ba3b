-- Signed assertions of OAuth clients that were used (RFC 7523): each is good for one use until it expires.
CREATE TABLE oauth_assertions (
  assertion_hash bytea NOT NULL PRIMARY KEY,
  expires_at bigint NOT NULL
);
CREATE INDEX oauth_assertions_by_expiry ON oauth_assertions (expires_at);
