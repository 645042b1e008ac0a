-- Claims: who gets the next item, and what a person holds.
-- The anti-joins end in OFFSET 0 so that they stay look-ups on the ordered walk and are never turned into a join over the queue.
-- What somebody holds is looked up behind an OFFSET 0 by his id alone (in holds_lease): where statistics were taken while
-- nothing was leased, each index of leased items looks like one of no rows, and the planner would walk all leases.
-- What a person is kept from for a while is read once, by him: few rows, and mostly of what stands in front of the walk.
-- What he is kept from for good may be many rows, so that is looked up for the one item that is about to be his; behind a
-- coalesce, so that no index offers a walk over all of his.

-- name: claim_next(tenant_id, queue, principal_id, claim_key, terminal)^
-- Give run-out leases back, wake what is due, and lease the best-ranked item that this person may take, under one reading of the clock; nobody who holds a live lease is given a second, what somebody let lapse is not offered to him again for a while, and what was woken is on offer from the next claim on.
WITH q AS MATERIALIZED (
  SELECT clock() AS now, lease_ttl, abandon_threshold, release_cooldown, sla
  FROM queue WHERE tenant_id = :tenant_id AND name = :queue AND disabled_at IS NULL),
held AS MATERIALIZED (SELECT FROM q WHERE holds_lease(:principal_id, NULL, q.now)),
kept AS MATERIALIZED (
  SELECT e.item_id, e.content_id FROM exclusion e WHERE e.principal_id = :principal_id AND e.until > (SELECT now FROM q)),
due AS MATERIALIZED (
  SELECT id FROM item
  WHERE tenant_id = :tenant_id AND queue = :queue AND state = 'parked' AND wake_at <= (SELECT now FROM q)
  ORDER BY wake_at LIMIT 50 FOR UPDATE SKIP LOCKED),
lapsed AS MATERIALIZED (
  SELECT id, content_id, owner, terminal, rank, lease_epoch, stuck_at,
    CASE WHEN owner = ANY (left_by) THEN left_by ELSE left_by || owner END AS left_by
  FROM item
  WHERE tenant_id = :tenant_id AND queue = :queue AND state = 'leased' AND lease_expires <= (SELECT now FROM q)
  ORDER BY lease_expires LIMIT 50 FOR UPDATE SKIP LOCKED),
fresh AS MATERIALIZED (
  SELECT i.id, i.rank, i.owner, i.terminal FROM item i
  WHERE i.tenant_id = :tenant_id AND i.queue = :queue AND i.state = 'queued' AND NOT i.abandoned
    AND NOT EXISTS (SELECT FROM held)
    AND i.id NOT IN (SELECT k.item_id FROM kept k WHERE k.item_id IS NOT NULL OFFSET 0)
    AND i.content_id NOT IN (SELECT k.content_id FROM kept k WHERE k.content_id IS NOT NULL OFFSET 0)
    AND NOT EXISTS (SELECT FROM exclusion e WHERE e.item_id = i.id AND e.principal_id = :principal_id AND coalesce(e.until, 'infinity') = 'infinity' OFFSET 0)
    AND NOT EXISTS (SELECT FROM exclusion e WHERE e.content_id = i.content_id AND e.principal_id = :principal_id AND coalesce(e.until, 'infinity') = 'infinity' OFFSET 0)
  ORDER BY i.rank DESC, i.id LIMIT 1 FOR UPDATE OF i SKIP LOCKED),
again AS MATERIALIZED (
  SELECT l.id, l.rank, l.owner, l.terminal FROM lapsed l, q
  WHERE (cardinality(l.left_by) < q.abandon_threshold OR l.stuck_at IS NOT NULL)
    AND l.owner <> :principal_id
    AND NOT EXISTS (SELECT FROM held)
    AND l.id NOT IN (SELECT k.item_id FROM kept k WHERE k.item_id IS NOT NULL OFFSET 0)
    AND l.content_id NOT IN (SELECT k.content_id FROM kept k WHERE k.content_id IS NOT NULL OFFSET 0)
    AND NOT EXISTS (SELECT FROM exclusion e WHERE e.item_id = l.id AND e.principal_id = :principal_id AND coalesce(e.until, 'infinity') = 'infinity' OFFSET 0)
    AND NOT EXISTS (SELECT FROM exclusion e WHERE e.content_id = l.content_id AND e.principal_id = :principal_id AND coalesce(e.until, 'infinity') = 'infinity' OFFSET 0)),
