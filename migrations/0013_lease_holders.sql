-- The instance that holds a lease, so that one that starts ends its own leases only. Counts while `leased_until` is set;
-- null on leases from before this column.
ALTER TABLE mails ADD COLUMN lease_holder TEXT;
ALTER TABLE deliveries ADD COLUMN lease_holder TEXT;
