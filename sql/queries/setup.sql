-- What bootstrap and migrate need, before and beside the schema.

-- name: text_of_create_database(name)$
-- Quote a database's name into the statement that makes it, which takes no parameters.
SELECT format('CREATE DATABASE %I TEMPLATE template0 ENCODING ''UTF8''', :name::text);

-- name: wait_for_turn(key)!
-- Hold the lock of set-up until this transaction ends.
SELECT pg_advisory_xact_lock(:key::bigint);

-- name: take_turn(key)!
-- Hold the lock of set-up until this session ends.
SELECT pg_advisory_lock(:key::bigint);

-- name: become_owner(lock_timeout)!
-- Work as the owner of the schema from here on, and give up on a lock that others hold for longer than this.
SELECT set_config('role', 'fencepost_owner', false), set_config('search_path', 'fencepost, pg_temp', false),
  set_config('statement_timeout', '0', false), set_config('idle_in_transaction_session_timeout', '0', false),
  set_config('lock_timeout', :lock_timeout::text, false);

-- name: migrations_are_kept()$
-- Tell whether the table of migrations is there.
SELECT to_regclass('fencepost.migration') IS NOT NULL;

-- name: create_migration_table()!
-- Make the table of migrations.
CREATE TABLE fencepost.migration (
  version int PRIMARY KEY CHECK (version >= 1),
  name text COLLATE "C" NOT NULL,
  sha256 bytea NOT NULL CHECK (length(sha256) = 32),
  applied_at timestamptz NOT NULL DEFAULT clock_timestamp());

-- name: grant_migration_table()!
-- Let everyone see which schema this is.
GRANT SELECT ON fencepost.migration TO fencepost_runtime, fencepost_reader;

-- name: applied_migrations()
-- Read which migrations a database has, in order.
SELECT version, name, sha256, applied_at FROM fencepost.migration ORDER BY version;

-- name: record_migration(version, name, sha256)!
-- Note that a migration was carried out.
INSERT INTO fencepost.migration (version, name, sha256) VALUES (:version, :name, :sha256);

-- name: guarantees()^
-- Read what the promises to clients rest on: durable commits, the true clock, a server that is new enough.
SELECT current_setting('server_version_num')::int / 10000 AS major, current_setting('fsync') AS fsync,
  current_setting('full_page_writes') AS full_page_writes, current_setting('synchronous_commit') AS synchronous_commit,
  (SELECT btrim(prosrc) = 'SELECT clock_timestamp()' FROM pg_proc WHERE oid = to_regprocedure('fencepost.clock()')) AS true_clock;

-- name: settle()!
-- Bring all that was changed to disk now, so that a stop soon after has little left to write.
CHECKPOINT;
