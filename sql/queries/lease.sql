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
  RETURNING i.id, i.lease_epoch, i.lease_expires, h.now, h.wanted > h.latest AS capped, h.latest > h.now AS moved),
logged AS (
  INSERT INTO lease_log (item_id, lease_epoch, happening, principal_id, expires_at)
  SELECT id, lease_epoch, 'renew', :principal_id, lease_expires FROM renewed WHERE moved)
SELECT coalesce((extract(epoch FROM lease_expires - now) * 1000)::bigint, 0) AS expires_in_ms, capped FROM renewed;

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
  UPDATE item i SET state = 'queued', owner = NULL, fence_token = NULL, claim_key = NULL, leased_at = NULL, lease_expires = NULL,
    lease_epoch = i.lease_epoch + 1, left_by = h.left_by, abandoned = i.stuck_at IS NULL AND cardinality(h.left_by) >= h.abandon_threshold
  FROM held h WHERE i.id = h.id
  RETURNING i.id),
logged AS (
  INSERT INTO lease_log (item_id, lease_epoch, happening, principal_id, reason)
  SELECT id, lease_epoch, 'release', :principal_id, :reason::text FROM held),
kept_away AS (
  INSERT INTO exclusion (item_id, principal_id, until, why) SELECT id, :principal_id, until, 'released' FROM held)
SELECT id AS item_pk FROM released;

-- name: item_now(tenant_id, item_id, principal_id, fence_token)^
-- Say what is true of an item for somebody who shows a token of it; `was_granted` tells whether that token was ever his.
WITH t AS MATERIALIZED (SELECT clock() AS now)
SELECT i.state, i.resolution, i.escalated_at, i.leased_at, i.resolved_at, p.name AS holder,
  i.owner IS NOT NULL AND i.owner <> :principal_id AND i.state = 'leased' AND i.lease_expires > t.now AS held_by_other,
  g.at AS granted_at, g.principal_id IS NOT NULL AS was_granted
FROM item i CROSS JOIN t
LEFT JOIN principal p ON p.id = i.owner
LEFT JOIN lease_log g ON g.token = :fence_token AND g.item_id = i.id AND g.principal_id = :principal_id
WHERE i.id = :item_id AND i.tenant_id = :tenant_id;

-- name: lock_run_out(limit)
-- Lock leases that have run out in any queue, oldest first, so that they can be given back; an item that a claim is about to take is passed over.
SELECT id AS item_pk FROM item
WHERE state = 'leased' AND lease_expires <= (SELECT clock())
ORDER BY lease_expires LIMIT :limit FOR UPDATE SKIP LOCKED;

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
  RETURNING i.id),
logged AS (
  INSERT INTO lease_log (item_id, lease_epoch, happening, principal_id)
  SELECT l.id, l.lease_epoch, 'lapse', l.owner FROM lapsed l),
kept_away AS (
  INSERT INTO exclusion (item_id, principal_id, until, why) SELECT id, owner, until, 'lapsed' FROM lapsed)
SELECT id AS item_pk FROM given;

-- name: lock_abandoned(limit)
-- Lock the items that enough different people left undecided, with their contents, lowest id first, together with where they go.
SELECT i.id AS item_pk, (SELECT name::text FROM tenant WHERE id = i.tenant_id) AS tenant, i.content_id AS content_pk, n.content_id, i.queue::text AS queue, i.lease_count,
  cardinality(i.left_by) AS left_by, q.escalation_queue::text AS escalation_queue, q.escalation_boost,
  i.escalated_at, n.seq, n.chain_head, (SELECT clock()) AS now
FROM item i
JOIN queue q ON q.tenant_id = i.tenant_id AND q.name = i.queue
JOIN content n ON n.id = i.content_id
WHERE i.state = 'queued' AND i.abandoned AND i.stuck_at IS NULL
ORDER BY i.id LIMIT :limit FOR UPDATE OF i, n SKIP LOCKED;

-- name: move_to_escalation(item_id, queue, boost)!
-- Move an abandoned item to its escalation queue, once, boosted once, with a new fence so that nobody who left it can still decide it there.
UPDATE item SET queue = :queue, base = base + :boost, rank = rank + :boost, abandoned = false, left_by = '{}', escalated_at = clock(),
  owner = NULL, fence_token = NULL, claim_key = NULL, leased_at = NULL, lease_epoch = lease_epoch + 1
WHERE id = :item_id AND state = 'queued' AND abandoned AND escalated_at IS NULL;

-- name: mark_stuck(item_id)!
-- Mark an item that was left undecided in a queue that escalates no further: it stays claimable, and leads are shown it.
UPDATE item SET stuck_at = clock(), abandoned = false
WHERE id = :item_id AND state = 'queued' AND abandoned AND stuck_at IS NULL;
