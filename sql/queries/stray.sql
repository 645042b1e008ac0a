-- Strays: undecided items in a closed queue, which nobody is offered until they are brought to an open one.
-- Each state is looked up by itself, since each has a partial index of its own; together they name every state but resolved. What is
-- abandoned is few in all queues together, and is read as such: without statistics the planner would look for it among all that waits.

-- name: find_strays(limit)
-- Name some closed queues, of any tenant, that hold undecided items; the order inside leaves each look-up one way, by its index.
SELECT q.tenant_id, q.name::text AS queue, q.successor::text AS successor
FROM queue q
WHERE q.disabled_at IS NOT NULL AND (
  EXISTS (SELECT FROM (SELECT FROM item WHERE tenant_id = q.tenant_id AND queue = q.name AND state = 'queued' ORDER BY sla_from LIMIT 1) i)
  OR EXISTS (SELECT FROM (SELECT FROM item WHERE tenant_id = q.tenant_id AND queue = q.name AND state = 'leased' ORDER BY lease_expires LIMIT 1) i)
  OR EXISTS (SELECT FROM (SELECT FROM item WHERE tenant_id = q.tenant_id AND queue = q.name AND state = 'parked' ORDER BY wake_at LIMIT 1) i))
ORDER BY q.tenant_id, q.name LIMIT :limit;

-- name: count_undecided(tenant_id, queues)
-- Count the undecided items of some queues by state.
SELECT w.name AS queue, c.state, c.items
FROM unnest(:queues::text[]) AS w (name) CROSS JOIN LATERAL (
  SELECT 'queued' AS state, count(*) AS items FROM item i WHERE i.tenant_id = :tenant_id AND i.queue = w.name AND i.state = 'queued'
  UNION ALL SELECT 'leased', count(*) FROM item i WHERE i.tenant_id = :tenant_id AND i.queue = w.name AND i.state = 'leased'
  UNION ALL SELECT 'parked', count(*) FROM item i WHERE i.tenant_id = :tenant_id AND i.queue = w.name AND i.state = 'parked') c
WHERE c.items > 0;

-- name: lock_strays(tenant_id, queue, limit)
-- Lock some undecided items of each state in a queue with their contents, ids ascending, passing over those that somebody works on; what is claimed next comes first, so that the order stays what it was.
SELECT i.id AS item_pk, (SELECT name::text FROM tenant WHERE id = i.tenant_id) AS tenant, n.id AS content_pk, n.content_id, n.seq, n.chain_head, (SELECT clock()) AS now
FROM item i JOIN content n ON n.id = i.content_id
WHERE i.tenant_id = :tenant_id AND i.queue = :queue AND i.state <> 'resolved' AND i.id = ANY (ARRAY(
  (SELECT id FROM item WHERE tenant_id = :tenant_id AND queue = :queue AND state = 'queued' AND NOT abandoned ORDER BY rank DESC, id LIMIT :limit)
  UNION ALL (SELECT id FROM (SELECT id, tenant_id, queue FROM item WHERE state = 'queued' AND abandoned ORDER BY id OFFSET 0) a WHERE tenant_id = :tenant_id AND queue = :queue LIMIT :limit)
  UNION ALL (SELECT id FROM item WHERE tenant_id = :tenant_id AND queue = :queue AND state = 'leased' ORDER BY lease_expires LIMIT :limit)
  UNION ALL (SELECT id FROM item WHERE tenant_id = :tenant_id AND queue = :queue AND state = 'parked' ORDER BY wake_at LIMIT :limit)))
ORDER BY i.id FOR UPDATE OF i, n SKIP LOCKED;

-- name: bring_strays(item_ids, queue)!
-- Bring locked items to another queue: who holds one goes on holding it, and rank, date and count are as they were.
UPDATE item SET queue = :queue WHERE id = ANY (:item_ids::bigint[]);
