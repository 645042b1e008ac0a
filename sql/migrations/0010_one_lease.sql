-- One live lease a person, also when two of his claims come at the same instant.

-- Tells whether a person holds a live lease (of another item than `besides`), and lets the claims of one person pass
-- one at a time until each has committed. The statement that asks was given its view of the table before it came to
-- wait here; a query inside a volatile function gets a view of its own, so that it sees what it has waited for.
CREATE FUNCTION holds_lease(person bigint, besides bigint, at timestamptz) RETURNS boolean LANGUAGE plpgsql VOLATILE AS $$
BEGIN
  PERFORM pg_advisory_xact_lock(hashint8extended(person, 70102));
  RETURN EXISTS (
    SELECT FROM (SELECT id, state, lease_expires FROM fencepost.item WHERE owner = person OFFSET 0) mine
    WHERE mine.id IS DISTINCT FROM besides AND mine.state = 'leased' AND mine.lease_expires > at);
END $$;

REVOKE ALL ON FUNCTION holds_lease(bigint, bigint, timestamptz) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION holds_lease(bigint, bigint, timestamptz) TO fencepost_runtime;
