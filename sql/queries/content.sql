-- name: admit_contents(tenant_id, principal_id, policy_version, age_per_minute, content_ids, kinds, langs, authors, followers, created_ats, model_versions, bodies, nonces, fingerprints, labels, incomplete, actors, outcomes, bands, explanations, risk_scores, queues, sources, severities, bases, evidence_hashes, evidences)
-- Store the new contents of a batch, sorted by content_id, each with its body, score, first decision, evidence and item; rows that were known are left out of the answer.
WITH moment AS MATERIALIZED (
  SELECT clock() AS at
), sent AS MATERIALIZED (
  SELECT * FROM unnest(
    :content_ids::text[], :kinds::text[], :langs::text[], :authors::text[], :followers::bigint[],
    :created_ats::timestamptz[], :model_versions::text[], :bodies::jsonb[], :nonces::bytea[],
    :fingerprints::bytea[], :labels::jsonb[], :incomplete::boolean[], :actors::text[],
    :outcomes::text[], :bands::text[], :explanations::jsonb[], :risk_scores::numeric[],
    :queues::text[], :sources::text[], :severities::int[], :bases::float8[],
    :evidence_hashes::bytea[], :evidences::bytea[]
  ) WITH ORDINALITY AS s (
    content_id, kind, lang, author_id, followers, created_at, model_version, body, nonce,
    fingerprint, labels, incomplete, actor, outcome, band, explanation, risk_score,
    queue, source, severity, base, evidence_hash, evidence, place)
), fresh AS (
  INSERT INTO content (tenant_id, content_id, kind, lang, author_id, author_followers,
    policy_version, model_version, risk_score, submitted_by, created_at)
  SELECT :tenant_id, content_id, kind, lang, author_id, followers,
    :policy_version, model_version, risk_score, :principal_id, created_at
  FROM sent ORDER BY place
  ON CONFLICT (tenant_id, content_id) DO NOTHING
  RETURNING id, content_id
), stored AS MATERIALIZED (
  SELECT fresh.id, sent.* FROM fresh JOIN sent USING (content_id)
), bodies AS (
  INSERT INTO payload (content_id, revision, body, nonce, fingerprint)
  SELECT id, 1, body, nonce, fingerprint FROM stored
), scores AS (
  INSERT INTO score (content_id, scorer, model_version, labels, mode)
  SELECT id, 'producer', model_version, labels, 'acting' FROM stored WHERE labels IS NOT NULL
), waiting AS (
  INSERT INTO intake (content_id) SELECT id FROM stored WHERE incomplete
), shown AS (
  INSERT INTO evidence (content_id, revision, hash, bytes, policy_version)
  SELECT id, 1, evidence_hash, evidence, :policy_version FROM stored WHERE evidence IS NOT NULL
), decided AS (
  INSERT INTO decision (tenant_id, content_id, kind, actor, outcome, band, explanation,
    risk_score, apply_after, policy_version, model_version)
  SELECT :tenant_id, id, 'automatic', actor, outcome, band, explanation,
    risk_score, at, :policy_version, model_version
  FROM stored, moment WHERE band IS NOT NULL ORDER BY place
  RETURNING id, content_id
), queued AS (
  INSERT INTO item (tenant_id, content_id, queue, round, source, severity, base, rank,
    first_enqueued_at, enqueued_at, sla_from, evidence_revision)
  SELECT :tenant_id, id, queue, 1, source, severity, base,
    base - :age_per_minute::float8
      * extract(epoch FROM at - '2020-01-01T00:00:00Z'::timestamptz)::float8 / 60,
    at, at, at, 1
  FROM stored, moment WHERE queue IS NOT NULL ORDER BY place
  RETURNING id, content_id
)
SELECT stored.content_id, stored.id AS content_pk, moment.at, decided.id AS decision_pk,
  queued.id AS item_pk
FROM stored CROSS JOIN moment
LEFT JOIN decided ON decided.content_id = stored.id
LEFT JOIN queued ON queued.content_id = stored.id;

