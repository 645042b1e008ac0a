-- Attachments: bytes under their own digest, and who may read them.

-- name: insert_blob(tenant_id, sha256, media_type, size, bytes, principal_id)^
-- Store bytes under their digest, once.
INSERT INTO blob (tenant_id, sha256, media_type, size, bytes, created_by)
VALUES (:tenant_id, :sha256, :media_type, :size, :bytes, :principal_id)
ON CONFLICT (tenant_id, sha256) DO NOTHING
RETURNING media_type, size;

-- name: find_blob(tenant_id, sha256)^
-- Read what is known of bytes that are here.
SELECT media_type, size FROM blob WHERE tenant_id = :tenant_id AND sha256 = :sha256 AND erased_at IS NULL;

-- name: blobs_here(tenant_id, digests)
-- Tell which of these digests have their bytes here.
SELECT encode(sha256, 'hex') AS sha256 FROM blob
WHERE tenant_id = :tenant_id AND sha256 = ANY (:digests::bytea[]) AND erased_at IS NULL;

-- name: attach(tenant_id, contents, revisions, places, digests)!
-- Say which revision of which content shows which bytes, in what order.
INSERT INTO attachment (tenant_id, content_id, revision, place, sha256)
SELECT :tenant_id, a.content_id, a.revision, a.place, a.sha256
FROM unnest(:contents::bigint[], :revisions::int[], :places::int[], :digests::bytea[]) AS a (content_id, revision, place, sha256);

-- name: read_leased_blob(tenant_id, item_id, fence_token, principal_id, sha256)^
-- Read bytes for the live holder of an item that shows them now; no row if he is not, no bytes if it does not.
SELECT i.queue::text AS queue, b.media_type, b.bytes AS data
FROM item i
CROSS JOIN (SELECT clock() AS now OFFSET 0) t
LEFT JOIN attachment a ON a.content_id = i.content_id AND a.revision = i.evidence_revision AND a.sha256 = :sha256
LEFT JOIN blob b ON b.tenant_id = a.tenant_id AND b.sha256 = a.sha256
WHERE i.id = :item_id AND i.fence_token = :fence_token AND i.tenant_id = :tenant_id AND i.owner IS NOT DISTINCT FROM :principal_id
  AND i.lease_expires > t.now;

-- name: find_attached(tenant_id, content_id, sha256)^
-- Find a content that shows these bytes or ever did, with the queue of its newest round.
SELECT c.id AS content_pk, c.kind,
  (SELECT i.queue::text FROM item i WHERE i.content_id = c.id ORDER BY i.round DESC LIMIT 1) AS queue
FROM content c
WHERE c.tenant_id = :tenant_id AND c.content_id = :content_id
  AND EXISTS (SELECT FROM attachment a WHERE a.content_id = c.id AND a.sha256 = :sha256);

-- name: read_blob(tenant_id, sha256)^
-- Read bytes that are here.
SELECT media_type, bytes AS data FROM blob WHERE tenant_id = :tenant_id AND sha256 = :sha256 AND erased_at IS NULL;
