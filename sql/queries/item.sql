-- Items as leads meet them: locked together with their contents, listed page by page, and the history of their leases.
-- A list walks the index that its figure is counted from. `after` is where the last page ended (NULL: the first page), by
-- the columns that the list is ordered by, so that what comes and goes meanwhile moves nothing else in or out of a page.
-- OFFSET 0 keeps a look-up by key a look-up by key, whatever was measured: each is for the few rows of a page.

-- name: lock_items(tenant_id, item_ids)
-- Lock items of one tenant, ids ascending, and read what a lead's deed is judged by.
SELECT id AS item_pk, content_id AS content_pk, queue::text AS queue, state, source, resolution, owner
FROM item WHERE tenant_id = :tenant_id AND id = ANY (:item_ids::bigint[])
ORDER BY id FOR UPDATE;

-- name: lock_contents(content_ids)
-- Lock contents, ids ascending, after the items that belong to them, and read their state and where their trails end.
SELECT id AS content_pk, content_id, state, seq, chain_head, withdrawn_at
FROM content WHERE id = ANY (:content_ids::bigint[])
ORDER BY id FOR NO KEY UPDATE;

-- name: read_moment()^
-- Read the clock once for an operation, when all that it waits for is its own.
SELECT clock() AS now;

-- name: read_settled(content_ids)
-- Find what last settled each content: its newest outcome that took effect and was neither hold nor none.
SELECT c.id AS content_pk, d.outcome
FROM unnest(:content_ids::bigint[]) AS c (id)
CROSS JOIN LATERAL (
  SELECT d.outcome FROM decision d JOIN applied a ON a.decision_id = d.id AND a.result = 'applied'
  WHERE d.content_id = c.id AND d.outcome NOT IN ('hold', 'none')
  ORDER BY d.id DESC LIMIT 1) d;

-- name: read_round(tenant_id, content_id)^
-- Read one content with its newest round of work (second looks apart) and who spoke last.
SELECT n.id AS content_pk, n.content_id, n.kind::text AS kind, n.author_followers, n.submitted_by, n.state, n.withdrawn_at,
  h.actor AS head_actor,
  n.head_decision IS NOT NULL AND NOT EXISTS (SELECT FROM applied a WHERE a.decision_id = n.head_decision) AS in_line,
  i.id AS item_pk, i.queue::text AS queue, i.state AS item_state, i.source AS item_source, i.resolution, i.resolved_at, i.severity, i.owner
FROM content n
LEFT JOIN decision h ON h.id = n.head_decision
LEFT JOIN LATERAL (
  SELECT * FROM item r WHERE r.content_id = n.id AND r.source NOT IN ('second_look', 'golden') ORDER BY r.round DESC LIMIT 1) i ON true
WHERE n.tenant_id = :tenant_id AND n.content_id = :content_id;

-- name: advance_rounds(content_ids, states, seqs, chain_heads, withdrawn_ats)!
-- Bring contents to the state that a withdrawal or a new round leaves them in, and to the ends of their trails.
UPDATE content n SET state = a.state, seq = a.seq, chain_head = a.chain_head, withdrawn_at = a.withdrawn_at, updated_at = clock()
FROM unnest(:content_ids::bigint[], :states::text[], :seqs::bigint[], :chain_heads::bytea[], :withdrawn_ats::timestamptz[])
  AS a (id, state, seq, chain_head, withdrawn_at)
WHERE n.id = a.id;

-- name: list_waiting(tenant_id, queue, rank, item_id, limit)
-- List what waits in the order in which it is served: what a claim walks.
WITH t AS MATERIALIZED (SELECT clock() AS now),
page AS MATERIALIZED (
  SELECT * FROM item i
  WHERE i.tenant_id = :tenant_id AND i.queue = :queue AND i.state = 'queued' AND NOT i.abandoned
    AND i.rank <= coalesce(:rank::float8, 'Infinity') AND (i.rank < coalesce(:rank::float8, 'Infinity') OR i.id > :item_id::bigint)
  ORDER BY i.rank DESC, i.id LIMIT :limit)
