-- Appeals: one open at a time for each content and author; the words of the author stand apart, so that they can be erased.

CREATE TABLE appeal (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  tenant_id bigint NOT NULL,
  content_id bigint NOT NULL,
  author_id text COLLATE "C" NOT NULL CHECK (length(author_id) BETWEEN 1 AND 128),
  decision_id bigint NOT NULL,
  original_actor text NOT NULL CHECK (original_actor IN ('rules', 'model', 'reviewer', 'appeal')),
  state text NOT NULL DEFAULT 'queued' CHECK (state IN ('queued', 'in_review', 'upheld', 'overturned', 'withdrawn')),
  created_at timestamptz NOT NULL DEFAULT clock(),
  resolved_at timestamptz,
  FOREIGN KEY (content_id, tenant_id) REFERENCES content (id, tenant_id),
  FOREIGN KEY (decision_id, content_id) REFERENCES decision (id, content_id),
  CHECK ((state IN ('queued', 'in_review')) = (resolved_at IS NULL))
);
CREATE UNIQUE INDEX appeal_one_open ON appeal (content_id, author_id) WHERE state IN ('queued', 'in_review');
-- A later appeal contests a new decision, never the same one again.
CREATE UNIQUE INDEX appeal_decision ON appeal (decision_id, author_id);

CREATE TABLE statement (
  appeal_id bigint PRIMARY KEY REFERENCES appeal,
  text text CHECK (length(text) BETWEEN 1 AND 20000),
  erased_at timestamptz,
  CHECK ((text IS NULL) = (erased_at IS NOT NULL))
);

GRANT SELECT ON appeal TO fencepost_runtime, fencepost_reader;
GRANT SELECT ON statement TO fencepost_runtime;
GRANT INSERT (tenant_id, content_id, author_id, decision_id, original_actor), UPDATE (state, resolved_at) ON appeal TO fencepost_runtime;
GRANT INSERT (appeal_id, text) ON statement TO fencepost_runtime;
