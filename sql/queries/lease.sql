-- What happens to a lease between its grant and its end, and what is true of an item whose lease turned out stale.
-- IS NOT DISTINCT FROM is no way into an index: the fence is looked up by the primary key alone, whatever the statistics.

-- name: renew_lease(item_id, fence_token, principal_id)^
-- Give the holder more time up to the queue's longest hold; a lapsed lease that nobody has taken becomes live again, unless he holds another by now.
WITH held AS MATERIALIZED (
  SELECT i.id, t.now, t.now + q.lease_ttl AS wanted,
    CASE WHEN holds_lease(:principal_id, i.id, t.now) THEN t.now ELSE i.leased_at + q.max_hold END AS latest
  FROM item i JOIN queue q ON q.tenant_id = i.tenant_id AND q.name = i.queue
  CROSS JOIN (SELECT clock() AS now OFFSET 0) t
  WHERE i.id = :item_id AND i.fence_token = :fence_token AND i.owner IS NOT DISTINCT FROM :principal_id
  FOR UPDATE OF i),
renewed AS (
  UPDATE item i SET
    state = CASE WHEN h.latest > h.now THEN 'leased' ELSE i.state END,
    lease_expires = CASE WHEN h.latest > h.now THEN least(h.wanted, h.latest) ELSE i.lease_expires END
  FROM held h WHERE i.id = h.id
  RETURNING i.id, i.queue, i.lease_epoch, i.lease_expires, h.now, h.wanted > h.latest AS capped, h.latest > h.now AS moved),
logged AS (
  INSERT INTO lease_log (item_id, lease_epoch, happening, principal_id, expires_at)
  SELECT id, lease_epoch, 'renew', :principal_id, lease_expires FROM renewed WHERE moved)
SELECT coalesce((extract(epoch FROM lease_expires - now) * 1000)::bigint, 0) AS expires_in_ms, capped, queue::text AS queue FROM renewed;

-- name: release_lease(item_id, fence_token, principal_id, reason, counts)^
-- Give an item back undecided: the token rotates, the reason is logged, the person is not offered it again for a while, and a release that counts brings it nearer to escalation.
WITH held AS MATERIALIZED (
  SELECT i.id, i.lease_epoch, q.abandon_threshold, t.now + q.release_cooldown AS until,
    CASE WHEN :counts::boolean AND NOT (i.owner = ANY (i.left_by)) THEN i.left_by || i.owner ELSE i.left_by END AS left_by
  FROM item i JOIN queue q ON q.tenant_id = i.tenant_id AND q.name = i.queue
  CROSS JOIN (SELECT clock() AS now OFFSET 0) t
  WHERE i.id = :item_id AND i.fence_token = :fence_token AND i.owner IS NOT DISTINCT FROM :principal_id
  FOR UPDATE OF i),
released AS (
  UPDATE item i SET state = 'queued', owner = NULL, fence_token = NULL, claim_key = NULL, terminal = NULL, leased_at = NULL, lease_expires = NULL,
    lease_epoch = i.lease_epoch + 1, left_by = h.left_by, abandoned = i.stuck_at IS NULL AND cardinality(h.left_by) >= h.abandon_threshold
  FROM held h WHERE i.id = h.id
  RETURNING i.id, i.tenant_id, i.queue),
logged AS (
  INSERT INTO lease_log (item_id, lease_epoch, happening, principal_id, reason)
  SELECT id, lease_epoch, 'release', :principal_id, :reason::text FROM held),
kept_away AS (
  INSERT INTO exclusion (item_id, principal_id, until, why) SELECT id, :principal_id, until, 'released' FROM held)
SELECT id AS item_pk, tenant_id, queue::text AS queue FROM released;

-- name: own_end(item_id, fence_token, principal_id, happening)^
-- Tell whether this person himself ended the lease of this token in this way before, and until when he set the item aside.
SELECT e.at, e.expires_at FROM lease_log g
JOIN lease_log e ON e.item_id = g.item_id AND e.lease_epoch = g.lease_epoch AND e.principal_id = g.principal_id AND e.happening = :happening
WHERE g.token = :fence_token AND g.item_id = :item_id AND g.principal_id = :principal_id;

