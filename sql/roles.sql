-- Who may do what, apart from the schema. Roles belong to the whole cluster: every line may run again, and beside itself.

DO $$
BEGIN
  CREATE ROLE fencepost_owner NOLOGIN;
EXCEPTION WHEN duplicate_object OR unique_violation THEN NULL;
END $$;

DO $$
BEGIN
  CREATE ROLE fencepost_runtime LOGIN;
EXCEPTION WHEN duplicate_object OR unique_violation THEN NULL;
END $$;

DO $$
BEGIN
  CREATE ROLE fencepost_reader LOGIN;
EXCEPTION WHEN duplicate_object OR unique_violation THEN NULL;
END $$;

-- Whoever migrates becomes the owner for it. A superuser can do so without being a member.
DO $$
BEGIN
  IF NOT pg_has_role(current_user, 'fencepost_owner', 'MEMBER') THEN
    GRANT fencepost_owner TO CURRENT_USER;
  END IF;
END $$;

-- The server and its workers. A verdict is durable when it is acknowledged; nothing may wait for long.
-- Temporary tables come last in the path, so that none can stand in for one of ours.
ALTER ROLE fencepost_runtime SET search_path = fencepost, pg_temp;
ALTER ROLE fencepost_runtime SET statement_timeout = '5s';
ALTER ROLE fencepost_runtime SET lock_timeout = '1s';
ALTER ROLE fencepost_runtime SET idle_in_transaction_session_timeout = '10s';
ALTER ROLE fencepost_runtime SET synchronous_commit = 'on';
ALTER ROLE fencepost_runtime SET timezone = 'UTC';
ALTER ROLE fencepost_runtime SET jit = 'off';
-- Every statement is made to have one good plan, whatever the values: with a long history the planner would else
-- plan each claim anew, which takes longer than the claim.
ALTER ROLE fencepost_runtime SET plan_cache_mode = 'force_generic_plan';

-- History, audit and exports. They may take longer, and can't write.
ALTER ROLE fencepost_reader SET search_path = fencepost, pg_temp;
ALTER ROLE fencepost_reader SET default_transaction_read_only = 'on';
ALTER ROLE fencepost_reader SET statement_timeout = '30s';
ALTER ROLE fencepost_reader SET lock_timeout = '1s';
ALTER ROLE fencepost_reader SET idle_in_transaction_session_timeout = '10s';
ALTER ROLE fencepost_reader SET timezone = 'UTC';
ALTER ROLE fencepost_reader SET jit = 'off';

CREATE SCHEMA IF NOT EXISTS fencepost AUTHORIZATION fencepost_owner;
GRANT USAGE ON SCHEMA fencepost TO fencepost_runtime, fencepost_reader;
DO $$
BEGIN
  EXECUTE format('GRANT CONNECT ON DATABASE %I TO fencepost_owner, fencepost_runtime, fencepost_reader', current_database());
END $$;
