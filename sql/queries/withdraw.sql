-- Withdrawing: nobody needs to look any more, says a lead of items or a producer of a content.

-- name: withdraw_items(tenant_id, item_ids, by_principal, now)
-- Resolve items as withdrawn: a token dies and is logged; what is resolved already stays as it is.
WITH ended AS (
  INSERT INTO lease_log (item_id, lease_epoch, happening, principal_id, by_principal)
  SELECT id, lease_epoch, 'withdraw', owner, :by_principal FROM item
  WHERE tenant_id = :tenant_id AND id = ANY (:item_ids::bigint[]) AND state <> 'resolved' AND num_nonnulls(owner) = 1)
UPDATE item SET state = 'resolved', resolution = 'withdrawn', resolved_at = :now,
  lease_epoch = lease_epoch + CASE WHEN owner IS NULL THEN 0 ELSE 1 END,
  owner = NULL, fence_token = NULL, claim_key = NULL, terminal = NULL, leased_at = NULL, lease_expires = NULL,
  parked_at = NULL, wake_at = NULL, abandoned = false
WHERE tenant_id = :tenant_id AND id = ANY (:item_ids::bigint[]) AND state <> 'resolved'
RETURNING id AS item_pk;

-- name: leave_intake(content_id)!
-- Take a content out of the line for a score that nobody waits for any more.
DELETE FROM intake WHERE content_id = :content_id;

-- name: find_in_line(content_ids)
-- Find those of these contents whose newest decision has not taken effect yet.
SELECT n.id AS content_pk FROM content n
WHERE n.id = ANY (:content_ids::bigint[]) AND n.head_decision IS NOT NULL
  AND NOT EXISTS (SELECT FROM applied a WHERE a.decision_id = n.head_decision);
