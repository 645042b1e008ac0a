-- What decisions make happen: what waits, what is done, and what goes out.

-- Decisions that have not taken effect; the row goes when `applied` is written.
CREATE TABLE pending_apply (
  decision_id bigint PRIMARY KEY,
  content_id bigint NOT NULL,
  next_try_at timestamptz NOT NULL,
  attempts int NOT NULL DEFAULT 0,
  last_error text CHECK (length(last_error) <= 500),
  dead_at timestamptz,
  created_at timestamptz NOT NULL DEFAULT clock(),
  FOREIGN KEY (decision_id, content_id) REFERENCES decision (id, content_id)
);
CREATE INDEX pending_apply_due ON pending_apply (next_try_at) WHERE dead_at IS NULL;
-- Decisions of one content take effect in their order.
CREATE INDEX pending_apply_content ON pending_apply (content_id, decision_id);

-- Once for each decision, for ever.
CREATE TABLE applied (
  decision_id bigint PRIMARY KEY REFERENCES decision,
  result text NOT NULL CHECK (result IN ('applied', 'skipped', 'handled')),
  at timestamptz NOT NULL DEFAULT clock()
);

-- What leaves the house: one stable key, the same bytes on each try, at least once.
CREATE TABLE outbox (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  decision_id bigint NOT NULL REFERENCES applied,
  content_id bigint NOT NULL REFERENCES content,
  kind word NOT NULL,
  key text COLLATE "C" NOT NULL UNIQUE,
  payload bytea NOT NULL,
  next_try_at timestamptz NOT NULL DEFAULT clock(),
  attempts int NOT NULL DEFAULT 0,
  last_error text CHECK (length(last_error) <= 500),
  delivered_at timestamptz,
  dead_at timestamptz,
  created_at timestamptz NOT NULL DEFAULT clock()
);
CREATE INDEX outbox_due ON outbox (next_try_at) WHERE delivered_at IS NULL AND dead_at IS NULL;

CALL make_append_only('applied');

GRANT SELECT ON pending_apply, applied, outbox TO fencepost_runtime, fencepost_reader;
GRANT INSERT (decision_id, content_id, next_try_at), UPDATE (next_try_at, attempts, last_error, dead_at), DELETE ON pending_apply TO fencepost_runtime;
GRANT INSERT (decision_id, result) ON applied TO fencepost_runtime;
GRANT INSERT (decision_id, content_id, kind, key, payload) ON outbox TO fencepost_runtime;
GRANT UPDATE (next_try_at, attempts, last_error, delivered_at, dead_at) ON outbox TO fencepost_runtime;
