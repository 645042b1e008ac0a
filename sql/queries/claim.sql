-- Claims: who gets the next item, and what a person holds.
-- The anti-joins end in OFFSET 0 so that they stay look-ups on the ordered walk and are never turned into a join over the queue.
-- What somebody holds is looked up behind an OFFSET 0 by his id alone (in holds_lease): where statistics were taken while
-- nothing was leased, each index of leased items looks like one of no rows, and the planner would walk all leases.

-- name: claim_next(tenant_id, queue, principal_id, claim_key)^
-- Give run-out leases back and lease the best-ranked item that this person may take, under one reading of the clock; nobody who holds a live lease is given a second, and what somebody let lapse is not offered to him again for a while.
WITH q AS MATERIALIZED (
  SELECT clock() AS now, lease_ttl, abandon_threshold, release_cooldown, sla
  FROM queue WHERE tenant_id = :tenant_id AND name = :queue),
held AS MATERIALIZED (SELECT FROM q WHERE holds_lease(:principal_id, NULL, q.now)),
lapsed AS MATERIALIZED (
  SELECT id, content_id, owner, rank, lease_epoch, stuck_at,
    CASE WHEN owner = ANY (left_by) THEN left_by ELSE left_by || owner END AS left_by
  FROM item
  WHERE tenant_id = :tenant_id AND queue = :queue AND state = 'leased' AND lease_expires <= (SELECT now FROM q)
  ORDER BY lease_expires LIMIT 50 FOR UPDATE SKIP LOCKED),
fresh AS MATERIALIZED (
  SELECT i.id, i.rank FROM item i
  WHERE i.tenant_id = :tenant_id AND i.queue = :queue AND i.state = 'queued' AND NOT i.abandoned
    AND NOT EXISTS (SELECT FROM held)
    AND NOT EXISTS (SELECT FROM exclusion e WHERE e.item_id = i.id AND e.principal_id = :principal_id
      AND (e.until IS NULL OR e.until > (SELECT now FROM q)) OFFSET 0)
    AND NOT EXISTS (SELECT FROM exclusion e WHERE e.content_id = i.content_id AND e.principal_id = :principal_id
      AND (e.until IS NULL OR e.until > (SELECT now FROM q)) OFFSET 0)
  ORDER BY i.rank DESC, i.id LIMIT 1 FOR UPDATE OF i SKIP LOCKED),
again AS MATERIALIZED (
  SELECT l.id, l.rank FROM lapsed l, q
  WHERE (cardinality(l.left_by) < q.abandon_threshold OR l.stuck_at IS NOT NULL)
    AND l.owner <> :principal_id
    AND NOT EXISTS (SELECT FROM held)
    AND NOT EXISTS (SELECT FROM exclusion e WHERE e.item_id = l.id AND e.principal_id = :principal_id
      AND (e.until IS NULL OR e.until > q.now) OFFSET 0)
    AND NOT EXISTS (SELECT FROM exclusion e WHERE e.content_id = l.content_id AND e.principal_id = :principal_id
      AND (e.until IS NULL OR e.until > q.now) OFFSET 0)),
picked AS MATERIALIZED (
  SELECT c.id FROM (SELECT id, rank FROM fresh UNION ALL SELECT id, rank FROM again) c
  ORDER BY c.rank DESC, c.id LIMIT 1),
touched AS MATERIALIZED (
  SELECT t.id, p.id IS NOT NULL AS granted, l.left_by
  FROM (SELECT id FROM lapsed UNION SELECT id FROM picked) t
  LEFT JOIN picked p ON p.id = t.id
  LEFT JOIN lapsed l ON l.id = t.id),
changed AS (
  UPDATE item i SET
    state = CASE WHEN t.granted THEN 'leased' ELSE 'queued' END,
    owner = CASE WHEN t.granted THEN :principal_id ELSE i.owner END,
    fence_token = CASE WHEN t.granted THEN gen_random_uuid() ELSE i.fence_token END,
    claim_key = CASE WHEN t.granted THEN :claim_key::uuid END,
    leased_at = CASE WHEN t.granted THEN q.now ELSE i.leased_at END,
    lease_expires = CASE WHEN t.granted THEN q.now + q.lease_ttl ELSE NULL END,
    lease_epoch = i.lease_epoch + CASE WHEN t.granted THEN 1 ELSE 0 END,
    lease_count = i.lease_count + CASE WHEN t.granted THEN 1 ELSE 0 END,
    left_by = coalesce(t.left_by, i.left_by),
    abandoned = NOT t.granted AND i.stuck_at IS NULL AND cardinality(coalesce(t.left_by, i.left_by)) >= q.abandon_threshold
  FROM touched t, q
  WHERE i.id = t.id
  RETURNING i.id, i.content_id, i.queue, i.round, i.source, i.severity, i.base, i.rank, i.fence_token, i.lease_expires, i.lease_epoch,
    i.lease_count, cardinality(i.left_by) AS left_by, i.first_enqueued_at, i.evidence_revision, t.granted),
logged AS (
  INSERT INTO lease_log (item_id, lease_epoch, happening, principal_id, token, expires_at)
  SELECT l.id, l.lease_epoch, 'lapse', l.owner, NULL::uuid, NULL::timestamptz FROM lapsed l
  UNION ALL
  SELECT c.id, c.lease_epoch, 'grant', :principal_id, c.fence_token, c.lease_expires FROM changed c WHERE c.granted),
