-- Who asks: tenants, people and services, what they may do, and the keys that prove it.

CREATE TABLE tenant (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  name word NOT NULL UNIQUE,
  created_at timestamptz NOT NULL DEFAULT clock()
);
INSERT INTO tenant (name) VALUES ('default');

CREATE TABLE principal (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  tenant_id bigint NOT NULL REFERENCES tenant,
  name text COLLATE "C" NOT NULL CHECK (name ~ '^[a-z0-9][a-z0-9._@-]{0,63}$'),
  kind text NOT NULL CHECK (kind IN ('person', 'service')),
  active boolean NOT NULL DEFAULT true,
  created_at timestamptz NOT NULL DEFAULT clock(),
  UNIQUE (tenant_id, name)
);

-- What a principal may do; `queue` NULL means in every queue of its tenant.
CREATE TABLE role_grant (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  principal_id bigint NOT NULL REFERENCES principal,
  role text NOT NULL CHECK (role IN ('producer', 'reviewer', 'lead', 'auditor', 'operator', 'admin')),
  queue word,
  granted_at timestamptz NOT NULL DEFAULT clock(),
  UNIQUE NULLS NOT DISTINCT (principal_id, role, queue)
);

-- A key is `fp_<env>_<id>_<secret>`; only the SHA-256 of the secret is kept.
CREATE TABLE api_key (
  id text COLLATE "C" PRIMARY KEY CHECK (id ~ '^[a-z0-9]{12}$'),
  principal_id bigint NOT NULL REFERENCES principal,
  env text NOT NULL CHECK (env IN ('live', 'test')),
  secret_sha256 bytea NOT NULL CHECK (length(secret_sha256) = 32),
  created_at timestamptz NOT NULL DEFAULT clock(),
  expires_at timestamptz,
  last_used_at timestamptz,
  revoked_at timestamptz
);
CREATE INDEX api_key_principal ON api_key (principal_id);

GRANT SELECT ON tenant, principal, role_grant TO fencepost_runtime, fencepost_reader;
GRANT SELECT ON api_key TO fencepost_runtime;
GRANT SELECT (id, principal_id, env, created_at, expires_at, last_used_at, revoked_at) ON api_key TO fencepost_reader;
GRANT INSERT (tenant_id, name, kind), UPDATE (active) ON principal TO fencepost_runtime;
GRANT INSERT (principal_id, role, queue), DELETE ON role_grant TO fencepost_runtime;
GRANT INSERT (id, principal_id, env, secret_sha256, expires_at), UPDATE (last_used_at, revoked_at) ON api_key TO fencepost_runtime;