-- name: take_over_lease(principal_id, claim_key, terminal)^
-- Give what a person holds to another of his terminals under a new token, with the time that a renewal would give; the same claim key again changes nothing, nor does a lease that can't live again: its token is good until somebody else has the item.
WITH t AS MATERIALIZED (SELECT clock() AS now),
mine AS MATERIALIZED (
  SELECT i.id FROM item i WHERE i.owner = :principal_id AND i.fence_token IS NOT NULL
  ORDER BY (i.state = 'leased') DESC, i.lease_expires DESC NULLS LAST, i.leased_at DESC LIMIT 1),
held AS MATERIALIZED (
  SELECT i.id, i.queue, i.state, i.lease_expires, i.claim_key IS NOT DISTINCT FROM :claim_key::uuid AS again, t.now,
    least(t.now + q.lease_ttl, CASE WHEN holds_lease(:principal_id, i.id, t.now) THEN t.now ELSE i.leased_at + q.max_hold END) AS until
  FROM mine m JOIN item i ON i.id = m.id
  JOIN queue q ON q.tenant_id = i.tenant_id AND q.name = i.queue
  CROSS JOIN t
  WHERE i.owner IS NOT DISTINCT FROM :principal_id
  FOR UPDATE OF i),
taken AS (
  UPDATE item i SET fence_token = gen_random_uuid(), lease_epoch = i.lease_epoch + 1, claim_key = :claim_key::uuid, terminal = :terminal::text,
    state = CASE WHEN h.until > h.now THEN 'leased' ELSE i.state END,
    lease_expires = CASE WHEN h.until > h.now THEN h.until ELSE i.lease_expires END
  FROM held h WHERE i.id = h.id AND NOT h.again AND greatest(h.until, h.lease_expires) > h.now
  RETURNING i.id, i.lease_epoch, i.fence_token, i.lease_expires),
logged AS (
  INSERT INTO lease_log (item_id, lease_epoch, happening, principal_id, token, expires_at)
  SELECT id, lease_epoch, 'take_over', :principal_id, fence_token, lease_expires FROM taken)
SELECT h.id AS item_pk, h.queue::text AS queue, EXISTS (SELECT FROM taken) AS rotated, h.state = 'queued' AS was_waiting FROM held h;

-- name: lock_for_take_back(tenant_id, item_id)^
-- Lock an item for a lead and read whose it is now.
SELECT i.id AS item_pk, i.queue::text AS queue, i.state, i.resolution, i.resolved_at, i.parked_at, i.leased_at, p.name AS holder,
  i.state = 'leased' AND i.lease_expires > (SELECT clock()) AS held
FROM item i LEFT JOIN principal p ON p.id = i.owner
WHERE i.id = :item_id AND i.tenant_id = :tenant_id
FOR UPDATE OF i;

-- name: take_back_lease(item_id, lease_epoch, by_principal, reason)^
-- End the lease of this epoch, run out or not, on a lead's word; its holder is not offered the item for a while, which does not count as leaving it undecided.
WITH held AS MATERIALIZED (
  SELECT i.id, i.queue, i.owner, i.lease_epoch, t.now + q.release_cooldown AS until
  FROM item i JOIN queue q ON q.tenant_id = i.tenant_id AND q.name = i.queue
  CROSS JOIN (SELECT clock() AS now OFFSET 0) t
  WHERE i.id = :item_id AND i.lease_epoch = :lease_epoch AND i.fence_token IS NOT NULL
  FOR UPDATE OF i),
taken AS (
  UPDATE item i SET state = 'queued', owner = NULL, fence_token = NULL, claim_key = NULL, terminal = NULL, leased_at = NULL, lease_expires = NULL,
    lease_epoch = i.lease_epoch + 1
  FROM held h WHERE i.id = h.id),
