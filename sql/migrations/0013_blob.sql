-- Attachments: bytes under their own digest, and which revision of which content shows them.

CREATE TABLE blob (
  tenant_id bigint NOT NULL REFERENCES tenant,
  sha256 bytea NOT NULL CHECK (length(sha256) = 32),
  media_type text NOT NULL CHECK (media_type IN
    ('image/png', 'image/jpeg', 'image/gif', 'image/webp', 'application/pdf', 'text/plain')),
  size int NOT NULL CHECK (size BETWEEN 1 AND 16777216),
  bytes bytea,
  created_by bigint NOT NULL REFERENCES principal,
  created_at timestamptz NOT NULL DEFAULT clock(),
  erased_at timestamptz,
  PRIMARY KEY (tenant_id, sha256),
  CONSTRAINT digest_is_true CHECK (bytes IS NULL OR (sha256(bytes) = sha256 AND length(bytes) = size)),
  CONSTRAINT blob_is_there_or_erased CHECK ((bytes IS NULL) = (erased_at IS NOT NULL))
);
-- Most are compressed already.
ALTER TABLE blob ALTER COLUMN bytes SET STORAGE EXTERNAL;

CREATE TABLE attachment (
  content_id bigint NOT NULL,
  revision int NOT NULL,
  place int NOT NULL CHECK (place BETWEEN 1 AND 20),
  tenant_id bigint NOT NULL,
  sha256 bytea NOT NULL,
  PRIMARY KEY (content_id, revision, place),
  UNIQUE (content_id, revision, sha256),
  FOREIGN KEY (content_id, tenant_id) REFERENCES content (id, tenant_id),
  FOREIGN KEY (content_id, revision) REFERENCES payload (content_id, revision),
  FOREIGN KEY (tenant_id, sha256) REFERENCES blob (tenant_id, sha256)
);
CREATE INDEX attachment_blob ON attachment (tenant_id, sha256);

CALL make_append_only('attachment');

GRANT SELECT ON blob, attachment TO fencepost_runtime;
GRANT SELECT ON attachment TO fencepost_reader;
GRANT INSERT (tenant_id, sha256, media_type, size, bytes, created_by) ON blob TO fencepost_runtime;
GRANT INSERT (content_id, revision, place, tenant_id, sha256) ON attachment TO fencepost_runtime;