picked AS MATERIALIZED (
  SELECT c.id, c.owner, c.terminal FROM (SELECT * FROM fresh UNION ALL SELECT * FROM again) c
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
    terminal = CASE WHEN t.granted THEN :terminal::text ELSE i.terminal END,
    leased_at = CASE WHEN t.granted THEN q.now ELSE i.leased_at END,
    lease_expires = CASE WHEN t.granted THEN q.now + q.lease_ttl ELSE NULL END,
    lease_epoch = i.lease_epoch + CASE WHEN t.granted THEN 1 ELSE 0 END,
    lease_count = i.lease_count + CASE WHEN t.granted THEN 1 ELSE 0 END,
    left_by = coalesce(t.left_by, i.left_by),
    abandoned = NOT t.granted AND i.stuck_at IS NULL AND cardinality(coalesce(t.left_by, i.left_by)) >= q.abandon_threshold
  FROM touched t, q
  WHERE i.id = t.id
  RETURNING i.id, i.content_id, i.queue, i.round, i.source, i.severity, i.base, i.rank, i.fence_token, i.lease_expires, i.lease_epoch,
    i.lease_count, cardinality(i.left_by) AS left_by, i.first_enqueued_at, i.sla_from, i.evidence_revision, i.terminal, t.granted),
woken AS (
  UPDATE item i SET state = 'queued', sla_from = i.sla_from + (q.now - i.parked_at), parked_at = NULL, wake_at = NULL
  FROM due d, q WHERE i.id = d.id
  RETURNING i.id, i.lease_epoch),
logged AS (
  INSERT INTO lease_log (item_id, lease_epoch, happening, principal_id, token, expires_at)
  SELECT l.id, l.lease_epoch, 'lapse', l.owner, NULL::uuid, NULL::timestamptz FROM lapsed l
  UNION ALL
  SELECT c.id, c.lease_epoch, 'grant', :principal_id, c.fence_token, c.lease_expires FROM changed c WHERE c.granted
  UNION ALL
  SELECT w.id, w.lease_epoch, 'wake', NULL, NULL, NULL FROM woken w),
kept_away AS (
  INSERT INTO exclusion (item_id, principal_id, until, why) SELECT l.id, l.owner, q.now + q.release_cooldown, 'lapsed' FROM lapsed l, q)
SELECT c.id AS item_pk, n.content_id, c.queue::text AS queue, c.round, c.source, c.fence_token, :claim_key::uuid AS claim_key, c.terminal,
  (extract(epoch FROM c.lease_expires - q.now) * 1000)::bigint AS expires_in_ms,
  (extract(epoch FROM q.lease_ttl) * 1000)::bigint AS ttl_ms,
  c.lease_count, c.left_by, q.abandon_threshold, c.rank, c.base, c.severity, n.author_followers,
  (extract(epoch FROM q.now - c.first_enqueued_at) * 1000)::bigint AS waited_ms,
  (extract(epoch FROM q.now - c.sla_from) * 1000)::bigint AS sla_age_ms,
  (extract(epoch FROM q.sla) * 1000)::bigint AS sla_ms,
  convert_from(e.bytes, 'UTF8') AS evidence, encode(e.hash, 'hex') AS evidence_hash,
  CASE WHEN p.owner <> :principal_id OR p.terminal IS DISTINCT FROM c.terminal THEN p.owner END AS taken_from
FROM changed c CROSS JOIN q
JOIN picked p ON p.id = c.id
JOIN content n ON n.id = c.content_id
JOIN evidence e ON e.content_id = c.content_id AND e.revision = c.evidence_revision
WHERE c.granted;

-- name: find_my_lease(principal_id)^
-- Return what this person holds, a lapsed lease that nobody else has taken included; a live one first, then the newest.
WITH t AS MATERIALIZED (SELECT clock() AS now)
SELECT i.id AS item_pk, n.content_id, i.queue::text AS queue, i.round, i.source, i.fence_token, i.claim_key, i.terminal,
  coalesce((extract(epoch FROM i.lease_expires - t.now) * 1000)::bigint, 0) AS expires_in_ms,
  (extract(epoch FROM q.lease_ttl) * 1000)::bigint AS ttl_ms,
  i.lease_count, cardinality(i.left_by) AS left_by, q.abandon_threshold, i.rank, i.base, i.severity, n.author_followers,
  (extract(epoch FROM t.now - i.first_enqueued_at) * 1000)::bigint AS waited_ms,
  (extract(epoch FROM t.now - i.sla_from) * 1000)::bigint AS sla_age_ms,
  (extract(epoch FROM q.sla) * 1000)::bigint AS sla_ms,
  convert_from(e.bytes, 'UTF8') AS evidence, encode(e.hash, 'hex') AS evidence_hash, NULL::bigint AS taken_from
