-- Taking effect: each decision once, in the order of its chain.

-- name: lock_due(limit)
-- Lock the contents whose decisions are due, the oldest of each only, passing over those that somebody works on; the decision's own row is taken by `take_pending`.
SELECT p.decision_id AS decision_pk, p.attempts, n.id AS content_pk, (SELECT name::text FROM tenant WHERE id = n.tenant_id) AS tenant, n.content_id, n.state AS content_state, n.head_decision, n.applied_decision, n.actor AS content_actor, n.seq, n.chain_head,
  d.actor, d.verdict, d.outcome, d.outcome_value::text AS outcome_value, d.reason::text AS reason, d.principal_id, d.item_id AS item_pk, d.supersedes,
  d.policy_version, d.model_version, (SELECT clock()) AS now
FROM pending_apply p
JOIN content n ON n.id = p.content_id
JOIN decision d ON d.id = p.decision_id
WHERE p.dead_at IS NULL AND p.next_try_at <= (SELECT clock())
  AND NOT EXISTS (SELECT FROM pending_apply o WHERE o.content_id = p.content_id AND o.decision_id < p.decision_id AND o.dead_at IS NULL OFFSET 0)
ORDER BY p.next_try_at, p.decision_id LIMIT :limit
FOR UPDATE OF n SKIP LOCKED;

-- name: find_open_rounds(content_ids)
-- Tell which of these locked contents are before people again, and why; asked once they are locked, so that no round that opened meanwhile is missed.
SELECT content_id AS content_pk, source FROM item
WHERE content_id = ANY (:content_ids::bigint[]) AND state <> 'resolved' AND source NOT IN ('second_look', 'golden');

-- name: take_pending(decision_ids)
-- Take decisions out of the line; one that another process took in the meantime is not returned.
DELETE FROM pending_apply WHERE decision_id = ANY (:decision_ids::bigint[]) RETURNING decision_id AS decision_pk;

-- name: mark_applied(decision_ids, results)!
-- Write down, once and for ever, what became of each decision.
INSERT INTO applied (decision_id, result) SELECT * FROM unnest(:decision_ids::bigint[], :results::text[]);

-- name: advance_contents(content_ids, states, actors, applied_decisions, head_decisions, seqs, chain_heads, decided)!
-- Move contents to the state that now holds and to the end of their event chains; `decided` says whether an outcome took effect.
UPDATE content n SET state = t.state, actor = t.actor, applied_decision = t.applied_decision, head_decision = t.head_decision,
  seq = t.seq, chain_head = t.chain_head, updated_at = clock(), decided_at = CASE WHEN t.decided THEN clock() ELSE n.decided_at END
FROM unnest(:content_ids::bigint[], :states::text[], :actors::text[], :applied_decisions::bigint[], :head_decisions::bigint[], :seqs::bigint[],
  :chain_heads::bytea[], :decided::boolean[])
  AS t (id, state, actor, applied_decision, head_decision, seq, chain_head, decided)
WHERE n.id = t.id;

-- name: advance_trail(content_id, seq, chain_head)!
-- Move a content to the end of its event chain when nothing else changed.
UPDATE content SET seq = :seq, chain_head = :chain_head, updated_at = clock() WHERE id = :content_id;

-- name: insert_outbox(decision_ids, content_ids, kinds, keys, payloads)!
-- Queue what leaves the house, under keys that never change.
INSERT INTO outbox (decision_id, content_id, kind, key, payload)
SELECT * FROM unnest(:decision_ids::bigint[], :content_ids::bigint[], :kinds::text[], :keys::text[], :payloads::bytea[]);

-- name: open_next_round(item_id, source)^
-- Give an escalated item its next round, which shows the newest evidence, boosted, first enqueued when its first round was, in the escalation queue of its queue, or of what took its queue's place.
INSERT INTO item (tenant_id, content_id, queue, round, source, severity, base, rank, first_enqueued_at, sla_from, evidence_revision, escalated_at)
SELECT i.tenant_id, i.content_id, coalesce(q.escalation_queue, q.name), i.round + 1, :source, i.severity,
  i.base + q.escalation_boost, i.rank + q.escalation_boost, i.first_enqueued_at, coalesce(i.sla_from, i.first_enqueued_at),
  (SELECT max(e.revision) FROM evidence e WHERE e.content_id = i.content_id), clock()
FROM item i JOIN queue own ON own.tenant_id = i.tenant_id AND own.name = i.queue
JOIN queue q ON q.tenant_id = own.tenant_id AND q.name = coalesce(own.successor, own.name)
WHERE i.id = :item_id
RETURNING tenant_id, id AS item_pk, queue::text AS queue, round;

-- name: put_off(decision_id, wait, last_error, dead)!
-- Try a decision again later, or give up on it where leads can see it.
UPDATE pending_apply SET attempts = attempts + 1, next_try_at = clock() + :wait, last_error = :last_error,
  dead_at = CASE WHEN :dead::boolean THEN clock() END
WHERE decision_id = :decision_id;
