-- The figures of the health screen: each is read where an index holds it, none is kept.

-- name: queue_health(tenant_id)
-- Read the state of each queue: counts are capped at 100,000 so that the screen costs the same on any backlog.
WITH t AS MATERIALIZED (SELECT clock() AS now)
SELECT q.name::text AS queue, q.title,
  (SELECT count(*) FROM (SELECT FROM item i WHERE i.tenant_id = q.tenant_id AND i.queue = q.name AND i.state = 'queued' AND NOT i.abandoned LIMIT 100000) c) AS waiting,
  (SELECT count(*) FROM item i WHERE i.tenant_id = q.tenant_id AND i.queue = q.name AND i.state = 'leased' AND i.lease_expires > t.now) AS in_review,
  (SELECT count(*) FROM (SELECT FROM item i WHERE i.tenant_id = q.tenant_id AND i.queue = q.name AND i.state = 'leased' AND i.lease_expires <= t.now LIMIT 100000) c) AS lapsed,
  (SELECT count(*) FROM item i WHERE i.tenant_id = q.tenant_id AND i.queue = q.name AND i.state = 'queued' AND i.abandoned) AS escalating,
  (SELECT count(*) FROM item i WHERE i.tenant_id = q.tenant_id AND i.queue = q.name AND i.state <> 'resolved' AND i.stuck_at IS NOT NULL) AS stuck,
  (SELECT count(*) FROM (SELECT FROM item i WHERE i.tenant_id = q.tenant_id AND i.queue = q.name AND i.state IN ('queued', 'leased') LIMIT 100000) c) AS unresolved,
  (SELECT (extract(epoch FROM t.now - i.first_enqueued_at) * 1000)::bigint FROM item i
    WHERE i.tenant_id = q.tenant_id AND i.queue = q.name AND i.state IN ('queued', 'leased') ORDER BY i.first_enqueued_at LIMIT 1) AS oldest_ms,
  (extract(epoch FROM q.sla) * 1000)::bigint AS sla_ms
FROM queue q CROSS JOIN t
WHERE q.tenant_id = :tenant_id
ORDER BY q.name;

-- name: lease_counts(tenant_id)
-- Count unresolved items by how often they were leased, from one lease on; five stands for five and more.
SELECT queue::text AS queue, least(lease_count, 5) AS leases, count(*) AS items
FROM item WHERE tenant_id = :tenant_id AND state <> 'resolved' AND lease_count > 0
GROUP BY 1, 2;

-- name: effect_health(tenant_id, grace)^
-- Count the decisions that should have taken effect and did not, and the contents that are held for want of a score.
WITH t AS MATERIALIZED (SELECT clock() AS now),
pending AS MATERIALIZED (
  SELECT d.apply_after, p.dead_at FROM pending_apply p JOIN decision d ON d.id = p.decision_id WHERE d.tenant_id = :tenant_id AND d.hold IS NULL)
SELECT t.now AS as_of,
  (SELECT count(*) FROM pending WHERE apply_after + :grace <= t.now) AS not_applied,
  (SELECT (extract(epoch FROM t.now - min(apply_after)) * 1000)::bigint FROM pending WHERE apply_after + :grace <= t.now) AS not_applied_oldest_ms,
  (SELECT count(*) FROM pending WHERE apply_after > t.now) AS waiting_to_apply,
  (SELECT count(*) FROM pending WHERE dead_at IS NOT NULL) AS dead,
  (SELECT count(*) FROM intake k JOIN content n ON n.id = k.content_id WHERE n.tenant_id = :tenant_id) AS held,
  (SELECT count(*) FROM decision WHERE tenant_id = :tenant_id AND principal_id IS NOT NULL AND recorded_at > t.now - interval '1 hour') AS decided_last_hour
FROM t;