FROM item i CROSS JOIN t
JOIN queue q ON q.tenant_id = i.tenant_id AND q.name = i.queue
JOIN content n ON n.id = i.content_id
JOIN evidence e ON e.content_id = i.content_id AND e.revision = i.evidence_revision
WHERE i.owner = :principal_id AND i.fence_token IS NOT NULL
ORDER BY (i.state = 'leased') DESC, i.lease_expires DESC NULLS LAST, i.leased_at DESC
LIMIT 1;

-- name: queue_figures(tenant_id, queue, principal_id)^
-- Count what a queue holds for this person, capped, so that "0 free, 1 held" is never shown as empty; free is what the next claim would find: what waits, what ran out and is not on its way to escalation (that is held), and what is due to wake; what he is kept from is looked up for a thousand items of each kind.
WITH t AS MATERIALIZED (SELECT clock() AS now),
kept AS MATERIALIZED (
  (SELECT e.item_id, e.content_id FROM exclusion e WHERE e.principal_id = :principal_id AND e.until > (SELECT now FROM t) LIMIT 1000)
  UNION ALL
  (SELECT e.item_id, e.content_id FROM exclusion e WHERE e.principal_id = :principal_id AND e.until IS NULL LIMIT 1000)),
not_mine AS MATERIALIZED (
  SELECT k.item_id AS id FROM kept k WHERE k.item_id IS NOT NULL
  UNION
  SELECT i.id FROM kept k CROSS JOIN LATERAL (SELECT id FROM item WHERE content_id = k.content_id OFFSET 0) i WHERE k.content_id IS NOT NULL
  UNION
  SELECT o.id FROM (SELECT id, state FROM item WHERE owner = :principal_id OFFSET 0) o WHERE o.state = 'leased')
SELECT q.name::text AS queue, q.title,
  (SELECT count(*) FROM (SELECT FROM item i WHERE i.tenant_id = q.tenant_id AND i.queue = q.name AND i.state = 'queued' AND NOT i.abandoned LIMIT 10000) f)
    + l.again
    + (SELECT count(*) FROM (SELECT FROM item i WHERE i.tenant_id = q.tenant_id AND i.queue = q.name AND i.state = 'parked' AND i.wake_at <= t.now LIMIT 10000) p) AS free,
  (SELECT count(*) FROM (SELECT FROM item i WHERE i.tenant_id = q.tenant_id AND i.queue = q.name AND i.state = 'leased' AND i.lease_expires > t.now LIMIT 10000) l)
    + l.leaving
    + (SELECT count(*) FROM (SELECT FROM (SELECT tenant_id, queue FROM item WHERE state = 'queued' AND abandoned OFFSET 0) a
        WHERE a.tenant_id = q.tenant_id AND a.queue = q.name LIMIT 10000) a) AS held,
  (SELECT count(*) FROM (SELECT FROM item i WHERE i.tenant_id = q.tenant_id AND i.queue = q.name AND i.state = 'parked' AND i.wake_at > t.now LIMIT 10000) p) AS parked,
  (SELECT count(*) FROM not_mine n CROSS JOIN LATERAL (SELECT * FROM item WHERE id = n.id OFFSET 0) i
    WHERE i.tenant_id = q.tenant_id AND i.queue = q.name
      AND CASE i.state WHEN 'queued' THEN NOT i.abandoned
        WHEN 'leased' THEN i.lease_expires <= t.now AND (i.stuck_at IS NOT NULL OR cardinality(i.left_by) + (NOT i.owner = ANY (i.left_by))::int < q.abandon_threshold)
        ELSE i.state = 'parked' AND i.wake_at <= t.now END) AS not_for_you,
  (SELECT (extract(epoch FROM i.lease_expires - t.now) * 1000)::bigint FROM item i
    WHERE i.tenant_id = q.tenant_id AND i.queue = q.name AND i.state = 'leased' AND i.lease_expires > t.now ORDER BY i.lease_expires LIMIT 1) AS free_in_ms,
  (extract(epoch FROM t.now - least(
    (SELECT i.sla_from FROM item i WHERE i.tenant_id = q.tenant_id AND i.queue = q.name AND i.state = 'queued' ORDER BY i.sla_from LIMIT 1),
    (SELECT i.sla_from FROM item i WHERE i.tenant_id = q.tenant_id AND i.queue = q.name AND i.state = 'leased' ORDER BY i.sla_from LIMIT 1))) * 1000)::bigint AS oldest_ms,
  (extract(epoch FROM q.sla) * 1000)::bigint AS sla_ms,
  (extract(epoch FROM q.lease_ttl) * 1000)::bigint AS lease_ttl_ms,
  (extract(epoch FROM q.undo_window) * 1000)::bigint AS undo_window_ms
