-- The figures of the health screen: each is read where an index holds it, none is kept.

-- name: queue_health(tenant_id)
-- Read the state of each queue: counts are capped at 100,000 so that the screen costs the same on any backlog.
WITH t AS MATERIALIZED (SELECT clock() AS now)
SELECT q.name::text AS queue, q.title, q.disabled_at IS NULL AS open,
  (SELECT count(*) FROM (SELECT FROM item i WHERE i.tenant_id = q.tenant_id AND i.queue = q.name AND i.state = 'queued' AND NOT i.abandoned LIMIT 100000) c) AS waiting,
  (SELECT count(*) FROM item i WHERE i.tenant_id = q.tenant_id AND i.queue = q.name AND i.state = 'leased' AND i.lease_expires > t.now) AS in_review,
  (SELECT count(*) FROM (SELECT FROM item i WHERE i.tenant_id = q.tenant_id AND i.queue = q.name AND i.state = 'leased' AND i.lease_expires <= t.now LIMIT 100000) c) AS lapsed,
  (SELECT count(*) FROM item i WHERE i.tenant_id = q.tenant_id AND i.queue = q.name AND i.state = 'queued' AND i.abandoned) AS escalating,
  (SELECT count(*) FROM item i WHERE i.tenant_id = q.tenant_id AND i.queue = q.name AND i.state <> 'resolved' AND i.stuck_at IS NOT NULL) AS stuck,
  (SELECT count(*) FROM (SELECT FROM item i WHERE i.tenant_id = q.tenant_id AND i.queue = q.name AND i.state = 'parked' LIMIT 100000) c) AS parked,
  (SELECT (extract(epoch FROM t.now - least(
    (SELECT i.sla_from FROM item i WHERE i.tenant_id = q.tenant_id AND i.queue = q.name AND i.state = 'queued' ORDER BY i.sla_from LIMIT 1),
    (SELECT i.sla_from FROM item i WHERE i.tenant_id = q.tenant_id AND i.queue = q.name AND i.state = 'leased' ORDER BY i.sla_from LIMIT 1))) * 1000)::bigint) AS oldest_ms,
  (extract(epoch FROM q.sla) * 1000)::bigint AS sla_ms
FROM queue q CROSS JOIN t
WHERE q.tenant_id = :tenant_id
ORDER BY q.name;

-- name: staffing(tenant_id, queues, roles, principal_id, present_within)
-- Count, for each queue, the people present (with a key used lately and a role that claims there, as the pairs of queue and role say; the asker not for leading it) and what waits that none of them may take, capped at 100,000.
WITH t AS MATERIALIZED (SELECT clock() AS now),
active AS MATERIALIZED (
  SELECT p.id FROM principal p CROSS JOIN t WHERE p.tenant_id = :tenant_id AND p.kind = 'person' AND p.active
    AND EXISTS (SELECT FROM api_key k WHERE k.principal_id = p.id AND k.last_used_at > t.now - :present_within::interval
      AND k.revoked_at IS NULL AND (k.expires_at IS NULL OR k.expires_at > t.now))),
staff AS MATERIALIZED (
  SELECT DISTINCT q.name AS queue, a.id FROM queue q CROSS JOIN active a JOIN role_grant g ON g.principal_id = a.id
  WHERE q.tenant_id = :tenant_id AND (g.queue IS NULL OR g.queue = q.name)
    AND (q.name::text, g.role) IN (SELECT * FROM unnest(:queues::text[], :roles::text[])) AND (g.role <> 'lead' OR a.id <> :principal_id)),
one AS MATERIALIZED (SELECT queue, min(id) AS id FROM staff GROUP BY queue),
kept AS MATERIALIZED (
  SELECT o.queue, e.item_id, e.content_id FROM t, one o JOIN exclusion e ON e.principal_id = o.id WHERE e.until IS NULL OR e.until > t.now),
candidates AS MATERIALIZED (
  SELECT queue, item_id AS id FROM kept WHERE item_id IS NOT NULL
  UNION
  SELECT k.queue, i.id FROM kept k CROSS JOIN LATERAL (SELECT id, state FROM item WHERE content_id = k.content_id OFFSET 0) i WHERE i.state = 'queued'),
nobodys AS MATERIALIZED (
  SELECT c.queue, count(*) AS items
  FROM t, candidates c CROSS JOIN LATERAL (SELECT * FROM item WHERE id = c.id OFFSET 0) i
  WHERE i.tenant_id = :tenant_id AND i.queue = c.queue AND i.state = 'queued' AND NOT i.abandoned AND NOT EXISTS (SELECT FROM staff s WHERE s.queue = c.queue AND NOT EXISTS (
    SELECT FROM exclusion e WHERE e.principal_id = s.id AND (e.item_id = i.id OR e.content_id = i.content_id) AND (e.until IS NULL OR e.until > t.now) OFFSET 0))
  GROUP BY c.queue)
SELECT q.name::text AS queue, (SELECT count(*) FROM staff s WHERE s.queue = q.name) AS present,
  CASE WHEN EXISTS (SELECT FROM staff s WHERE s.queue = q.name) THEN coalesce((SELECT n.items FROM nobodys n WHERE n.queue = q.name), 0)
    ELSE (SELECT count(*) FROM (SELECT FROM item i WHERE i.tenant_id = q.tenant_id AND i.queue = q.name AND i.state = 'queued' AND NOT i.abandoned LIMIT 100000) c)
    END AS unclaimable
FROM queue q WHERE q.tenant_id = :tenant_id;

-- name: lease_counts(tenant_id)
-- Count unresolved items by how often they were leased, from one lease on; five stands for five and more.
SELECT queue::text AS queue, least(lease_count, 5) AS leases, count(*) AS items
FROM item WHERE tenant_id = :tenant_id AND state <> 'resolved' AND lease_count > 0
GROUP BY 1, 2;

-- name: effect_health(tenant_id, grace)^
-- Count the decisions that should have taken effect and did not, and the contents that still wait for a score: what people decided meanwhile, and what was withdrawn, does not.
WITH t AS MATERIALIZED (SELECT clock() AS now),
pending AS MATERIALIZED (
  SELECT d.apply_after, p.dead_at FROM pending_apply p JOIN decision d ON d.id = p.decision_id WHERE d.tenant_id = :tenant_id AND d.hold IS NULL)
SELECT t.now AS as_of,
  (SELECT count(*) FROM pending WHERE apply_after + :grace <= t.now) AS not_applied,
  (SELECT (extract(epoch FROM t.now - min(apply_after)) * 1000)::bigint FROM pending WHERE apply_after + :grace <= t.now) AS not_applied_oldest_ms,
  (SELECT count(*) FROM pending WHERE apply_after > t.now) AS waiting_to_apply,
  (SELECT count(*) FROM pending WHERE dead_at IS NOT NULL) AS dead,
  (SELECT count(*) FROM intake k JOIN content n ON n.id = k.content_id WHERE n.tenant_id = :tenant_id AND n.state = 'pending' AND n.withdrawn_at IS NULL) AS held,
  (SELECT count(*) FROM decision WHERE tenant_id = :tenant_id AND principal_id IS NOT NULL AND recorded_at > t.now - interval '1 hour') AS decided_last_hour
FROM t;
