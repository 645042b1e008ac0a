-- What a producer and a lead may do with a content's rounds: withdraw, revise, ask and answer; each is a fact of its trail.

ALTER TABLE content ADD COLUMN withdrawn_at timestamptz;
GRANT UPDATE (withdrawn_at) ON content TO fencepost_runtime;

ALTER TABLE event DROP CONSTRAINT event_type_check;
ALTER TABLE event ADD CONSTRAINT event_type_check CHECK (type IN
  ('content.submitted', 'content.resubmitted', 'content.withdrawn', 'decision.recorded', 'decision.applied', 'decision.skipped',
   'evidence.revised', 'evidence.viewed', 'item.queued', 'item.escalated', 'item.parked', 'item.moved', 'item.withdrawn',
   'verdict.refused'));

-- What a reviewer who parks an item asks of its producer. Words of a person: they stand here alone, and may be erased.
CREATE TABLE question (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  item_id bigint NOT NULL REFERENCES item,
  content_id bigint NOT NULL REFERENCES content,
  principal_id bigint NOT NULL REFERENCES principal,
  reason text NOT NULL CHECK (reason IN ('await_producer', 'await_evidence', 'await_date')),
  text text CHECK (length(text) BETWEEN 1 AND 2000),
  wake_at timestamptz NOT NULL,
  asked_at timestamptz NOT NULL DEFAULT clock(),
  erased_at timestamptz,
  CHECK (text IS NULL OR erased_at IS NULL)
);
CREATE INDEX question_content ON question (content_id, id);
CREATE INDEX question_item ON question (item_id, id);

-- A question leaves the house as a decision does.
ALTER TABLE outbox
  ALTER COLUMN decision_id DROP NOT NULL,
  ADD COLUMN question_id bigint REFERENCES question,
  ADD CONSTRAINT tells_one_thing CHECK (num_nonnulls(decision_id, question_id) = 1);
CREATE UNIQUE INDEX outbox_question ON outbox (question_id) WHERE question_id IS NOT NULL;

GRANT SELECT ON question TO fencepost_runtime;
GRANT INSERT (item_id, content_id, principal_id, reason, text, wake_at) ON question TO fencepost_runtime;
GRANT INSERT (question_id) ON outbox TO fencepost_runtime;
