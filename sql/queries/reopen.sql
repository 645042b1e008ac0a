-- Reopening: the next round of work on a content that has none.

-- name: open_round(tenant_id, content_id, queue, source, severity, base, rank, evidence_revision, first_enqueued_at, now)^
-- Open the next round of a content, unless one is open: the unique index over open items says so, whoever else opens one.
INSERT INTO item (tenant_id, content_id, queue, round, source, severity, base, rank, first_enqueued_at, enqueued_at, sla_from, evidence_revision)
SELECT :tenant_id, :content_id, :queue, coalesce((SELECT max(round) FROM item WHERE content_id = :content_id), 0) + 1, :source,
  :severity, :base, :rank, :first_enqueued_at, :now, :now, :evidence_revision
ON CONFLICT (content_id) WHERE state <> 'resolved' AND source NOT IN ('second_look', 'golden') DO NOTHING
RETURNING id AS item_pk, queue::text AS queue, round;

-- name: read_shown(content_id, revision)^
-- Read the evidence that a new round shows; no bytes: they were erased.
SELECT encode(hash, 'hex') AS evidence_hash, convert_from(bytes, 'UTF8') AS evidence FROM evidence
WHERE content_id = :content_id AND revision = :revision;