SELECT i.id AS item_pk, (SELECT n.content_id FROM content n WHERE n.id = i.content_id) AS content_id, i.queue::text AS queue, i.round, i.source, i.state, i.rank, i.severity,
  (extract(epoch FROM t.now - i.first_enqueued_at) * 1000)::bigint AS age_ms, (extract(epoch FROM t.now - i.sla_from) * 1000)::bigint AS sla_age_ms,
  i.lease_count, cardinality(i.left_by) AS left_by, i.lease_epoch, (SELECT p.name FROM principal p WHERE p.id = i.owner) AS holder, i.leased_at AS since, NULL::bigint AS ends_in_ms,
  i.stuck_at IS NOT NULL AS stuck, i.abandoned, NULL::timestamptz AS key
FROM page i CROSS JOIN t
ORDER BY i.rank DESC, i.id;

-- name: list_held(tenant_id, queue, at, item_id, limit)
-- List what is leased, the lease that ends next first; one that has run out is still somebody's until it is given back.
WITH t AS MATERIALIZED (SELECT clock() AS now),
page AS MATERIALIZED (
  SELECT * FROM item i
  WHERE i.tenant_id = :tenant_id AND i.queue = :queue AND i.state = 'leased'
    AND i.lease_expires >= coalesce(:at::timestamptz, '-infinity') AND (i.lease_expires > coalesce(:at::timestamptz, '-infinity') OR i.id > :item_id::bigint)
  ORDER BY i.lease_expires, i.id LIMIT :limit)
SELECT i.id AS item_pk, (SELECT n.content_id FROM content n WHERE n.id = i.content_id) AS content_id, i.queue::text AS queue, i.round, i.source, i.state, i.rank, i.severity,
  (extract(epoch FROM t.now - i.first_enqueued_at) * 1000)::bigint AS age_ms, (extract(epoch FROM t.now - i.sla_from) * 1000)::bigint AS sla_age_ms,
  i.lease_count, cardinality(i.left_by) AS left_by, i.lease_epoch, (SELECT p.name FROM principal p WHERE p.id = i.owner) AS holder, i.leased_at AS since,
  (extract(epoch FROM i.lease_expires - t.now) * 1000)::bigint AS ends_in_ms, i.stuck_at IS NOT NULL AS stuck, i.abandoned, i.lease_expires AS key
FROM page i CROSS JOIN t
ORDER BY i.lease_expires, i.id;

-- name: list_parked(tenant_id, queue, at, item_id, limit)
-- List what is parked, what wakes next first.
WITH t AS MATERIALIZED (SELECT clock() AS now),
page AS MATERIALIZED (
  SELECT * FROM item i
  WHERE i.tenant_id = :tenant_id AND i.queue = :queue AND i.state = 'parked'
    AND i.wake_at >= coalesce(:at::timestamptz, '-infinity') AND (i.wake_at > coalesce(:at::timestamptz, '-infinity') OR i.id > :item_id::bigint)
  ORDER BY i.wake_at, i.id LIMIT :limit)
SELECT i.id AS item_pk, (SELECT n.content_id FROM content n WHERE n.id = i.content_id) AS content_id, i.queue::text AS queue, i.round, i.source, i.state, i.rank, i.severity,
  (extract(epoch FROM t.now - i.first_enqueued_at) * 1000)::bigint AS age_ms, (extract(epoch FROM i.parked_at - i.sla_from) * 1000)::bigint AS sla_age_ms,
  i.lease_count, cardinality(i.left_by) AS left_by, i.lease_epoch, NULL::text AS holder, i.parked_at AS since,
  (extract(epoch FROM i.wake_at - t.now) * 1000)::bigint AS ends_in_ms, i.stuck_at IS NOT NULL AS stuck, i.abandoned, i.wake_at AS key
