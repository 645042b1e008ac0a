-- Setting an item aside: until a date or new evidence, with a question to its producer.

-- name: lock_for_park(tenant_id, item_id, fence_token)^
-- Lock the item by its fence, then its content, and read what a parking is judged by: how often this round was parked, and for how long in all.
SELECT i.content_id AS content_pk, n.content_id, i.queue::text AS queue, i.owner, n.seq, n.chain_head, t.now, a.times AS parkings, a.rested
FROM item i
JOIN content n ON n.id = i.content_id
CROSS JOIN (SELECT clock() AS now OFFSET 0) t
CROSS JOIN LATERAL (
  SELECT count(*) FILTER (WHERE l.happening = 'park') AS times,
    make_interval(secs => coalesce(sum(extract(epoch FROM l.at) * CASE l.happening WHEN 'wake' THEN 1 ELSE -1 END), 0)::float8) AS rested
  FROM lease_log l WHERE l.item_id = i.id AND l.happening IN ('park', 'wake')) a
WHERE i.id = :item_id AND i.fence_token = :fence_token AND i.tenant_id = :tenant_id
FOR UPDATE OF i, n;

-- name: park_item(item_id, fence_token, principal_id, reason, text, now, wake_at)^
-- Set aside what this person holds and has not let run out, and write down what its producer is asked.
WITH parked AS (
  UPDATE item i SET state = 'parked', parked_at = :now, wake_at = :wake_at, owner = NULL, fence_token = NULL, claim_key = NULL, terminal = NULL,
    leased_at = NULL, lease_expires = NULL, lease_epoch = i.lease_epoch + 1
  WHERE i.id = :item_id AND i.fence_token = :fence_token AND i.owner IS NOT DISTINCT FROM :principal_id AND i.lease_expires > :now
  RETURNING i.id, i.content_id, i.lease_epoch - 1 AS lease_epoch),
logged AS (
  INSERT INTO lease_log (item_id, lease_epoch, happening, principal_id, reason, expires_at)
  SELECT id, lease_epoch, 'park', :principal_id, :reason::text, :wake_at FROM parked)
INSERT INTO question (item_id, content_id, principal_id, reason, text, wake_at)
SELECT id, content_id, :principal_id, :reason::text, :text::text, :wake_at FROM parked
RETURNING id AS question_pk;

-- name: tell_producer(question_id, content_id, kind, key, payload)!
-- Queue the question for its way out, under a key that never changes.
INSERT INTO outbox (question_id, content_id, kind, key, payload) VALUES (:question_id, :content_id, :kind, :key, :payload);

-- name: wake_due(limit)
-- Return the items whose time has come, in each queue the soonest first, to where their rank puts them; their SLA clock stood still meanwhile.
WITH t AS MATERIALIZED (SELECT clock() AS now),
due AS MATERIALIZED (
  SELECT d.id FROM t CROSS JOIN queue q CROSS JOIN LATERAL (
    SELECT i.id FROM item i
    WHERE i.tenant_id = q.tenant_id AND i.queue = q.name AND i.state = 'parked' AND i.wake_at <= t.now
    ORDER BY i.wake_at LIMIT :limit FOR UPDATE OF i SKIP LOCKED) d),
woken AS (
  UPDATE item i SET state = 'queued', parked_at = NULL, wake_at = NULL, sla_from = i.sla_from + (t.now - i.parked_at)
  FROM t WHERE i.id = ANY (ARRAY(SELECT id FROM due))
  RETURNING i.id, i.tenant_id, i.queue, i.lease_epoch),
logged AS (
  INSERT INTO lease_log (item_id, lease_epoch, happening) SELECT id, lease_epoch, 'wake' FROM woken)
SELECT id AS item_pk, tenant_id, queue::text AS queue FROM woken;

-- name: wake_items(tenant_id, item_ids, by_principal)
-- Bring parked items back before their time on a lead's word; their SLA clock stood still meanwhile.
WITH t AS MATERIALIZED (SELECT clock() AS now),
woken AS (
  UPDATE item i SET state = 'queued', parked_at = NULL, wake_at = NULL, sla_from = sla_from + (t.now - parked_at)
  FROM t WHERE i.tenant_id = :tenant_id AND i.id = ANY (:item_ids::bigint[]) AND i.state = 'parked'
  RETURNING i.id, i.tenant_id, i.queue, i.lease_epoch),
logged AS (
  INSERT INTO lease_log (item_id, lease_epoch, happening, by_principal) SELECT id, lease_epoch, 'wake', :by_principal FROM woken)
SELECT id AS item_pk, tenant_id, queue::text AS queue FROM woken;

-- name: questions_of(content_id, before, limit)
-- Read what was asked about a content before this question, newest first; open is what its item is still set aside for.
SELECT q.id AS question_pk, q.item_id AS item_pk, q.reason, q.text, q.asked_at, q.wake_at,
  i.state = 'parked' AND NOT EXISTS (SELECT FROM question l WHERE l.item_id = q.item_id AND l.id > q.id) AS open
FROM question q JOIN item i ON i.id = q.item_id
WHERE q.content_id = :content_id AND q.id < :before
ORDER BY q.id DESC LIMIT :limit;
