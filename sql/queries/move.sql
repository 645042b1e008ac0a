-- Moving: a lead takes items from one queue to another, whoever holds them.

-- name: open_queue(tenant_id, queue)^
-- Tell whether a queue takes new items, and keep it so until the end of the transaction: a policy that closes it waits.
SELECT name::text AS queue FROM queue
WHERE tenant_id = :tenant_id AND name = :queue AND NOT draining AND disabled_at IS NULL
FOR SHARE;

-- name: move_items(tenant_id, item_ids, to, by_principal, now)
-- Move unresolved items to another queue: a token dies and is logged, a lease ends, who left it undecided is forgotten there; rank, boosts, exclusions and parking stay.
WITH ended AS (
  INSERT INTO lease_log (item_id, lease_epoch, happening, principal_id, by_principal)
  SELECT id, lease_epoch, 'move', owner, :by_principal FROM item
  WHERE tenant_id = :tenant_id AND id = ANY (:item_ids::bigint[]) AND state <> 'resolved' AND queue <> :to AND num_nonnulls(owner) = 1)
UPDATE item SET queue = :to, state = CASE state WHEN 'leased' THEN 'queued' ELSE state END,
  lease_epoch = lease_epoch + CASE WHEN owner IS NULL THEN 0 ELSE 1 END,
  owner = NULL, fence_token = NULL, claim_key = NULL, terminal = NULL, leased_at = NULL, lease_expires = NULL,
  left_by = '{}', abandoned = false, stuck_at = NULL, moved_at = :now
WHERE tenant_id = :tenant_id AND id = ANY (:item_ids::bigint[]) AND state <> 'resolved' AND queue <> :to
RETURNING id AS item_pk;
