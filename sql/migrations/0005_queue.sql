-- The queue: items, leases, the log of what happened to each lease, and who may not take what.

CREATE TABLE item (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  tenant_id bigint NOT NULL,
  content_id bigint NOT NULL,
  queue word NOT NULL,
  round int NOT NULL CHECK (round >= 1),
  source text NOT NULL CHECK (source IN
    ('engine', 'case', 'escalation', 'undo', 'appeal', 'evidence', 'rule', 'second_look', 'golden')),
  severity int NOT NULL CHECK (severity BETWEEN 0 AND 1000),
  -- severity * 10 + log10(1 + followers), and the same less half a point for each minute of enqueueing: see sql/README.md.
  base float8 NOT NULL CHECK (base > '-Infinity' AND base < 'Infinity'),
  rank float8 NOT NULL CHECK (rank > '-Infinity' AND rank < 'Infinity'),
  state text NOT NULL DEFAULT 'queued' CHECK (state IN ('queued', 'leased', 'parked', 'resolved')),
  resolution text CHECK (resolution IN ('decided', 'withdrawn')),
  owner bigint REFERENCES principal,
  -- The fence. It rotates whenever the item changes hands, and not when the lease merely runs out.
  fence_token uuid,
  claim_key uuid,
  leased_at timestamptz,
  lease_expires timestamptz,
  lease_epoch bigint NOT NULL DEFAULT 0,
  lease_count int NOT NULL DEFAULT 0 CHECK (lease_count >= 0),
  -- The different people who left it undecided; at the queue's threshold it drops out of the claim index.
  left_by bigint[] NOT NULL DEFAULT '{}',
  abandoned boolean NOT NULL DEFAULT false,
  escalated_at timestamptz,
  stuck_at timestamptz,
  first_enqueued_at timestamptz NOT NULL DEFAULT clock(),
  enqueued_at timestamptz NOT NULL DEFAULT clock(),
  wake_at timestamptz,
  evidence_revision int NOT NULL,
  resolved_at timestamptz,
  UNIQUE (content_id, round),
  FOREIGN KEY (content_id, tenant_id) REFERENCES content (id, tenant_id),
  FOREIGN KEY (tenant_id, queue) REFERENCES queue (tenant_id, name),
  FOREIGN KEY (content_id, evidence_revision) REFERENCES evidence (content_id, revision),
  CONSTRAINT leased_is_whole CHECK (state <> 'leased' OR num_nonnulls(owner, fence_token, lease_expires, leased_at) = 4),
  CONSTRAINT only_leased_expires CHECK (state = 'leased' OR lease_expires IS NULL),
  CONSTRAINT token_has_owner CHECK ((fence_token IS NULL) = (owner IS NULL)),
  CONSTRAINT at_rest_has_no_token CHECK (state IN ('queued', 'leased') OR fence_token IS NULL),
  CONSTRAINT resolved_says_how CHECK ((state = 'resolved') = (resolution IS NOT NULL) AND (state = 'resolved') = (resolved_at IS NOT NULL)),
  CONSTRAINT only_parked_wakes CHECK (state = 'parked' OR wake_at IS NULL)
);

-- At most one unresolved item a content; second looks and golden items stand beside it.
CREATE UNIQUE INDEX item_one_open ON item (content_id) WHERE state <> 'resolved' AND source NOT IN ('second_look', 'golden');
-- What a claim walks: the size of the backlog, not of the history. Leased rows leave it.
CREATE INDEX item_queued ON item (tenant_id, queue, rank DESC, id) WHERE state = 'queued' AND NOT abandoned;
-- Where a claim and the redriver look for leases that have run out.
CREATE INDEX item_leased ON item (tenant_id, queue, lease_expires) WHERE state = 'leased';
-- What the redriver moves.
CREATE INDEX item_abandoned ON item (id) WHERE state = 'queued' AND abandoned;
-- What leads are shown as stuck.
CREATE INDEX item_stuck ON item (tenant_id, queue) WHERE stuck_at IS NOT NULL AND state <> 'resolved';
-- What a person holds. Not conditioned on the token, so that the fence can't mistake it for a short way (see sql/README.md).
CREATE INDEX item_owner ON item (owner) WHERE owner IS NOT NULL;
-- One claim, one lease: two tries of one claim can't both be granted.
CREATE UNIQUE INDEX item_claim_key ON item (owner, claim_key) WHERE state = 'leased' AND claim_key IS NOT NULL;
-- The figures of the health screen.
CREATE INDEX item_oldest ON item (tenant_id, queue, first_enqueued_at) WHERE state IN ('queued', 'leased');
CREATE INDEX item_touched ON item (tenant_id, queue, lease_count) WHERE state <> 'resolved' AND lease_count > 0;