FROM queue q CROSS JOIN t
CROSS JOIN LATERAL (
  SELECT count(*) FILTER (WHERE r.again) AS again, count(*) FILTER (WHERE NOT r.again) AS leaving FROM (
    SELECT i.stuck_at IS NOT NULL OR cardinality(i.left_by) + (NOT i.owner = ANY (i.left_by))::int < q.abandon_threshold AS again
    FROM item i WHERE i.tenant_id = q.tenant_id AND i.queue = q.name AND i.state = 'leased' AND i.lease_expires <= t.now LIMIT 10000) r) l
WHERE q.tenant_id = :tenant_id AND q.name = :queue;

-- name: fair_order(tenant_id, queues)
-- Order queues by the share of its SLA that the oldest item on offer in each has used, the largest first; queues with nothing on offer come last, and equals stay as they were named.
WITH t AS MATERIALIZED (SELECT clock() AS now)
SELECT q.name::text AS queue
FROM unnest(:queues::text[]) WITH ORDINALITY AS asked (name, place)
JOIN queue q ON q.tenant_id = :tenant_id AND q.name = asked.name
CROSS JOIN t
ORDER BY extract(epoch FROM t.now - least(
    (SELECT i.sla_from FROM item i
      WHERE i.tenant_id = q.tenant_id AND i.queue = q.name AND i.state = 'queued' AND NOT i.abandoned ORDER BY i.sla_from LIMIT 1),
    (SELECT i.sla_from FROM item i
      WHERE i.tenant_id = q.tenant_id AND i.queue = q.name AND i.state = 'leased' AND i.lease_expires <= t.now ORDER BY i.lease_expires LIMIT 1),
    (SELECT i.sla_from + (t.now - i.parked_at) FROM item i
      WHERE i.tenant_id = q.tenant_id AND i.queue = q.name AND i.state = 'parked' AND i.wake_at <= t.now ORDER BY i.wake_at LIMIT 1)
  )) / extract(epoch FROM q.sla) DESC NULLS LAST, asked.place;

-- name: find_claimable(tenant_ids, queues, principal_ids)
-- Tell for each person and queue asked, by its place, whether a claim would find something there that he may take: what waits, what ran out or what is due to wake; nothing is locked and nothing is leased.
WITH t AS MATERIALIZED (SELECT clock() AS now)
SELECT a.place::int AS place
FROM unnest(:tenant_ids::bigint[], :queues::text[], :principal_ids::bigint[]) WITH ORDINALITY AS a (tenant_id, queue, person, place)
JOIN queue q ON q.tenant_id = a.tenant_id AND q.name = a.queue AND q.disabled_at IS NULL
CROSS JOIN t
WHERE EXISTS (
  SELECT FROM item i
  WHERE i.tenant_id = q.tenant_id AND i.queue = q.name AND i.state = 'queued' AND NOT i.abandoned
    AND NOT EXISTS (SELECT FROM exclusion e WHERE e.item_id = i.id AND e.principal_id = a.person AND (e.until IS NULL OR e.until > t.now) OFFSET 0)
    AND NOT EXISTS (SELECT FROM exclusion e WHERE e.content_id = i.content_id AND e.principal_id = a.person AND (e.until IS NULL OR e.until > t.now) OFFSET 0)
  ORDER BY i.rank DESC, i.id LIMIT 1 OFFSET 0)
OR EXISTS (
  SELECT FROM item i
  WHERE i.tenant_id = q.tenant_id AND i.queue = q.name AND i.state = 'leased' AND i.lease_expires <= t.now AND i.owner IS DISTINCT FROM a.person
    AND (i.stuck_at IS NOT NULL OR cardinality(i.left_by) + CASE WHEN i.owner = ANY (i.left_by) THEN 0 ELSE 1 END < q.abandon_threshold)
    AND NOT EXISTS (SELECT FROM exclusion e WHERE e.item_id = i.id AND e.principal_id = a.person AND (e.until IS NULL OR e.until > t.now) OFFSET 0)
    AND NOT EXISTS (SELECT FROM exclusion e WHERE e.content_id = i.content_id AND e.principal_id = a.person AND (e.until IS NULL OR e.until > t.now) OFFSET 0)
  ORDER BY i.lease_expires LIMIT 1 OFFSET 0)
OR EXISTS (
  SELECT FROM item i
  WHERE i.tenant_id = q.tenant_id AND i.queue = q.name AND i.state = 'parked' AND i.wake_at <= t.now
    AND NOT EXISTS (SELECT FROM exclusion e WHERE e.item_id = i.id AND e.principal_id = a.person AND (e.until IS NULL OR e.until > t.now) OFFSET 0)
    AND NOT EXISTS (SELECT FROM exclusion e WHERE e.content_id = i.content_id AND e.principal_id = a.person AND (e.until IS NULL OR e.until > t.now) OFFSET 0)
  ORDER BY i.wake_at LIMIT 1 OFFSET 0);