logged AS (
  INSERT INTO lease_log (item_id, lease_epoch, happening, principal_id, by_principal, reason)
  SELECT id, lease_epoch, 'take_back', owner, :by_principal, :reason::text FROM held),
kept_away AS (
  INSERT INTO exclusion (item_id, principal_id, until, why) SELECT id, owner, until, 'released' FROM held)
SELECT h.owner AS holder_pk, p.name AS holder, h.queue::text AS queue FROM held h JOIN principal p ON p.id = h.owner;

-- name: taken_back_before(item_id, lease_epoch)^
-- Find from whom the lease of this epoch was taken back already.
SELECT l.principal_id AS holder_pk, p.name AS holder, i.queue::text AS queue
FROM lease_log l JOIN principal p ON p.id = l.principal_id JOIN item i ON i.id = l.item_id
WHERE l.item_id = :item_id AND l.lease_epoch = :lease_epoch AND l.happening = 'take_back';

-- name: item_now(tenant_id, item_id, principal_id, fence_token)^
-- Say what is true of an item for somebody who shows a token of it: when that was his and how it ended, and whether he could have the item now.
WITH t AS MATERIALIZED (SELECT clock() AS now),
g AS MATERIALIZED (
  SELECT l.lease_epoch, l.at FROM lease_log l WHERE l.token = :fence_token AND l.item_id = :item_id AND l.principal_id = :principal_id)
SELECT i.state, i.queue::text AS queue, i.resolution, i.resolved_at, i.parked_at, i.escalated_at, i.moved_at, i.leased_at, p.name AS holder,
  i.owner <> :principal_id AND i.state = 'leased' AND i.lease_expires > t.now AS held_by_other,
  (SELECT l.at FROM lease_log l WHERE l.token = i.fence_token AND i.owner = :principal_id AND i.fence_token <> :fence_token) AS mine_since,
  g.at AS granted_at, e.happening AS ended_by, e.at AS ended_at,
  q.disabled_at IS NULL
  AND NOT EXISTS (SELECT FROM (SELECT id, state, lease_expires FROM item WHERE owner = :principal_id OFFSET 0) o
    WHERE o.id <> i.id AND o.state = 'leased' AND o.lease_expires > t.now)
  AND (i.fence_token = :fence_token AND i.leased_at + q.max_hold > t.now IS TRUE
    OR (i.state = 'queued' AND NOT i.abandoned
        OR i.state = 'leased' AND i.lease_expires <= t.now AND i.owner <> :principal_id
          AND (i.stuck_at IS NOT NULL OR cardinality(CASE WHEN i.owner = ANY (i.left_by) THEN i.left_by ELSE i.left_by || i.owner END) < q.abandon_threshold))
      AND NOT EXISTS (SELECT FROM exclusion x WHERE x.item_id = i.id AND x.principal_id = :principal_id AND (x.until IS NULL OR x.until > t.now) OFFSET 0)
      AND NOT EXISTS (SELECT FROM exclusion x WHERE x.content_id = i.content_id AND x.principal_id = :principal_id AND (x.until IS NULL OR x.until > t.now) OFFSET 0)
  ) AS can_have
FROM item i JOIN queue q ON q.tenant_id = i.tenant_id AND q.name = i.queue
CROSS JOIN t
LEFT JOIN principal p ON p.id = i.owner
LEFT JOIN g ON true
LEFT JOIN LATERAL (
  SELECT l.happening, l.at FROM lease_log l
  WHERE l.item_id = i.id AND l.lease_epoch = g.lease_epoch AND l.happening NOT IN ('grant', 'take_over', 'renew')
  ORDER BY l.id DESC LIMIT 1) e ON true
WHERE i.id = :item_id AND i.tenant_id = :tenant_id;

-- name: lock_run_out(limit)
-- Lock leases that have run out, in each queue the oldest first, so that they can be given back; an item that a claim is about to take is passed over.
SELECT r.id AS item_pk FROM (SELECT clock() AS now OFFSET 0) t CROSS JOIN queue q CROSS JOIN LATERAL (
  SELECT i.id FROM item i
  WHERE i.tenant_id = q.tenant_id AND i.queue = q.name AND i.state = 'leased' AND i.lease_expires <= t.now
  ORDER BY i.lease_expires LIMIT :limit FOR UPDATE OF i SKIP LOCKED) r;

