-- What is kept, and for how long.

-- When the owners of an endpoint that is not sent to were told that what waits for it will be dropped: as of its present rest.
ALTER TABLE webhooks ADD COLUMN drop_notice_at INTEGER;
-- Endpoints in quarantine, or switched off: few among all.
CREATE INDEX webhooks_resting ON webhooks (id) WHERE status <> 'active';
CREATE INDEX setup_links_by_expiry ON setup_links (expires_at);
