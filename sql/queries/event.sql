-- The audit trail.

-- name: insert_events(content_ids, seqs, types, prev_hashes, canonicals, hashes)!
-- Append events, in order within each content; the database refuses a hash that is not true and a link that is not there.
INSERT INTO event (content_id, seq, type, prev_hash, canonical, hash)
SELECT content_id, seq, type, prev_hash, canonical, hash
FROM unnest(:content_ids::bigint[], :seqs::bigint[], :types::text[], :prev_hashes::bytea[], :canonicals::bytea[], :hashes::bytea[])
  AS t (content_id, seq, type, prev_hash, canonical, hash);

-- name: events_of(content_id)
-- Read the trail of one content from its beginning.
SELECT seq, type, prev_hash, canonical, hash FROM event WHERE content_id = :content_id ORDER BY seq;
