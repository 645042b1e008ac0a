-- name: find_key(key_id)^
-- Read a key, the principal behind it and what he may do, in one look.
SELECT k.id AS key_id, k.env, k.secret_sha256, p.id AS principal_id, p.tenant_id, t.name::text AS tenant, p.name,
  k.revoked_at IS NULL AND p.active AND (k.expires_at IS NULL OR k.expires_at > m.at) AS usable,
  k.last_used_at IS NULL OR k.last_used_at < m.at - interval '1 minute' AS touch,
  (SELECT coalesce(array_agg(g.role ORDER BY g.id), '{}')
   FROM role_grant g WHERE g.principal_id = p.id) AS roles,
  (SELECT coalesce(array_agg(g.queue::text ORDER BY g.id), '{}')
   FROM role_grant g WHERE g.principal_id = p.id) AS queues
FROM (SELECT clock() AS at OFFSET 0) AS m, api_key k
JOIN principal p ON p.id = k.principal_id JOIN tenant t ON t.id = p.tenant_id
WHERE k.id = :key_id;

-- name: touch_key(key_id)!
-- Note that a key was used, at most once a minute.
UPDATE api_key SET last_used_at = clock()
WHERE id = :key_id AND (last_used_at IS NULL OR last_used_at < clock() - interval '1 minute');

-- name: find_tenant(name)$
-- Find a tenant by its name.
SELECT id FROM tenant WHERE name = :name;

-- name: insert_principal(tenant_id, name, kind)!
-- Make a principal, unless one of that name is there.
INSERT INTO principal (tenant_id, name, kind) VALUES (:tenant_id, :name, :kind)
ON CONFLICT (tenant_id, name) DO NOTHING;

-- name: find_principal(tenant_id, name)^
-- Find a principal by his name within his tenant.
SELECT id, kind, active FROM principal WHERE tenant_id = :tenant_id AND name = :name;

-- name: insert_grant(principal_id, role, queue)!
-- Grant a role in one queue, or (NULL) in all; once.
INSERT INTO role_grant (principal_id, role, queue) VALUES (:principal_id, :role, :queue)
ON CONFLICT (principal_id, role, queue) DO NOTHING;

-- name: insert_key(key_id, principal_id, env, secret_sha256, expires_in)!
-- Store a new key; the secret itself is nowhere.
INSERT INTO api_key (id, principal_id, env, secret_sha256, expires_at)
VALUES (:key_id, :principal_id, :env, :secret_sha256, clock() + :expires_in::interval);

-- name: revoke_key(key_id)$
-- Revoke a key for good, and say whose it was.
UPDATE api_key SET revoked_at = coalesce(revoked_at, clock()) WHERE id = :key_id
RETURNING principal_id;

-- name: list_keys(tenant_id)
-- List the keys of a tenant with their holders, newest last; no secret, and no hash of one.
SELECT k.id AS key_id, k.env, p.name, k.created_at, k.expires_at, k.last_used_at, k.revoked_at,
  k.revoked_at IS NULL AND p.active AND (k.expires_at IS NULL OR k.expires_at > m.at) AS usable,
  (SELECT coalesce(array_agg(g.role || coalesce(':' || g.queue::text, '') ORDER BY g.id), '{}')
   FROM role_grant g WHERE g.principal_id = p.id) AS grants
FROM (SELECT clock() AS at OFFSET 0) AS m, api_key k JOIN principal p ON p.id = k.principal_id
WHERE p.tenant_id = :tenant_id ORDER BY k.created_at, k.id;
