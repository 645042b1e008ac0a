-- What became of a set of contents, counted from the rows themselves: the demo's account of itself.

-- name: count_bands(content_ids)
-- Count the contents by the band of their first decision, and those that people judge without one.
SELECT coalesce(d.band, 'CASE') AS band, count(*) AS contents,
  count(*) FILTER (WHERE EXISTS (SELECT FROM item i WHERE i.content_id = c.id)) AS queued
FROM content c LEFT JOIN decision d ON d.content_id = c.id AND d.supersedes IS NULL AND d.kind = 'automatic'
WHERE c.content_id = ANY (:content_ids::text[])
GROUP BY 1 ORDER BY 1;

-- name: count_verdicts(content_ids)
-- Count the verdicts on these contents by what they say and by what became of them.
SELECT d.verdict, d.outcome, count(*) AS recorded, count(DISTINCT d.lease_token) AS leases,
  count(*) FILTER (WHERE a.result = 'applied') AS applied, count(*) FILTER (WHERE a.result = 'skipped') AS skipped,
  count(*) FILTER (WHERE p.decision_id IS NOT NULL) AS waiting
FROM content c JOIN decision d ON d.content_id = c.id AND d.verdict IS NOT NULL
LEFT JOIN applied a ON a.decision_id = d.id
LEFT JOIN pending_apply p ON p.decision_id = d.id
WHERE c.content_id = ANY (:content_ids::text[])
GROUP BY 1, 2 ORDER BY 1, 2;

-- name: read_fates(content_ids)
-- Read where each content stands: its state, its verdict in force, and how many rows say so.
SELECT c.content_id, c.state, c.seq, d.verdict, d.id AS decision_pk,
  (SELECT count(*) FROM decision x WHERE x.content_id = c.id AND x.verdict IS NOT NULL) AS verdicts,
  (SELECT count(*) FROM decision x JOIN applied a ON a.decision_id = x.id WHERE x.content_id = c.id AND x.verdict IS NOT NULL) AS applied,
  (SELECT count(*) FROM item i WHERE i.content_id = c.id) AS rounds,
  (SELECT count(*) FROM event e WHERE e.content_id = c.id) AS events
FROM content c LEFT JOIN decision d ON d.id = c.applied_decision
WHERE c.content_id = ANY (:content_ids::text[])
ORDER BY c.content_id;

-- name: count_rows()^
-- Count the rows that must agree with each other whatever happened: no decision is applied twice, none is lost.
SELECT (SELECT count(*) FROM content) AS contents, (SELECT count(*) FROM item) AS items,
  (SELECT count(*) FROM decision) AS decisions, (SELECT count(*) FROM applied) AS applied,
  (SELECT count(*) FROM pending_apply) AS waiting,
  (SELECT count(*) FROM decision d WHERE NOT EXISTS (SELECT FROM applied a WHERE a.decision_id = d.id)
    AND NOT EXISTS (SELECT FROM pending_apply p WHERE p.decision_id = d.id)) AS lost,
  (SELECT count(*) FROM (SELECT d.id FROM decision d JOIN outbox o ON o.decision_id = d.id GROUP BY d.id, o.kind HAVING count(*) > 1) twice) AS twice;