FROM page i CROSS JOIN t
ORDER BY i.wake_at, i.id;

-- name: list_stuck(tenant_id, queue, item_id, limit)
-- List what enough different people left undecided: stuck where nothing escalates further, or about to be moved.
WITH t AS MATERIALIZED (SELECT clock() AS now),
left_behind AS MATERIALIZED (
  SELECT s.id FROM item s WHERE s.tenant_id = :tenant_id AND s.queue = :queue AND s.stuck_at IS NOT NULL AND s.state <> 'resolved' AND s.id > :item_id::bigint
  UNION
  SELECT s.id FROM (SELECT id, tenant_id, queue FROM item WHERE state = 'queued' AND abandoned AND id > :item_id::bigint OFFSET 0) s
  WHERE s.tenant_id = :tenant_id AND s.queue = :queue
  ORDER BY id LIMIT :limit)
SELECT i.id AS item_pk, (SELECT n.content_id FROM content n WHERE n.id = i.content_id) AS content_id, i.queue::text AS queue, i.round, i.source, i.state, i.rank, i.severity,
  (extract(epoch FROM t.now - i.first_enqueued_at) * 1000)::bigint AS age_ms,
  (extract(epoch FROM coalesce(i.parked_at, t.now) - i.sla_from) * 1000)::bigint AS sla_age_ms,
  i.lease_count, cardinality(i.left_by) AS left_by, i.lease_epoch, (SELECT p.name FROM principal p WHERE p.id = i.owner) AS holder, coalesce(i.parked_at, i.leased_at) AS since,
  (extract(epoch FROM coalesce(i.lease_expires, i.wake_at) - t.now) * 1000)::bigint AS ends_in_ms, i.stuck_at IS NOT NULL AS stuck, i.abandoned, NULL::timestamptz AS key
FROM left_behind b CROSS JOIN LATERAL (SELECT * FROM item WHERE id = b.id OFFSET 0) i CROSS JOIN t
ORDER BY i.id;

-- name: list_unclaimable(tenant_id, queue, roles, principal_id, present_within, rank, item_id, limit)
-- List what waits and nobody present may take, as it would be served: everything if nobody is present in a role that claims there, else what each of them is kept from, found from what one of them is kept from.
WITH t AS MATERIALIZED (SELECT clock() AS now),
present AS MATERIALIZED (
  SELECT DISTINCT p.id FROM t, principal p JOIN role_grant g ON g.principal_id = p.id
  WHERE p.tenant_id = :tenant_id AND p.kind = 'person' AND p.active AND (g.queue IS NULL OR g.queue = :queue)
    AND g.role = ANY (:roles::text[]) AND (g.role <> 'lead' OR p.id <> :principal_id)
    AND EXISTS (SELECT FROM api_key k WHERE k.principal_id = p.id AND k.last_used_at > t.now - :present_within::interval
      AND k.revoked_at IS NULL AND (k.expires_at IS NULL OR k.expires_at > t.now))),
kept AS MATERIALIZED (
  SELECT e.item_id, e.content_id FROM exclusion e, t WHERE e.principal_id = (SELECT min(id) FROM present) AND (e.until IS NULL OR e.until > t.now)),
candidates AS MATERIALIZED (
  (SELECT i.id FROM item i
   WHERE NOT EXISTS (SELECT FROM present) AND i.tenant_id = :tenant_id AND i.queue = :queue AND i.state = 'queued' AND NOT i.abandoned
     AND i.rank <= coalesce(:rank::float8, 'Infinity') AND (i.rank < coalesce(:rank::float8, 'Infinity') OR i.id > :item_id::bigint)
   ORDER BY i.rank DESC, i.id LIMIT :limit)
  UNION
  SELECT item_id FROM kept WHERE item_id IS NOT NULL
  UNION
  SELECT i.id FROM kept k CROSS JOIN LATERAL (SELECT id, state FROM item WHERE content_id = k.content_id OFFSET 0) i WHERE i.state = 'queued')
