-- A queue in use can't disappear: it is drained, or its work goes to the queue that takes its place.

ALTER TABLE queue
  -- Draining: no new item comes in, and people work off what is there.
  ADD COLUMN draining boolean NOT NULL DEFAULT false,
  -- Where everything goes once the policy no longer names this queue.
  ADD COLUMN successor word,
  ADD FOREIGN KEY (tenant_id, successor) REFERENCES queue (tenant_id, name),
  ADD CONSTRAINT succeeds_another CHECK (successor <> name),
  ADD CONSTRAINT only_closed_has_successor CHECK (successor IS NULL OR disabled_at IS NOT NULL);
