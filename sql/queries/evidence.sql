-- The evidence of a content: built, revised by its producer, and read again by whoever decided on an old one.

-- name: read_submitted(tenant_id, content_id)^
-- Read what of a content its producer said once, and no revision changes; nothing is locked.
SELECT c.kind, c.lang, c.author_id, c.author_followers, c.created_at,
  (SELECT p.body ->> 'queue' FROM payload p WHERE p.content_id = c.id AND p.revision = c.revision) AS asked_queue,
  EXISTS (SELECT FROM item f WHERE f.content_id = c.id AND f.source = 'case') AS is_case
FROM content c WHERE c.tenant_id = :tenant_id AND c.content_id = :content_id;

-- name: read_to_revise(content_id)^
-- Read, once item and content are locked and under one reading of the clock, what else decides where new evidence leads.
SELECT t.now, c.revision, p.nonce, p.fingerprint, p.erased_at IS NOT NULL AS erased, h.outcome AS head_outcome,
  h.principal_id IS NOT NULL AS decided_by_person,
  coalesce(h.verdict = 'escalate' AND NOT EXISTS (SELECT FROM applied a WHERE a.decision_id = h.id OFFSET 0), false) AS escalating,
  i.owner, (SELECT min(f.first_enqueued_at) FROM item f WHERE f.content_id = c.id) AS first_enqueued_at
FROM content c
CROSS JOIN (SELECT clock() AS now OFFSET 0) t
LEFT JOIN payload p ON p.content_id = c.id AND p.revision = c.revision
LEFT JOIN decision h ON h.id = c.head_decision
LEFT JOIN item i ON i.content_id = c.id AND i.state <> 'resolved' AND i.source NOT IN ('second_look', 'golden')
WHERE c.id = :content_id;

-- name: insert_revision(content_id, revision, body, nonce, fingerprint, labels, model_version, risk_score, evidence_hash, evidence, policy_version)!
-- Store a new revision of a content: its body, its scores if it has any, and the evidence that is shown from now on.
WITH stored AS (
  INSERT INTO payload (content_id, revision, body, nonce, fingerprint) VALUES (:content_id, :revision, :body::jsonb, :nonce, :fingerprint)),
scored AS (
  INSERT INTO score (content_id, scorer, model_version, labels, mode)
  SELECT :content_id, 'producer', :model_version::text, :labels::jsonb, 'acting' WHERE :labels::jsonb IS NOT NULL),
shown AS (
  INSERT INTO evidence (content_id, revision, hash, bytes, policy_version)
  VALUES (:content_id, :revision, :evidence_hash, :evidence, :policy_version))
UPDATE content SET revision = :revision, model_version = :model_version::text, risk_score = :risk_score WHERE id = :content_id;

-- name: show_revision(item_id, revision, severity, lift, now)!
-- Let an open item show another revision: its token stays, a parked one wakes with its SLA clock, and only what nobody holds is ranked anew.
WITH woken AS (
  INSERT INTO lease_log (item_id, lease_epoch, happening)
  SELECT i.id, i.lease_epoch, 'wake' FROM (SELECT * FROM item WHERE id = :item_id OFFSET 0) i WHERE i.state = 'parked')
UPDATE item SET evidence_revision = :revision,
  severity = CASE WHEN state = 'leased' THEN severity ELSE :severity END,
  base = base + CASE WHEN state = 'leased' THEN 0 ELSE :lift::float8 END,
  rank = rank + CASE WHEN state = 'leased' THEN 0 ELSE :lift::float8 END,
  sla_from = CASE WHEN state = 'parked' THEN sla_from + (:now::timestamptz - parked_at) ELSE sla_from END,
  state = CASE WHEN state = 'parked' THEN 'queued' ELSE state END, parked_at = NULL, wake_at = NULL
WHERE id = :item_id;

-- name: read_to_show(content_id)^
-- Read what evidence of a content is built from: its newest body, its newest acting score, its attachments; and whether there is evidence already.
SELECT c.content_id, c.kind, c.lang, c.author_id, c.author_followers, c.created_at, c.model_version, c.revision, p.body::text AS body,
  EXISTS (SELECT FROM evidence e WHERE e.content_id = c.id AND e.revision = c.revision) AS is_shown,
  EXISTS (SELECT FROM item f WHERE f.content_id = c.id AND f.source = 'case') AS is_case,
  (SELECT jsonb_object_agg(l.key, l.value)::text
   FROM (SELECT s.labels FROM score s WHERE s.content_id = c.id AND s.mode = 'acting' ORDER BY s.id DESC LIMIT 1) AS newest,
     jsonb_each_text(newest.labels) AS l) AS labels,
  ARRAY(SELECT encode(a.sha256, 'hex') FROM attachment a WHERE a.content_id = c.id AND a.revision = c.revision ORDER BY a.place) AS attachments
FROM content c LEFT JOIN payload p ON p.content_id = c.id AND p.revision = c.revision
WHERE c.id = :content_id;

-- name: insert_evidence(content_id, revision, evidence_hash, evidence, policy_version)!
-- Store the evidence of a content that had none.
INSERT INTO evidence (content_id, revision, hash, bytes, policy_version) VALUES (:content_id, :revision, :evidence_hash, :evidence, :policy_version);

-- name: read_two_revisions(content_id, before_hash, revision)^
-- Read what is shown now beside what somebody decided on, which is not there if that hash was never this content's.
SELECT encode(n.hash, 'hex') AS after_hash, n.bytes AS after_bytes, o.revision AS before_revision, o.bytes AS before_bytes
FROM evidence n
LEFT JOIN evidence o ON o.content_id = n.content_id AND o.hash = :before_hash
WHERE n.content_id = :content_id AND n.revision = :revision;
