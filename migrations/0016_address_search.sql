-- Distinct addresses of a workspace's audit records and mails, and the tokens of their trigrams. Null tokens are to be
-- indexed. Triggers enter an address with its first row and delete it with its last one, whichever version writes them.
CREATE TABLE address_search (
  entry INTEGER PRIMARY KEY,
  workspace_id TEXT NOT NULL,
  address TEXT NOT NULL,
  tokens TEXT,
  UNIQUE (workspace_id, address)
) STRICT;
CREATE INDEX address_search_missing ON address_search (workspace_id, entry) WHERE tokens IS NULL;

CREATE VIRTUAL TABLE address_tokens USING fts5 (
  tokens, content = '', contentless_delete = 1, detail = none, tokenize = 'ascii'
);

CREATE TRIGGER address_search_changed AFTER UPDATE OF tokens ON address_search BEGIN
  DELETE FROM address_tokens WHERE rowid = OLD.entry;
  INSERT INTO address_tokens (rowid, tokens) SELECT NEW.entry, NEW.tokens WHERE NEW.tokens IS NOT NULL;
END;
CREATE TRIGGER address_search_deleted AFTER DELETE ON address_search BEGIN
  DELETE FROM address_tokens WHERE rowid = OLD.entry;
END;

-- Records of an address, by the time. The last column answers for one of the workspace's applications.
CREATE INDEX audit_records_by_address ON audit_records (workspace_id, email, created_at, id, application_id)
WHERE email IS NOT NULL;

CREATE TRIGGER audit_records_addressed AFTER INSERT ON audit_records
WHEN NEW.email IS NOT NULL AND NEW.workspace_id IS NOT NULL BEGIN
  INSERT INTO address_search (workspace_id, address) VALUES (NEW.workspace_id, NEW.email) ON CONFLICT DO NOTHING;
END;
CREATE TRIGGER mails_addressed AFTER INSERT ON mails WHEN NEW.workspace_id IS NOT NULL BEGIN
  INSERT INTO address_search (workspace_id, address) VALUES (NEW.workspace_id, NEW.recipient) ON CONFLICT DO NOTHING;
END;
CREATE TRIGGER audit_records_gone AFTER DELETE ON audit_records
WHEN OLD.email IS NOT NULL AND OLD.workspace_id IS NOT NULL BEGIN
  DELETE FROM address_search WHERE workspace_id = OLD.workspace_id AND address = OLD.email
    AND NOT EXISTS (SELECT 1 FROM audit_records WHERE workspace_id = OLD.workspace_id AND email = OLD.email)
    AND NOT EXISTS (SELECT 1 FROM mails WHERE recipient = OLD.email AND +workspace_id = OLD.workspace_id);
END;
CREATE TRIGGER mails_gone AFTER DELETE ON mails WHEN OLD.workspace_id IS NOT NULL BEGIN
  DELETE FROM address_search WHERE workspace_id = OLD.workspace_id AND address = OLD.recipient
    AND NOT EXISTS (SELECT 1 FROM audit_records WHERE workspace_id = OLD.workspace_id AND email = OLD.recipient)
    AND NOT EXISTS (SELECT 1 FROM mails WHERE recipient = OLD.recipient AND +workspace_id = OLD.workspace_id);
END;

-- Addresses of earlier rows are entered by a background task; until it has ended a search scans.
INSERT INTO long_works (id, kind, application_id, actor, data, cursor, done, total, created_at, updated_at)
SELECT 'wrk_00000000000000000000000001', 'activity.enter_addresses', NULL,
  '{"type":"system","userId":null,"apiKeyId":null,"requestId":null,"ip":null,"ipCountry":null}', '{}', '', 0, NULL, 0, 0
WHERE EXISTS (SELECT 1 FROM audit_records) OR EXISTS (SELECT 1 FROM mails);
