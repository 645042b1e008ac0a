-- Decisions: append-only, one chain a content, each verdict bound to a lease, a hash and a person.

CREATE TABLE decision (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  tenant_id bigint NOT NULL,
  content_id bigint NOT NULL,
  item_id bigint REFERENCES item,
  kind text NOT NULL CHECK (kind IN ('automatic', 'verdict', 'undo', 'appeal')),
  actor text NOT NULL CHECK (actor IN ('rules', 'model', 'reviewer', 'appeal')),
  principal_id bigint REFERENCES principal,
  verdict text CHECK (verdict IN ('approve', 'limit', 'reject', 'escalate', 'overturn', 'uphold')),
  outcome text NOT NULL CHECK (outcome IN ('allow', 'limit', 'remove', 'hold', 'none', 'value')),
  outcome_value word,
  reason word,
  -- How the engine banded it, with its account; NULL for what a person said.
  band text CHECK (band IN ('ALLOW', 'REVIEW', 'HELD', 'BLOCK')),
  explanation jsonb,
  risk_score numeric CHECK (risk_score BETWEEN 0 AND 1),
  evidence_hash bytea CHECK (length(evidence_hash) = 32),
  lease_token uuid UNIQUE,
  verdict_token uuid,
  supersedes bigint UNIQUE,
  apply_after timestamptz NOT NULL,
  hold text CHECK (hold IN ('four_eyes')),
  late_by interval CHECK (late_by >= '0 seconds'),
  seen smallint CHECK (seen BETWEEN 0 AND 100),
  dwell interval CHECK (dwell >= '0 seconds'),
  renderer text CHECK (length(renderer) <= 64),
  policy_version text COLLATE "C" NOT NULL,
  model_version text COLLATE "C",
  recorded_at timestamptz NOT NULL DEFAULT clock(),
  UNIQUE (id, content_id),
  UNIQUE (principal_id, verdict_token),
  FOREIGN KEY (content_id, tenant_id) REFERENCES content (id, tenant_id),
  FOREIGN KEY (tenant_id, reason) REFERENCES reason (tenant_id, code),
  FOREIGN KEY (tenant_id, policy_version) REFERENCES policy_version (tenant_id, version),
  FOREIGN KEY (content_id, evidence_hash) REFERENCES evidence (content_id, hash),
  -- A chain never crosses from one content to another, and never points forward.
  FOREIGN KEY (supersedes, content_id) REFERENCES decision (id, content_id),
  CHECK (supersedes < id),
  CONSTRAINT engine_has_no_principal CHECK ((principal_id IS NULL) = (actor IN ('rules', 'model'))),
  CONSTRAINT engine_is_automatic CHECK ((actor IN ('rules', 'model')) = (kind = 'automatic')),
  CONSTRAINT engine_explains CHECK (kind <> 'automatic' OR num_nonnulls(band, explanation) = 2),
  CONSTRAINT person_says_verdict CHECK ((kind IN ('verdict', 'appeal')) = (verdict IS NOT NULL)),
  CONSTRAINT verdict_is_bound CHECK (verdict IS NULL OR num_nonnulls(item_id, reason, evidence_hash, lease_token, verdict_token) = 5),
  CONSTRAINT value_is_named CHECK ((outcome = 'value') = (outcome_value IS NOT NULL))
);
-- One first decision a content: with `supersedes` unique this makes each history a chain.
CREATE UNIQUE INDEX decision_root ON decision (content_id) WHERE supersedes IS NULL;
CREATE INDEX decision_content ON decision (content_id, id);
CREATE INDEX decision_recent ON decision (tenant_id, recorded_at) WHERE principal_id IS NOT NULL;

CREATE FUNCTION actor_rank(actor text) RETURNS int LANGUAGE sql IMMUTABLE AS
  $$ SELECT array_position(ARRAY['rules', 'model', 'reviewer', 'appeal'], actor) $$;

-- A person outranks the engine and an appeal outranks a person. Rules and models may replace each other's.
CREATE FUNCTION refuse_weaker_actor() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF (SELECT fencepost.actor_rank(actor) FROM fencepost.decision WHERE id = NEW.supersedes)
     > greatest(fencepost.actor_rank(NEW.actor), fencepost.actor_rank('model')) THEN
    RAISE EXCEPTION 'decision: % is outranked by what it would supersede', NEW.actor USING ERRCODE = 'restrict_violation';
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER precedence BEFORE INSERT ON decision FOR EACH ROW
  WHEN (NEW.supersedes IS NOT NULL) EXECUTE FUNCTION refuse_weaker_actor();
ALTER TABLE decision ENABLE ALWAYS TRIGGER precedence;

ALTER TABLE content
  ADD FOREIGN KEY (head_decision, id) REFERENCES decision (id, content_id),
  ADD FOREIGN KEY (applied_decision, id) REFERENCES decision (id, content_id);

-- The answer to a verdict, for ever: the same token gets the same bytes, another body a conflict.
CREATE TABLE verdict_reply (
  principal_id bigint NOT NULL REFERENCES principal,
  verdict_token uuid NOT NULL,
  fingerprint bytea NOT NULL CHECK (length(fingerprint) = 32),
  decision_id bigint NOT NULL REFERENCES decision,
  answer text NOT NULL,
  PRIMARY KEY (principal_id, verdict_token)
);
CREATE UNIQUE INDEX verdict_reply_decision ON verdict_reply (decision_id);

CALL make_append_only('decision');
CALL make_append_only('verdict_reply');

REVOKE ALL ON FUNCTION refuse_weaker_actor(), actor_rank(text) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION actor_rank(text) TO fencepost_runtime;
GRANT SELECT ON decision, verdict_reply TO fencepost_runtime, fencepost_reader;
GRANT INSERT (tenant_id, content_id, item_id, kind, actor, principal_id, verdict, outcome, outcome_value, reason, band, explanation, risk_score,
  evidence_hash, lease_token, verdict_token, supersedes, apply_after, hold, late_by, seen, dwell, renderer, policy_version, model_version)
  ON decision TO fencepost_runtime;
GRANT INSERT ON verdict_reply TO fencepost_runtime;
