-- Days after which the key ends that a grant or a code is exchanged for: 0 for one that does not end by itself, null for
-- the default of its client.
ALTER TABLE device_grants ADD COLUMN key_days INTEGER;
ALTER TABLE oauth_codes ADD COLUMN key_days INTEGER;
