-- The audit trail: one hash chain a content, checked by the database as it grows.

CREATE TABLE event (
  content_id bigint NOT NULL REFERENCES content,
  seq bigint NOT NULL CHECK (seq >= 1),
  type text NOT NULL CHECK (type IN ('content.submitted', 'content.resubmitted', 'decision.recorded', 'decision.applied',
    'decision.skipped', 'item.queued', 'item.escalated', 'item.withdrawn', 'verdict.refused')),
  prev_hash bytea NOT NULL CHECK (length(prev_hash) = 32),
  -- RFC 8785 bytes of the whole event, `seq` and `type` included.
  canonical bytea NOT NULL,
  hash bytea NOT NULL,
  schema_version smallint NOT NULL DEFAULT 1,
  -- 64 bits, so it never wraps: readers that follow the log wait for the oldest writer by it.
  xid xid8 NOT NULL DEFAULT pg_current_xact_id(),
  recorded_at timestamptz NOT NULL DEFAULT clock(),
  PRIMARY KEY (content_id, seq),
  CONSTRAINT hash_is_true CHECK (hash = sha256('\x00'::bytea || prev_hash || canonical)),
  CONSTRAINT first_follows_nothing CHECK (seq > 1 OR prev_hash = decode(repeat('00', 32), 'hex'))
);
CREATE INDEX event_xid ON event (xid);

-- Each event after the first names the hash of the one before it, which must be there.
CREATE FUNCTION refuse_broken_chain() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF EXISTS (
    SELECT FROM added a LEFT JOIN fencepost.event p ON p.content_id = a.content_id AND p.seq = a.seq - 1
    WHERE a.seq > 1 AND p.hash IS DISTINCT FROM a.prev_hash) THEN
    RAISE EXCEPTION 'event: the chain is broken' USING ERRCODE = 'restrict_violation';
  END IF;
  RETURN NULL;
END $$;
CREATE TRIGGER chain_is_whole AFTER INSERT ON event REFERENCING NEW TABLE AS added
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_broken_chain();
ALTER TABLE event ENABLE ALWAYS TRIGGER chain_is_whole;

CALL make_append_only('event');

REVOKE ALL ON FUNCTION refuse_broken_chain() FROM PUBLIC;
GRANT SELECT ON event TO fencepost_runtime, fencepost_reader;
GRANT INSERT (content_id, seq, type, prev_hash, canonical, hash) ON event TO fencepost_runtime;
