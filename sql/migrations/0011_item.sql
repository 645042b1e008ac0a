-- What else may happen to an item: it is parked, moved, taken over, taken back and reopened; its SLA clock can pause.

ALTER TABLE item
  -- Which of a person's terminals took the lease: so that a second one asks before it takes over.
  ADD COLUMN terminal text CHECK (terminal ~ '^[A-Za-z0-9][A-Za-z0-9._:-]{0,63}$'),
  -- When the SLA clock began: first_enqueued_at, later by all the time that the item was parked.
  ADD COLUMN sla_from timestamptz,
  ADD COLUMN parked_at timestamptz,
  ADD COLUMN moved_at timestamptz;

UPDATE item SET sla_from = first_enqueued_at WHERE state <> 'resolved';
ALTER TABLE item
  ALTER COLUMN sla_from SET DEFAULT clock(),
  ADD CONSTRAINT open_has_sla CHECK (state = 'resolved' OR sla_from IS NOT NULL),
  DROP CONSTRAINT only_parked_wakes,
  -- A parked item always has a date: whatever is forgotten comes back by itself.
  ADD CONSTRAINT parked_is_whole CHECK (num_nonnulls(wake_at, parked_at) = CASE WHEN state = 'parked' THEN 2 ELSE 0 END),
  ADD CONSTRAINT only_owned_has_terminal CHECK (terminal IS NULL OR owner IS NOT NULL),
  DROP CONSTRAINT item_source_check,
  ADD CONSTRAINT item_source_check CHECK (source IN
    ('engine', 'case', 'escalation', 'undo', 'appeal', 'evidence', 'rule', 'reopen', 'second_look', 'golden'));

-- A retry of a claim is found by what its sender holds; since one person has one live lease, no key needs an index.
DROP INDEX item_claim_key;
-- What wakes, and what runs out, soonest first; the id makes the order whole, so that a page of either is a walk.
CREATE INDEX item_parked ON item (tenant_id, queue, wake_at, id) WHERE state = 'parked';
DROP INDEX item_leased;
CREATE INDEX item_leased ON item (tenant_id, queue, lease_expires, id) WHERE state = 'leased';
-- The oldest that waits, and the oldest that is held: two indexes, since a walk over one would pass all leases.
DROP INDEX item_oldest;
CREATE INDEX item_queued_since ON item (tenant_id, queue, sla_from) WHERE state = 'queued';
CREATE INDEX item_leased_since ON item (tenant_id, queue, sla_from) WHERE state = 'leased';

-- The log says of every token how it ended, and who ended it where that was not its holder.
ALTER TABLE lease_log
  ADD COLUMN by_principal bigint REFERENCES principal,
  ALTER COLUMN principal_id DROP NOT NULL,
  ADD CONSTRAINT only_waking_is_nobodys CHECK ((principal_id IS NULL) = (happening = 'wake')),
  DROP CONSTRAINT lease_log_happening_check,
  ADD CONSTRAINT lease_log_happening_check CHECK (happening IN
    ('grant', 'renew', 'release', 'lapse', 'take_over', 'take_back', 'park', 'wake', 'move', 'escalate', 'withdraw')),
  DROP CONSTRAINT lease_log_reason_check,
  ADD CONSTRAINT lease_log_reason_check CHECK (reason IN
    ('need_time', 'policy_unclear', 'sign_off', 'tech', 'distress', 'conflict', 'language', 'undo', 'take_back',
     'holder_away', 'reassign', 'mistake', 'await_producer', 'await_evidence', 'await_date'));

-- How often and for how long a round was set aside, however often its lease was renewed.
CREATE INDEX lease_log_aside ON lease_log (item_id) WHERE happening IN ('park', 'wake');

GRANT INSERT (terminal, sla_from) ON item TO fencepost_runtime;
GRANT UPDATE (terminal, sla_from, parked_at, moved_at) ON item TO fencepost_runtime;
GRANT INSERT (by_principal) ON lease_log TO fencepost_runtime;