kept_away AS (
  INSERT INTO exclusion (item_id, principal_id, until, why) SELECT l.id, l.owner, q.now + q.release_cooldown, 'lapsed' FROM lapsed l, q)
SELECT c.id AS item_pk, n.content_id, c.queue::text AS queue, c.round, c.source, c.fence_token, NULL::uuid AS claim_key,
  (extract(epoch FROM c.lease_expires - q.now) * 1000)::bigint AS expires_in_ms,
  (extract(epoch FROM q.lease_ttl) * 1000)::bigint AS ttl_ms,
  c.lease_count, c.left_by, q.abandon_threshold, c.rank, c.base, c.severity, n.author_followers,
  (extract(epoch FROM q.now - c.first_enqueued_at) * 1000)::bigint AS waited_ms,
  (extract(epoch FROM q.sla) * 1000)::bigint AS sla_ms,
  convert_from(e.bytes, 'UTF8') AS evidence, encode(e.hash, 'hex') AS evidence_hash
FROM changed c CROSS JOIN q
JOIN content n ON n.id = c.content_id
JOIN evidence e ON e.content_id = c.content_id AND e.revision = c.evidence_revision
WHERE c.granted;

-- name: forget_claim(principal_id, claim_key)!
-- Take a claim key off a lease that has run out, so that the same claim sent again is granted anew.
UPDATE item SET claim_key = NULL
WHERE owner = :principal_id AND claim_key = :claim_key AND state = 'leased' AND lease_expires <= (SELECT clock());

-- name: find_my_lease(principal_id)^
-- Return what this person holds, a lapsed lease that nobody else has taken included; a live one first, then the newest.
WITH t AS MATERIALIZED (SELECT clock() AS now)
SELECT i.id AS item_pk, n.content_id, i.queue::text AS queue, i.round, i.source, i.fence_token, i.claim_key,
  coalesce((extract(epoch FROM i.lease_expires - t.now) * 1000)::bigint, 0) AS expires_in_ms,
  (extract(epoch FROM q.lease_ttl) * 1000)::bigint AS ttl_ms,
  i.lease_count, cardinality(i.left_by) AS left_by, q.abandon_threshold, i.rank, i.base, i.severity, n.author_followers,
  (extract(epoch FROM t.now - i.first_enqueued_at) * 1000)::bigint AS waited_ms,
  (extract(epoch FROM q.sla) * 1000)::bigint AS sla_ms,
  convert_from(e.bytes, 'UTF8') AS evidence, encode(e.hash, 'hex') AS evidence_hash
FROM item i CROSS JOIN t
JOIN queue q ON q.tenant_id = i.tenant_id AND q.name = i.queue
JOIN content n ON n.id = i.content_id
JOIN evidence e ON e.content_id = i.content_id AND e.revision = i.evidence_revision
WHERE i.owner = :principal_id AND i.fence_token IS NOT NULL
ORDER BY (i.state = 'leased') DESC, i.lease_expires DESC NULLS LAST, i.leased_at DESC
LIMIT 1;

-- name: queue_figures(tenant_id, queue, principal_id)^
-- Count what a queue holds for this person, capped, so that "0 free, 1 held" is never shown as empty.
WITH t AS MATERIALIZED (SELECT clock() AS now)
SELECT q.name::text AS queue, q.title,
  (SELECT count(*) FROM (SELECT FROM item i WHERE i.tenant_id = q.tenant_id AND i.queue = q.name AND i.state = 'queued' AND NOT i.abandoned LIMIT 10000) f)
    + (SELECT count(*) FROM (SELECT FROM item i WHERE i.tenant_id = q.tenant_id AND i.queue = q.name AND i.state = 'leased' AND i.lease_expires <= t.now LIMIT 10000) l) AS free,
  (SELECT count(*) FROM item i WHERE i.tenant_id = q.tenant_id AND i.queue = q.name AND i.state = 'leased' AND i.lease_expires > t.now) AS held,
  (SELECT count(DISTINCT i.id) FROM exclusion e JOIN item i ON i.id = e.item_id OR i.content_id = e.content_id
    WHERE e.principal_id = :principal_id AND (e.until IS NULL OR e.until > t.now)
      AND i.tenant_id = q.tenant_id AND i.queue = q.name AND i.state = 'queued' AND NOT i.abandoned) AS not_for_you,
  (SELECT (extract(epoch FROM i.lease_expires - t.now) * 1000)::bigint FROM item i
    WHERE i.tenant_id = q.tenant_id AND i.queue = q.name AND i.state = 'leased' AND i.lease_expires > t.now ORDER BY i.lease_expires LIMIT 1) AS free_in_ms,
  (SELECT (extract(epoch FROM t.now - i.first_enqueued_at) * 1000)::bigint FROM item i
    WHERE i.tenant_id = q.tenant_id AND i.queue = q.name AND i.state IN ('queued', 'leased') ORDER BY i.first_enqueued_at LIMIT 1) AS oldest_ms,
  (extract(epoch FROM q.sla) * 1000)::bigint AS sla_ms,
  (extract(epoch FROM q.lease_ttl) * 1000)::bigint AS lease_ttl_ms,
  (extract(epoch FROM q.undo_window) * 1000)::bigint AS undo_window_ms
FROM queue q CROSS JOIN t
WHERE q.tenant_id = :tenant_id AND q.name = :queue;
