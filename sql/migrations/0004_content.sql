-- What is judged: contents, their bodies, scores, and the evidence that people are shown.

CREATE TABLE content (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  tenant_id bigint NOT NULL REFERENCES tenant,
  content_id text COLLATE "C" NOT NULL CHECK (content_id ~ '^[A-Za-z0-9][A-Za-z0-9._:~-]{0,63}$'),
  kind word NOT NULL,
  lang text CHECK (length(lang) BETWEEN 1 AND 35),
  author_id text COLLATE "C" CHECK (length(author_id) BETWEEN 1 AND 128),
  author_followers bigint NOT NULL DEFAULT 0 CHECK (author_followers >= 0),
  state text NOT NULL DEFAULT 'pending'
    CHECK (state IN ('pending', 'allowed', 'removed', 'limited', 'in_review', 'appealed')),
  actor text CHECK (actor IN ('rules', 'model', 'reviewer', 'appeal')),
  risk_score numeric CHECK (risk_score BETWEEN 0 AND 1),
  -- The newest decision of the chain, applied or not.
  head_decision bigint,
  -- The newest decision that took effect: what `state` and `actor` speak of.
  applied_decision bigint,
  -- How many events there are, and the hash of the last one.
  seq bigint NOT NULL DEFAULT 0 CHECK (seq >= 0),
  chain_head bytea NOT NULL DEFAULT decode(repeat('00', 32), 'hex') CHECK (length(chain_head) = 32),
  revision int NOT NULL DEFAULT 1 CHECK (revision >= 1),
  policy_version text COLLATE "C",
  model_version text COLLATE "C" CHECK (length(model_version) BETWEEN 1 AND 64),
  submitted_by bigint NOT NULL REFERENCES principal,
  -- When the producer says it was made, and when we got it.
  created_at timestamptz,
  received_at timestamptz NOT NULL DEFAULT clock(),
  decided_at timestamptz,
  updated_at timestamptz NOT NULL DEFAULT clock(),
  UNIQUE (tenant_id, content_id),
  UNIQUE (id, tenant_id),
  CHECK ((applied_decision IS NULL) = (actor IS NULL))
);
CREATE TRIGGER pending_is_first BEFORE UPDATE ON content FOR EACH ROW
  WHEN (NEW.state = 'pending' AND OLD.state <> 'pending') EXECUTE FUNCTION refuse_transition();
CREATE TRIGGER seq_only_grows BEFORE UPDATE ON content FOR EACH ROW
  WHEN (NEW.seq < OLD.seq OR (NEW.seq = OLD.seq AND NEW.chain_head <> OLD.chain_head)) EXECUTE FUNCTION refuse_transition();

-- The body as submitted, apart from all else so that it can be erased. `fingerprint` is the SHA-256 of nonce and
-- body: it tells a resubmission of the same body from another, and says nothing once the nonce is gone.
CREATE TABLE payload (
  content_id bigint NOT NULL REFERENCES content,
  revision int NOT NULL CHECK (revision >= 1),
  body jsonb,
  nonce bytea,
  fingerprint bytea,
  erased_at timestamptz,
  PRIMARY KEY (content_id, revision),
  CHECK (num_nonnulls(body, nonce, fingerprint) = CASE WHEN erased_at IS NULL THEN 3 ELSE 0 END)
);

-- One row for each score that arrived, late ones too; labels are exact decimals.
CREATE TABLE score (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  content_id bigint NOT NULL REFERENCES content,
  scorer word NOT NULL,
  model_version text COLLATE "C",
  labels jsonb NOT NULL CHECK (jsonb_typeof(labels) = 'object'),
  mode text NOT NULL CHECK (mode IN ('acting', 'shadow')),
  received_at timestamptz NOT NULL DEFAULT clock()
);
CREATE INDEX score_content ON score (content_id, id);

-- Exactly what is shown: canonical bytes whose SHA-256 a verdict is bound to.
CREATE TABLE evidence (
  content_id bigint NOT NULL REFERENCES content,
  revision int NOT NULL CHECK (revision >= 1),
  hash bytea NOT NULL CHECK (length(hash) = 32),
  bytes bytea CHECK (bytes IS NULL OR sha256(bytes) = hash),
  policy_version text COLLATE "C" NOT NULL,
  created_at timestamptz NOT NULL DEFAULT clock(),
  erased_at timestamptz,
  PRIMARY KEY (content_id, revision),
  UNIQUE (content_id, hash),
  CHECK ((bytes IS NULL) = (erased_at IS NOT NULL))
);

-- Contents that wait for a score; the body stays in `payload`.
CREATE TABLE intake (
  content_id bigint PRIMARY KEY REFERENCES content,
  attempts int NOT NULL DEFAULT 0,
  last_error text CHECK (length(last_error) <= 500),
  next_try_at timestamptz NOT NULL DEFAULT clock(),
  created_at timestamptz NOT NULL DEFAULT clock()
);
CREATE INDEX intake_due ON intake (next_try_at);

CALL make_append_only('score');

GRANT SELECT ON content, payload, score, evidence, intake TO fencepost_runtime, fencepost_reader;
GRANT INSERT (tenant_id, content_id, kind, lang, author_id, author_followers, policy_version, model_version, risk_score, submitted_by, created_at)
  ON content TO fencepost_runtime;
GRANT UPDATE (state, actor, risk_score, head_decision, applied_decision, seq, chain_head, revision, policy_version, model_version, decided_at, updated_at)
  ON content TO fencepost_runtime;
GRANT INSERT (content_id, revision, body, nonce, fingerprint) ON payload TO fencepost_runtime;
GRANT INSERT (content_id, scorer, model_version, labels, mode) ON score TO fencepost_runtime;
GRANT INSERT (content_id, revision, hash, bytes, policy_version) ON evidence TO fencepost_runtime;
GRANT INSERT (content_id), UPDATE (attempts, last_error, next_try_at), DELETE ON intake TO fencepost_runtime;

-- The read-only role sees bodies and evidence only on behalf of a principal who may; the setting lives one transaction.
ALTER TABLE payload ENABLE ROW LEVEL SECURITY;
ALTER TABLE evidence ENABLE ROW LEVEL SECURITY;
CREATE POLICY runtime_all ON payload TO fencepost_runtime USING (true) WITH CHECK (true);
CREATE POLICY runtime_all ON evidence TO fencepost_runtime USING (true) WITH CHECK (true);
-- Names are written in full: it runs with the path of whoever asks, who may have temporary tables of these names.
CREATE FUNCTION may_read(wanted_content bigint) RETURNS boolean LANGUAGE sql STABLE AS $$
  SELECT EXISTS (
    SELECT FROM fencepost.content c
    JOIN fencepost.principal p ON p.tenant_id = c.tenant_id AND p.active
    JOIN fencepost.role_grant g ON g.principal_id = p.id AND g.role IN ('lead', 'auditor')
    WHERE c.id = wanted_content AND p.id = nullif(current_setting('fencepost.principal', true), '')::bigint)
$$;
REVOKE ALL ON FUNCTION may_read(bigint) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION may_read(bigint) TO fencepost_reader;
CREATE POLICY reader_granted ON payload FOR SELECT TO fencepost_reader USING (may_read(content_id));
CREATE POLICY reader_granted ON evidence FOR SELECT TO fencepost_reader USING (may_read(content_id));
