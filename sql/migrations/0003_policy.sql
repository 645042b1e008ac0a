-- The policy: immutable versions, which one is active, and the names that it owns.

CREATE TABLE policy_version (
  tenant_id bigint NOT NULL REFERENCES tenant,
  version text COLLATE "C" NOT NULL CHECK (version ~ '^[A-Za-z0-9][A-Za-z0-9._-]{0,31}$'),
  document text NOT NULL,
  sha256 bytea NOT NULL CHECK (sha256 = sha256(convert_to(document, 'UTF8'))),
  created_at timestamptz NOT NULL DEFAULT clock(),
  created_by bigint REFERENCES principal,
  PRIMARY KEY (tenant_id, version)
);

-- Every activation is a row; the newest of a tenant is in force.
CREATE TABLE policy_active (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  tenant_id bigint NOT NULL,
  version text COLLATE "C" NOT NULL,
  activated_at timestamptz NOT NULL DEFAULT clock(),
  activated_by bigint REFERENCES principal,
  FOREIGN KEY (tenant_id, version) REFERENCES policy_version
);
CREATE INDEX policy_active_newest ON policy_active (tenant_id, id DESC);

-- Names that the policy owns are filled at activation and never deleted, so that history can always name them.
CREATE TABLE queue (
  tenant_id bigint NOT NULL REFERENCES tenant,
  name word NOT NULL,
  title text NOT NULL,
  severity int NOT NULL CHECK (severity BETWEEN 0 AND 1000),
  lease_ttl interval NOT NULL CHECK (lease_ttl BETWEEN '1 second' AND '1 day'),
  max_hold interval NOT NULL CHECK (max_hold >= lease_ttl),
  abandon_threshold int NOT NULL CHECK (abandon_threshold BETWEEN 1 AND 100),
  escalation_queue word,
  escalation_boost float8 NOT NULL CHECK (escalation_boost BETWEEN 0 AND 10000),
  undo_window interval NOT NULL CHECK (undo_window BETWEEN '0 seconds' AND '1 day'),
  release_cooldown interval NOT NULL CHECK (release_cooldown BETWEEN '0 seconds' AND '1 day'),
  sla interval NOT NULL CHECK (sla > '0 seconds'),
  disabled_at timestamptz,
  PRIMARY KEY (tenant_id, name),
  FOREIGN KEY (tenant_id, escalation_queue) REFERENCES queue (tenant_id, name),
  CHECK (escalation_queue <> name)
);

CREATE TABLE category (
  tenant_id bigint NOT NULL REFERENCES tenant,
  name word NOT NULL,
  PRIMARY KEY (tenant_id, name)
);

CREATE TABLE reason (
  tenant_id bigint NOT NULL REFERENCES tenant,
  code word NOT NULL,
  title text NOT NULL,
  PRIMARY KEY (tenant_id, code)
);

CALL make_append_only('policy_version');
CALL make_append_only('policy_active');

GRANT SELECT ON policy_version, policy_active, queue, category, reason TO fencepost_runtime, fencepost_reader;
GRANT INSERT (tenant_id, version, document, sha256, created_by) ON policy_version TO fencepost_runtime;
GRANT INSERT (tenant_id, version, activated_by) ON policy_active TO fencepost_runtime;
GRANT INSERT, UPDATE ON queue TO fencepost_runtime;
GRANT INSERT ON category TO fencepost_runtime;
GRANT INSERT, UPDATE (title) ON reason TO fencepost_runtime;
