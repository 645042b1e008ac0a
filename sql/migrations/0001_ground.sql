-- The ground that every other table stands on: the clock, the words, and the refusal to rewrite history.

-- The one clock that decides a lease. Only the owner can replace it: simulations do so in a database
-- of their own, and `serve` refuses a body that differs from this one.
CREATE FUNCTION clock() RETURNS timestamptz LANGUAGE sql VOLATILE AS 'SELECT clock_timestamp()';

-- A name that the policy or an operator chooses: queue, category, reason, scorer, kind.
CREATE DOMAIN word AS text COLLATE "C" CHECK (VALUE ~ '^[a-z][a-z0-9_-]{0,39}$');

-- Raised by the triggers of append-only tables, for everybody, the owner too.
CREATE FUNCTION refuse_rewrite() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION '% is append-only: % refused', TG_TABLE_NAME, TG_OP USING ERRCODE = 'restrict_violation';
END $$;

-- Raised by the triggers that guard a transition; the trigger's WHEN clause holds the rule.
CREATE FUNCTION refuse_transition() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION '%: this transition is not allowed (%)', TG_TABLE_NAME, TG_NAME USING ERRCODE = 'restrict_violation';
END $$;

-- Makes a table append-only: no UPDATE, DELETE or TRUNCATE by anybody, also not as a replica.
CREATE PROCEDURE make_append_only(target regclass) LANGUAGE plpgsql AS $$
BEGIN
  EXECUTE format('CREATE TRIGGER append_only BEFORE UPDATE OR DELETE ON %s FOR EACH ROW EXECUTE FUNCTION fencepost.refuse_rewrite()', target);
  EXECUTE format('CREATE TRIGGER append_only_whole BEFORE TRUNCATE ON %s FOR EACH STATEMENT EXECUTE FUNCTION fencepost.refuse_rewrite()', target);
  EXECUTE format('ALTER TABLE %s ENABLE ALWAYS TRIGGER append_only', target);
  EXECUTE format('ALTER TABLE %s ENABLE ALWAYS TRIGGER append_only_whole', target);
END $$;

REVOKE ALL ON FUNCTION clock(), refuse_rewrite(), refuse_transition() FROM PUBLIC;
REVOKE ALL ON PROCEDURE make_append_only(regclass) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION clock() TO fencepost_runtime, fencepost_reader;
