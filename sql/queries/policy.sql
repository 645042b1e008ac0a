-- name: read_active_policy(tenant_id)^
-- Read the policy version in force for a tenant: the newest activation; for a few seconds what processes know of policies and keys may be older.
SELECT v.version, v.document, v.sha256, (SELECT clock()) BETWEEN a.activated_at AND a.activated_at + interval '5 seconds' AS settling
FROM policy_active a JOIN policy_version v USING (tenant_id, version)
WHERE a.tenant_id = :tenant_id ORDER BY a.id DESC LIMIT 1;

-- name: read_policy(tenant_id, version)^
-- Read one version of a tenant's policy.
SELECT version, document, sha256 FROM policy_version
WHERE tenant_id = :tenant_id AND version = :version;

-- name: lock_policies(tenant_id)$
-- Let one activation of a tenant happen at a time, until its transaction ends.
SELECT pg_advisory_xact_lock(70101, :tenant_id::int)::text;

-- name: insert_policy(tenant_id, version, document, sha256, principal_id)!
-- Store a policy version, unless it is there.
INSERT INTO policy_version (tenant_id, version, document, sha256, created_by)
VALUES (:tenant_id, :version, :document, :sha256, :principal_id)
ON CONFLICT (tenant_id, version) DO NOTHING;

-- name: activate_policy(tenant_id, version, principal_id)!
-- Put a stored policy version in force.
INSERT INTO policy_active (tenant_id, version, activated_by)
VALUES (:tenant_id, :version, :principal_id);

-- name: store_queues(tenant_id, names, titles, severities, lease_ttls, max_holds, abandon_thresholds, escalation_queues, escalation_boosts, undo_windows, release_cooldowns, slas, drainings)!
-- Bring the queue table to what a policy says of its queues; all at once, since they name each other.
INSERT INTO queue (tenant_id, name, title, severity, lease_ttl, max_hold, abandon_threshold,
  escalation_queue, escalation_boost, undo_window, release_cooldown, sla, draining)
SELECT :tenant_id, q.*
FROM unnest(:names::text[], :titles::text[], :severities::int[], :lease_ttls::interval[],
  :max_holds::interval[], :abandon_thresholds::int[], :escalation_queues::text[],
  :escalation_boosts::float8[], :undo_windows::interval[], :release_cooldowns::interval[],
  :slas::interval[], :drainings::boolean[]) AS q
ON CONFLICT (tenant_id, name) DO UPDATE SET
  title = excluded.title, severity = excluded.severity, lease_ttl = excluded.lease_ttl,
  max_hold = excluded.max_hold, abandon_threshold = excluded.abandon_threshold,
  escalation_queue = excluded.escalation_queue, escalation_boost = excluded.escalation_boost,
  undo_window = excluded.undo_window, release_cooldown = excluded.release_cooldown,
  sla = excluded.sla, draining = excluded.draining, disabled_at = NULL, successor = NULL;

-- name: read_queues(tenant_id)
-- Read all queues that a tenant ever had, the closed ones with what took their place.
SELECT name::text AS name, disabled_at IS NULL AS open, draining, successor::text AS successor, escalation_queue::text AS escalation_queue
FROM queue WHERE tenant_id = :tenant_id ORDER BY name;

-- name: close_queues(tenant_id, names, successors, escalations)!
-- Close queues that the policy no longer names, or lead closed ones to what takes their place now; they stay, since history names them.
UPDATE queue q SET disabled_at = coalesce(q.disabled_at, clock()), draining = false, successor = c.successor, escalation_queue = c.escalation
FROM unnest(:names::text[], :successors::text[], :escalations::text[]) AS c (name, successor, escalation)
WHERE q.tenant_id = :tenant_id AND q.name = c.name;

-- name: copy_grants(tenant_id, names, successors)!
-- Give those who may work in a queue the same roles in the one that takes its place, once.
INSERT INTO role_grant (principal_id, role, queue)
SELECT g.principal_id, g.role, c.successor
FROM unnest(:names::text[], :successors::text[]) AS c (name, successor)
JOIN role_grant g ON g.queue = c.name JOIN principal p ON p.id = g.principal_id
WHERE p.tenant_id = :tenant_id
ON CONFLICT (principal_id, role, queue) DO NOTHING;

-- name: store_categories(tenant_id, names)!
-- Add the categories of a policy that were not known yet.
INSERT INTO category (tenant_id, name) SELECT :tenant_id, unnest(:names::text[])
ON CONFLICT (tenant_id, name) DO NOTHING;

-- name: store_reasons(tenant_id, codes, titles)!
-- Add the reason codes of a policy, or give them their present titles.
INSERT INTO reason (tenant_id, code, title)
SELECT :tenant_id, r.* FROM unnest(:codes::text[], :titles::text[]) AS r
ON CONFLICT (tenant_id, code) DO UPDATE SET title = excluded.title;
