-- What is said to other processes: on a connection of its own, after the fact, and never beside a write.

-- name: notify_all(channel, payloads)!
-- Send each payload to whoever listens on the channel, as soon as this commits.
SELECT pg_notify(:channel::text, payload) FROM unnest(:payloads::text[]) AS payload;

-- name: find_session()^
-- Tell the process that serves this session by the number that it has itself.
SELECT pg_backend_pid() AS pid;