-- name: advance_chains(contents, seqs, heads)!
-- Move the end of each content's event chain after events were added to it.
UPDATE content c SET seq = a.seq, chain_head = a.head, updated_at = clock()
FROM unnest(:contents::bigint[], :seqs::bigint[], :heads::bytea[]) AS a (content_pk, seq, head)
WHERE c.id = a.content_pk;

-- name: find_contents(tenant_id, content_ids)
-- Read what exists under these ids: the state in force, its body as submitted and as revised, how it was banded, and its open item.
SELECT c.id AS content_pk, c.content_id, c.state, p.nonce, p.fingerprint,
  r.nonce AS revised_nonce, r.fingerprint AS revised_fingerprint, d.band,
  i.queue::text AS queue, i.id AS item_pk,
  EXISTS (SELECT FROM item f WHERE f.content_id = c.id AND f.source = 'case') AS is_case
FROM content c
LEFT JOIN payload p ON p.content_id = c.id AND p.revision = 1
LEFT JOIN payload r ON r.content_id = c.id AND r.revision = c.revision AND c.revision > 1
LEFT JOIN decision d ON d.id = c.applied_decision
LEFT JOIN item i ON i.content_id = c.id AND i.state <> 'resolved'
  AND i.source NOT IN ('second_look', 'golden')
WHERE c.tenant_id = :tenant_id AND c.content_id = ANY(:content_ids::text[]);

-- name: lock_chains(contents)
-- Lock contents in the order of their ids and read where their event chains end.
SELECT id AS content_pk, seq, chain_head, clock() AS at
FROM content WHERE id = ANY(:contents::bigint[]) ORDER BY id FOR NO KEY UPDATE;

-- name: find_resubmissions(contents, fingerprints)
-- Tell which of these other bodies were recorded before, by the fingerprint in the event.
SELECT a.content_pk, a.fingerprint
FROM unnest(:contents::bigint[], :fingerprints::text[]) AS a (content_pk, fingerprint)
WHERE EXISTS (
  SELECT FROM event e
  WHERE e.content_id = a.content_pk AND e.type = 'content.resubmitted'
    AND position(convert_to(a.fingerprint, 'UTF8') IN e.canonical) > 0);

-- name: read_decision(tenant_id, content_id)^
-- Read the state in force of one content, the decision behind it with the scores of its time, and the one that waits to take effect.
SELECT c.content_id, c.state, c.seq, c.model_version, c.policy_version,
  d.id AS decision_pk, d.kind, d.actor, d.verdict, d.outcome, d.reason::text AS reason, d.band,
  coalesce(d.risk_score, CASE WHEN NOT EXISTS (
    SELECT FROM score s WHERE s.content_id = c.id AND s.mode = 'acting' AND s.id > coalesce(seen.id, 0))
    THEN c.risk_score END)::text AS risk_score, d.explanation::text AS explanation,
  d.policy_version AS decision_policy_version, d.model_version AS decision_model_version,
  c.decided_at, c.withdrawn_at,
  (SELECT jsonb_object_agg(l.key, l.value)::text FROM jsonb_each_text(seen.labels) AS l) AS labels,
  r.id AS recorded_pk, r.kind AS recorded_kind, r.verdict AS recorded_verdict,
  r.outcome AS recorded_outcome, r.recorded_at, r.apply_after
FROM content c
LEFT JOIN decision d ON d.id = c.applied_decision
LEFT JOIN decision r ON r.id = c.head_decision
  AND NOT EXISTS (SELECT FROM applied a WHERE a.decision_id = r.id)
LEFT JOIN applied f ON f.decision_id = d.id
LEFT JOIN LATERAL (
  -- What the engine decides takes effect at once, in the transaction that stores its scores.
  SELECT s.id, s.labels FROM score s
  WHERE s.content_id = c.id AND s.mode = 'acting' AND s.received_at
    <= coalesce(CASE d.kind WHEN 'automatic' THEN f.at ELSE d.recorded_at END, 'infinity')
  ORDER BY s.id DESC LIMIT 1) seen ON true
WHERE c.tenant_id = :tenant_id AND c.content_id = :content_id;
