-- The fence, the decision and its answer.

-- name: find_verdict_reply(principal_id, verdict_token)^
-- Find the answer that this person's verdict token got.
SELECT r.fingerprint, r.decision_id, r.answer, s.id AS superseded_by, i.id AS item_pk, i.queue::text AS queue, n.id AS content_pk, n.content_id
FROM verdict_reply r
JOIN decision d ON d.id = r.decision_id
JOIN item i ON i.id = d.item_id
JOIN content n ON n.id = d.content_id
LEFT JOIN decision s ON s.supersedes = r.decision_id
WHERE r.principal_id = :principal_id AND r.verdict_token = :verdict_token;

-- name: lock_for_verdict(tenant_id, item_id, fence_token, principal_id, verdict_token)^
-- Unless this person's verdict token has an answer already, lock the item by its fence, then its content, and only then read the clock and all that a verdict is judged by; `whole` is false if some of it was committed while this waited, so that another look is needed; no state in the condition, so that the primary key is the only way in.
WITH locked AS MATERIALIZED (
  SELECT i.id, i.tenant_id, i.content_id AS content_pk, n.content_id, i.queue, i.source, i.owner, i.evidence_revision, i.lease_expires,
    n.head_decision, n.seq, n.chain_head, n.model_version
  FROM item i JOIN content n ON n.id = i.content_id
  WHERE i.id = :item_id AND i.fence_token = :fence_token AND i.tenant_id = :tenant_id
    AND NOT EXISTS (SELECT FROM verdict_reply r WHERE r.principal_id = :principal_id AND r.verdict_token = :verdict_token)
  FOR UPDATE OF i, n)
SELECT l.id AS item_pk, l.content_pk, l.content_id, l.queue::text AS queue, l.source, l.owner, l.evidence_revision,
  encode(e.hash, 'hex') AS evidence_hash, l.head_decision, h.outcome AS head_outcome, l.seq, l.chain_head, l.model_version,
  q.undo_window, t.now,
  greatest(t.now - coalesce(l.lease_expires,
    (SELECT g.expires_at FROM lease_log g WHERE g.item_id = l.id AND g.expires_at IS NOT NULL ORDER BY g.id DESC LIMIT 1)), interval '0') AS late_by,
  e.revision IS NOT NULL AND q.name IS NOT NULL AND (l.head_decision IS NULL OR h.id IS NOT NULL) AS whole
FROM locked l
CROSS JOIN LATERAL (SELECT clock() AS now WHERE l.id IS NOT NULL OFFSET 0) t
LEFT JOIN evidence e ON e.content_id = l.content_pk AND e.revision = l.evidence_revision
LEFT JOIN queue q ON q.tenant_id = l.tenant_id AND q.name = l.queue
LEFT JOIN decision h ON h.id = l.head_decision;

-- name: decide_item(item_id, fence_token, tenant_id, content_id, principal_id, kind, actor, verdict, outcome, reason, evidence_hash, verdict_token, supersedes, apply_after, late_by, seen, dwell, renderer, policy_version, model_version, note)^
-- Resolve the item and write the decision that its lease led to, with the note beside it, as one statement.
WITH closed AS (
  UPDATE item SET state = 'resolved', resolution = 'decided', resolved_at = clock(), owner = NULL, fence_token = NULL, claim_key = NULL,
    terminal = NULL, lease_expires = NULL
  WHERE id = :item_id AND fence_token = :fence_token
  RETURNING id),
noted AS (
  INSERT INTO note (item_id, principal_id, text) SELECT id, :principal_id, :note::text FROM closed WHERE :note::text IS NOT NULL)
INSERT INTO decision (tenant_id, content_id, item_id, kind, actor, principal_id, verdict, outcome, reason, evidence_hash, lease_token, verdict_token,
  supersedes, apply_after, late_by, seen, dwell, renderer, policy_version, model_version)
SELECT :tenant_id, :content_id, id, :kind, :actor, :principal_id, :verdict, :outcome, :reason, :evidence_hash, :fence_token, :verdict_token,
  :supersedes, :apply_after, :late_by, :seen, :dwell, :renderer, :policy_version, :model_version
FROM closed
RETURNING id AS decision_pk, recorded_at;

-- name: record_verdict(principal_id, verdict_token, fingerprint, decision_id, answer, content_id, apply_after, seq, type, prev_hash, canonical, hash)!
-- Keep the answer for every retry, put the decision in line for its effect, tell it in the trail, and put it at the head of its content's chain.
WITH replied AS (
  INSERT INTO verdict_reply (principal_id, verdict_token, fingerprint, decision_id, answer)
  VALUES (:principal_id, :verdict_token, :fingerprint, :decision_id, :answer)),
lined_up AS (
  INSERT INTO pending_apply (decision_id, content_id, next_try_at) VALUES (:decision_id, :content_id, :apply_after)),
told AS (
  INSERT INTO event (content_id, seq, type, prev_hash, canonical, hash) VALUES (:content_id, :seq, :type, :prev_hash, :canonical, :hash))
UPDATE content SET head_decision = :decision_id, seq = :seq, chain_head = :hash, updated_at = clock() WHERE id = :content_id;