SELECT i.id AS item_pk, (SELECT n.content_id FROM content n WHERE n.id = i.content_id) AS content_id, i.queue::text AS queue, i.round, i.source, i.state, i.rank, i.severity,
  (extract(epoch FROM t.now - i.first_enqueued_at) * 1000)::bigint AS age_ms, (extract(epoch FROM t.now - i.sla_from) * 1000)::bigint AS sla_age_ms,
  i.lease_count, cardinality(i.left_by) AS left_by, i.lease_epoch, (SELECT p.name FROM principal p WHERE p.id = i.owner) AS holder, i.leased_at AS since, NULL::bigint AS ends_in_ms,
  i.stuck_at IS NOT NULL AS stuck, i.abandoned, NULL::timestamptz AS key
FROM candidates c CROSS JOIN LATERAL (SELECT * FROM item WHERE id = c.id OFFSET 0) i CROSS JOIN t
WHERE i.tenant_id = :tenant_id AND i.queue = :queue AND i.state = 'queued' AND NOT i.abandoned
  AND i.rank <= coalesce(:rank::float8, 'Infinity') AND (i.rank < coalesce(:rank::float8, 'Infinity') OR i.id > :item_id::bigint)
  AND NOT EXISTS (SELECT FROM present s WHERE NOT EXISTS (
    SELECT FROM exclusion e WHERE e.principal_id = s.id AND (e.item_id = i.id OR e.content_id = i.content_id) AND (e.until IS NULL OR e.until > t.now) OFFSET 0))
ORDER BY i.rank DESC, i.id LIMIT :limit;

-- name: find_item(tenant_id, item_id)^
-- Find the queue of an item, so that it can be told who may read its history.
SELECT queue::text AS queue FROM item WHERE id = :item_id AND tenant_id = :tenant_id;

-- name: list_leases(item_id, after, limit)
-- List what happened to the leases of an item, oldest first; renewals of one lease in a row are one entry that counts them, and a verdict, which resolves the item, is the last of all, without what it says.
WITH told AS (
  SELECT l.*, l.happening = 'renew' AND lag(l.happening) OVER w = 'renew' AND lag(l.lease_epoch) OVER w = l.lease_epoch AS goes_on
  FROM lease_log l WHERE l.item_id = :item_id AND l.id > :after::bigint
  WINDOW w AS (ORDER BY l.id)),
grouped AS (SELECT told.*, count(*) FILTER (WHERE goes_on IS NOT TRUE) OVER (ORDER BY id) AS entry FROM told),
entries AS (
  SELECT max(id) AS log_pk, max(at) AS at, min(happening) AS happening, min(lease_epoch) AS lease_epoch, min(principal_id) AS principal_id,
    min(by_principal) AS by_principal, min(reason) AS reason, count(*) AS times
  FROM grouped GROUP BY entry ORDER BY entry LIMIT :limit),
ended AS (
  SELECT 9223372036854775807 AS log_pk, d.recorded_at AS at, 'verdict' AS happening, i.lease_epoch, d.principal_id, NULL::bigint AS by_principal, NULL AS reason, 1::bigint AS times
  FROM item i JOIN decision d ON d.content_id = i.content_id AND d.item_id = i.id AND d.lease_token IS NOT NULL
  WHERE i.id = :item_id AND i.state = 'resolved')
SELECT e.log_pk, e.at, e.happening, e.lease_epoch, p.name AS person, b.name AS by, e.reason, e.times
FROM (SELECT * FROM entries UNION ALL SELECT * FROM ended) e LEFT JOIN principal p ON p.id = e.principal_id LEFT JOIN principal b ON b.id = e.by_principal
ORDER BY e.log_pk LIMIT :limit;