-- name: give_back(item_ids)
-- Return run-out leases to their queue; the token and the last owner stay, so that a late verdict still counts until somebody else takes the item, who is not the last owner for a while.
WITH lapsed AS MATERIALIZED (
  SELECT i.id, i.owner, i.lease_epoch, q.abandon_threshold, (SELECT clock()) + q.release_cooldown AS until,
    CASE WHEN i.owner = ANY (i.left_by) THEN i.left_by ELSE i.left_by || i.owner END AS left_by
  FROM item i JOIN queue q ON q.tenant_id = i.tenant_id AND q.name = i.queue
  WHERE i.id = ANY (:item_ids::bigint[]) AND i.state = 'leased' AND i.lease_expires <= (SELECT clock())),
given AS (
  UPDATE item i SET state = 'queued', lease_expires = NULL, claim_key = NULL, left_by = l.left_by,
    abandoned = i.stuck_at IS NULL AND cardinality(l.left_by) >= l.abandon_threshold
  FROM lapsed l WHERE i.id = l.id
  RETURNING i.id, i.tenant_id, i.queue),
logged AS (
  INSERT INTO lease_log (item_id, lease_epoch, happening, principal_id)
  SELECT l.id, l.lease_epoch, 'lapse', l.owner FROM lapsed l),
kept_away AS (
  INSERT INTO exclusion (item_id, principal_id, until, why) SELECT id, owner, until, 'lapsed' FROM lapsed)
SELECT id AS item_pk, tenant_id, queue::text AS queue FROM given;

-- name: lock_abandoned(after, limit)
-- Lock the items after this one that enough different people left undecided, with their contents, lowest id first, together with where they go.
SELECT i.id AS item_pk, i.tenant_id, (SELECT name::text FROM tenant WHERE id = i.tenant_id) AS tenant, i.content_id AS content_pk, n.content_id, i.queue::text AS queue, i.owner, i.lease_count,
  cardinality(i.left_by) AS left_by, q.escalation_queue::text AS escalation_queue, q.escalation_boost,
  i.escalated_at, n.seq, n.chain_head, (SELECT clock()) AS now
FROM item i
JOIN queue q ON q.tenant_id = i.tenant_id AND q.name = i.queue
JOIN content n ON n.id = i.content_id
WHERE i.state = 'queued' AND i.abandoned AND i.stuck_at IS NULL AND i.id > :after
ORDER BY i.id LIMIT :limit FOR UPDATE OF i, n SKIP LOCKED;

-- name: move_to_escalation(item_id, queue, boost)!
-- Move an abandoned item to its escalation queue, once, boosted once, with a new fence so that nobody who left it can still decide it there.
WITH left_here AS MATERIALIZED (
  SELECT id, owner, lease_epoch FROM item WHERE id = :item_id AND state = 'queued' AND abandoned AND escalated_at IS NULL FOR UPDATE),
logged AS (
  INSERT INTO lease_log (item_id, lease_epoch, happening, principal_id) SELECT id, lease_epoch, 'escalate', owner FROM left_here WHERE owner IS NOT NULL)
UPDATE item i SET queue = :queue, base = i.base + :boost, rank = i.rank + :boost, abandoned = false, left_by = '{}', escalated_at = clock(),
  owner = NULL, fence_token = NULL, claim_key = NULL, terminal = NULL, leased_at = NULL, lease_epoch = i.lease_epoch + 1
FROM left_here l WHERE i.id = l.id;

-- name: mark_stuck(item_id)!
-- Mark an item that was left undecided in a queue that escalates no further: it stays claimable, and leads are shown it.
UPDATE item SET stuck_at = clock(), abandoned = false
WHERE id = :item_id AND state = 'queued' AND abandoned AND stuck_at IS NULL;