CREATE TRIGGER resolved_is_final BEFORE UPDATE ON item FOR EACH ROW
  WHEN (OLD.state = 'resolved') EXECUTE FUNCTION refuse_transition();
CREATE TRIGGER only_leased_parks BEFORE UPDATE ON item FOR EACH ROW
  WHEN (NEW.state = 'parked' AND OLD.state NOT IN ('leased', 'parked')) EXECUTE FUNCTION refuse_transition();
CREATE TRIGGER parked_returns_first BEFORE UPDATE ON item FOR EACH ROW
  WHEN (NEW.state = 'leased' AND OLD.state = 'parked') EXECUTE FUNCTION refuse_transition();
CREATE TRIGGER epoch_only_grows BEFORE UPDATE ON item FOR EACH ROW
  WHEN (NEW.lease_epoch < OLD.lease_epoch) EXECUTE FUNCTION refuse_transition();
CREATE TRIGGER token_brings_epoch BEFORE UPDATE ON item FOR EACH ROW
  WHEN (NEW.fence_token <> OLD.fence_token AND NEW.lease_epoch = OLD.lease_epoch) EXECUTE FUNCTION refuse_transition();

-- With the default scale factor a table of ten million rows would wait for two million dead ones.
ALTER TABLE item SET (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000, autovacuum_vacuum_cost_delay = 0);

-- One row for each happening; a grant carries its token, unique for ever.
CREATE TABLE lease_log (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  item_id bigint NOT NULL REFERENCES item,
  lease_epoch bigint NOT NULL,
  happening text NOT NULL CHECK (happening IN ('grant', 'renew', 'release', 'lapse', 'take_over', 'take_back', 'withdraw')),
  principal_id bigint NOT NULL REFERENCES principal,
  token uuid CHECK ((token IS NOT NULL) = (happening IN ('grant', 'take_over'))),
  expires_at timestamptz,
  reason text CHECK (reason IN ('need_time', 'policy_unclear', 'sign_off', 'tech', 'distress', 'conflict', 'language', 'undo', 'take_back')),
  at timestamptz NOT NULL DEFAULT clock()
);
CREATE UNIQUE INDEX lease_log_token ON lease_log (token) WHERE token IS NOT NULL;
CREATE INDEX lease_log_item ON lease_log (item_id, id);

-- Who may not take an item, or any round of a content; `until` NULL means never.
CREATE TABLE exclusion (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  item_id bigint REFERENCES item,
  content_id bigint REFERENCES content,
  principal_id bigint NOT NULL REFERENCES principal,
  until timestamptz,
  why text NOT NULL CHECK (why IN ('released', 'lapsed', 'author', 'decided_before', 'conflict', 'four_eyes')),
  created_at timestamptz NOT NULL DEFAULT clock(),
  CHECK (num_nonnulls(item_id, content_id) = 1)
);
CREATE INDEX exclusion_item ON exclusion (item_id, principal_id) WHERE item_id IS NOT NULL;
CREATE INDEX exclusion_content ON exclusion (content_id, principal_id) WHERE content_id IS NOT NULL;

CREATE INDEX exclusion_principal ON exclusion (principal_id, until);

-- What a reviewer wrote down: never a reason, never in a log.
CREATE TABLE note (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  item_id bigint NOT NULL REFERENCES item,
  principal_id bigint NOT NULL REFERENCES principal,
  text text CHECK (length(text) BETWEEN 1 AND 4000),
  created_at timestamptz NOT NULL DEFAULT clock(),
  erased_at timestamptz,
  CHECK ((text IS NULL) = (erased_at IS NOT NULL))
);
CREATE INDEX note_item ON note (item_id);

CALL make_append_only('lease_log');

GRANT SELECT ON item, lease_log, exclusion TO fencepost_runtime, fencepost_reader;
GRANT SELECT ON note TO fencepost_runtime;
GRANT INSERT (tenant_id, content_id, queue, round, source, severity, base, rank, left_by, first_enqueued_at, enqueued_at, evidence_revision, escalated_at)
  ON item TO fencepost_runtime;
GRANT UPDATE (queue, base, rank, severity, state, resolution, owner, fence_token, claim_key, leased_at, lease_expires, lease_epoch, lease_count,
  left_by, abandoned, escalated_at, stuck_at, enqueued_at, wake_at, evidence_revision, resolved_at) ON item TO fencepost_runtime;
GRANT INSERT (item_id, lease_epoch, happening, principal_id, token, expires_at, reason) ON lease_log TO fencepost_runtime;
GRANT INSERT (item_id, content_id, principal_id, until, why) ON exclusion TO fencepost_runtime;
GRANT INSERT (item_id, principal_id, text) ON note TO fencepost_runtime;
