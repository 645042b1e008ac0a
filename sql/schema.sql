-- The schema after all migrations. Generated: ./run python -m tests.support.snapshot

CREATE SCHEMA fencepost;

ALTER SCHEMA fencepost OWNER TO fencepost_owner;

CREATE DOMAIN fencepost.word AS text COLLATE pg_catalog."C"
	CONSTRAINT word_check CHECK ((VALUE ~ '^[a-z][a-z0-9_-]{0,39}$'::text));

ALTER DOMAIN fencepost.word OWNER TO fencepost_owner;

CREATE FUNCTION fencepost.actor_rank(actor text) RETURNS integer
    LANGUAGE sql IMMUTABLE
    AS $$ SELECT array_position(ARRAY['rules', 'model', 'reviewer', 'appeal'], actor) $$;

ALTER FUNCTION fencepost.actor_rank(actor text) OWNER TO fencepost_owner;

CREATE FUNCTION fencepost.clock() RETURNS timestamp with time zone
    LANGUAGE sql
    AS $$SELECT clock_timestamp()$$;

ALTER FUNCTION fencepost.clock() OWNER TO fencepost_owner;

CREATE FUNCTION fencepost.holds_lease(person bigint, besides bigint, at timestamp with time zone) RETURNS boolean
    LANGUAGE plpgsql
    AS $$
BEGIN
  PERFORM pg_advisory_xact_lock(hashint8extended(person, 70102));
  RETURN EXISTS (
    SELECT FROM (SELECT id, state, lease_expires FROM fencepost.item WHERE owner = person OFFSET 0) mine
    WHERE mine.id IS DISTINCT FROM besides AND mine.state = 'leased' AND mine.lease_expires > at);
END $$;

ALTER FUNCTION fencepost.holds_lease(person bigint, besides bigint, at timestamp with time zone) OWNER TO fencepost_owner;

CREATE PROCEDURE fencepost.make_append_only(IN target regclass)
    LANGUAGE plpgsql
    AS $$
BEGIN
  EXECUTE format('CREATE TRIGGER append_only BEFORE UPDATE OR DELETE ON %s FOR EACH ROW EXECUTE FUNCTION fencepost.refuse_rewrite()', target);
  EXECUTE format('CREATE TRIGGER append_only_whole BEFORE TRUNCATE ON %s FOR EACH STATEMENT EXECUTE FUNCTION fencepost.refuse_rewrite()', target);
  EXECUTE format('ALTER TABLE %s ENABLE ALWAYS TRIGGER append_only', target);
  EXECUTE format('ALTER TABLE %s ENABLE ALWAYS TRIGGER append_only_whole', target);
END $$;

ALTER PROCEDURE fencepost.make_append_only(IN target regclass) OWNER TO fencepost_owner;

CREATE FUNCTION fencepost.may_read(wanted_content bigint) RETURNS boolean
    LANGUAGE sql STABLE
    AS $$
  SELECT EXISTS (
    SELECT FROM fencepost.content c
    JOIN fencepost.principal p ON p.tenant_id = c.tenant_id AND p.active
    JOIN fencepost.role_grant g ON g.principal_id = p.id AND g.role IN ('lead', 'auditor')
    WHERE c.id = wanted_content AND p.id = nullif(current_setting('fencepost.principal', true), '')::bigint)
$$;

ALTER FUNCTION fencepost.may_read(wanted_content bigint) OWNER TO fencepost_owner;

CREATE FUNCTION fencepost.refuse_broken_chain() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
  IF EXISTS (
    SELECT FROM added a LEFT JOIN fencepost.event p ON p.content_id = a.content_id AND p.seq = a.seq - 1
    WHERE a.seq > 1 AND p.hash IS DISTINCT FROM a.prev_hash) THEN
    RAISE EXCEPTION 'event: the chain is broken' USING ERRCODE = 'restrict_violation';
  END IF;
  RETURN NULL;
END $$;

ALTER FUNCTION fencepost.refuse_broken_chain() OWNER TO fencepost_owner;

CREATE FUNCTION fencepost.refuse_rewrite() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
  RAISE EXCEPTION '% is append-only: % refused', TG_TABLE_NAME, TG_OP USING ERRCODE = 'restrict_violation';
END $$;

ALTER FUNCTION fencepost.refuse_rewrite() OWNER TO fencepost_owner;

CREATE FUNCTION fencepost.refuse_transition() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
  RAISE EXCEPTION '%: this transition is not allowed (%)', TG_TABLE_NAME, TG_NAME USING ERRCODE = 'restrict_violation';
END $$;

ALTER FUNCTION fencepost.refuse_transition() OWNER TO fencepost_owner;

CREATE FUNCTION fencepost.refuse_weaker_actor() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
  IF (SELECT fencepost.actor_rank(actor) FROM fencepost.decision WHERE id = NEW.supersedes)
     > greatest(fencepost.actor_rank(NEW.actor), fencepost.actor_rank('model')) THEN
    RAISE EXCEPTION 'decision: % is outranked by what it would supersede', NEW.actor USING ERRCODE = 'restrict_violation';
  END IF;
  RETURN NEW;
END $$;

ALTER FUNCTION fencepost.refuse_weaker_actor() OWNER TO fencepost_owner;

CREATE TABLE fencepost.api_key (
    id text NOT NULL COLLATE pg_catalog."C",
    principal_id bigint NOT NULL,
    env text NOT NULL,
    secret_sha256 bytea NOT NULL,
    created_at timestamp with time zone DEFAULT fencepost.clock() NOT NULL,
    expires_at timestamp with time zone,
    last_used_at timestamp with time zone,
    revoked_at timestamp with time zone,
    CONSTRAINT api_key_env_check CHECK ((env = ANY (ARRAY['live'::text, 'test'::text]))),
    CONSTRAINT api_key_id_check CHECK ((id ~ '^[a-z0-9]{12}$'::text)),
    CONSTRAINT api_key_secret_sha256_check CHECK ((length(secret_sha256) = 32))
);

ALTER TABLE fencepost.api_key OWNER TO fencepost_owner;

CREATE TABLE fencepost.appeal (
    id bigint NOT NULL,
    tenant_id bigint NOT NULL,
    content_id bigint NOT NULL,
    author_id text NOT NULL COLLATE pg_catalog."C",
    decision_id bigint NOT NULL,
    original_actor text NOT NULL,
    state text DEFAULT 'queued'::text NOT NULL,
    created_at timestamp with time zone DEFAULT fencepost.clock() NOT NULL,
    resolved_at timestamp with time zone,
    CONSTRAINT appeal_author_id_check CHECK (((length(author_id) >= 1) AND (length(author_id) <= 128))),
    CONSTRAINT appeal_check CHECK (((state = ANY (ARRAY['queued'::text, 'in_review'::text])) = (resolved_at IS NULL))),
    CONSTRAINT appeal_original_actor_check CHECK ((original_actor = ANY (ARRAY['rules'::text, 'model'::text, 'reviewer'::text, 'appeal'::text]))),
    CONSTRAINT appeal_state_check CHECK ((state = ANY (ARRAY['queued'::text, 'in_review'::text, 'upheld'::text, 'overturned'::text, 'withdrawn'::text])))
);

ALTER TABLE fencepost.appeal OWNER TO fencepost_owner;

ALTER TABLE fencepost.appeal ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME fencepost.appeal_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE fencepost.applied (
    decision_id bigint NOT NULL,
    result text NOT NULL,
    at timestamp with time zone DEFAULT fencepost.clock() NOT NULL,
    CONSTRAINT applied_result_check CHECK ((result = ANY (ARRAY['applied'::text, 'skipped'::text, 'handled'::text])))
);

ALTER TABLE fencepost.applied OWNER TO fencepost_owner;

CREATE TABLE fencepost.attachment (
    content_id bigint NOT NULL,
    revision integer NOT NULL,
    place integer NOT NULL,
    tenant_id bigint NOT NULL,
    sha256 bytea NOT NULL,
    CONSTRAINT attachment_place_check CHECK (((place >= 1) AND (place <= 20)))
);

ALTER TABLE fencepost.attachment OWNER TO fencepost_owner;

CREATE TABLE fencepost.blob (
    tenant_id bigint NOT NULL,
    sha256 bytea NOT NULL,
    media_type text NOT NULL,
    size integer NOT NULL,
    bytes bytea,
    created_by bigint NOT NULL,
    created_at timestamp with time zone DEFAULT fencepost.clock() NOT NULL,
    erased_at timestamp with time zone,
    CONSTRAINT blob_is_there_or_erased CHECK (((bytes IS NULL) = (erased_at IS NOT NULL))),
    CONSTRAINT blob_media_type_check CHECK ((media_type = ANY (ARRAY['image/png'::text, 'image/jpeg'::text, 'image/gif'::text, 'image/webp'::text, 'application/pdf'::text, 'text/plain'::text]))),
    CONSTRAINT blob_sha256_check CHECK ((length(sha256) = 32)),
    CONSTRAINT blob_size_check CHECK (((size >= 1) AND (size <= 16777216))),
    CONSTRAINT digest_is_true CHECK (((bytes IS NULL) OR ((sha256(bytes) = sha256) AND (length(bytes) = size))))
);
ALTER TABLE ONLY fencepost.blob ALTER COLUMN bytes SET STORAGE EXTERNAL;

ALTER TABLE fencepost.blob OWNER TO fencepost_owner;

CREATE TABLE fencepost.category (
    tenant_id bigint NOT NULL,
    name fencepost.word NOT NULL
);

ALTER TABLE fencepost.category OWNER TO fencepost_owner;

CREATE TABLE fencepost.content (
    id bigint NOT NULL,
    tenant_id bigint NOT NULL,
    content_id text NOT NULL COLLATE pg_catalog."C",
    kind fencepost.word NOT NULL,
    lang text,
    author_id text COLLATE pg_catalog."C",
    author_followers bigint DEFAULT 0 NOT NULL,
    state text DEFAULT 'pending'::text NOT NULL,
    actor text,
    risk_score numeric,
    head_decision bigint,
    applied_decision bigint,
    seq bigint DEFAULT 0 NOT NULL,
    chain_head bytea DEFAULT decode(repeat('00'::text, 32), 'hex'::text) NOT NULL,
    revision integer DEFAULT 1 NOT NULL,
    policy_version text COLLATE pg_catalog."C",
    model_version text COLLATE pg_catalog."C",
    submitted_by bigint NOT NULL,
    created_at timestamp with time zone,
    received_at timestamp with time zone DEFAULT fencepost.clock() NOT NULL,
    decided_at timestamp with time zone,
    updated_at timestamp with time zone DEFAULT fencepost.clock() NOT NULL,
    withdrawn_at timestamp with time zone,
    CONSTRAINT content_actor_check CHECK ((actor = ANY (ARRAY['rules'::text, 'model'::text, 'reviewer'::text, 'appeal'::text]))),
    CONSTRAINT content_author_followers_check CHECK ((author_followers >= 0)),
    CONSTRAINT content_author_id_check CHECK (((length(author_id) >= 1) AND (length(author_id) <= 128))),
    CONSTRAINT content_chain_head_check CHECK ((length(chain_head) = 32)),
    CONSTRAINT content_check CHECK (((applied_decision IS NULL) = (actor IS NULL))),
    CONSTRAINT content_content_id_check CHECK ((content_id ~ '^[A-Za-z0-9][A-Za-z0-9._:~-]{0,63}$'::text)),
    CONSTRAINT content_lang_check CHECK (((length(lang) >= 1) AND (length(lang) <= 35))),
    CONSTRAINT content_model_version_check CHECK (((length(model_version) >= 1) AND (length(model_version) <= 64))),
    CONSTRAINT content_revision_check CHECK ((revision >= 1)),
    CONSTRAINT content_risk_score_check CHECK (((risk_score >= (0)::numeric) AND (risk_score <= (1)::numeric))),
    CONSTRAINT content_seq_check CHECK ((seq >= 0)),
    CONSTRAINT content_state_check CHECK ((state = ANY (ARRAY['pending'::text, 'allowed'::text, 'removed'::text, 'limited'::text, 'in_review'::text, 'appealed'::text])))
);

ALTER TABLE fencepost.content OWNER TO fencepost_owner;

ALTER TABLE fencepost.content ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME fencepost.content_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE fencepost.decision (
    id bigint NOT NULL,
    tenant_id bigint NOT NULL,
    content_id bigint NOT NULL,
    item_id bigint,
    kind text NOT NULL,
    actor text NOT NULL,
    principal_id bigint,
    verdict text,
    outcome text NOT NULL,
    outcome_value fencepost.word,
    reason fencepost.word,
    band text,
    explanation jsonb,
    risk_score numeric,
    evidence_hash bytea,
    lease_token uuid,
    verdict_token uuid,
    supersedes bigint,
    apply_after timestamp with time zone NOT NULL,
    hold text,
    late_by interval,
    seen smallint,
    dwell interval,
    renderer text,
    policy_version text NOT NULL COLLATE pg_catalog."C",
    model_version text COLLATE pg_catalog."C",
    recorded_at timestamp with time zone DEFAULT fencepost.clock() NOT NULL,
    CONSTRAINT decision_actor_check CHECK ((actor = ANY (ARRAY['rules'::text, 'model'::text, 'reviewer'::text, 'appeal'::text]))),
    CONSTRAINT decision_band_check CHECK ((band = ANY (ARRAY['ALLOW'::text, 'REVIEW'::text, 'HELD'::text, 'BLOCK'::text]))),
    CONSTRAINT decision_check CHECK ((supersedes < id)),
    CONSTRAINT decision_dwell_check CHECK ((dwell >= '00:00:00'::interval)),
    CONSTRAINT decision_evidence_hash_check CHECK ((length(evidence_hash) = 32)),
    CONSTRAINT decision_hold_check CHECK ((hold = 'four_eyes'::text)),
    CONSTRAINT decision_kind_check CHECK ((kind = ANY (ARRAY['automatic'::text, 'verdict'::text, 'undo'::text, 'appeal'::text]))),
    CONSTRAINT decision_late_by_check CHECK ((late_by >= '00:00:00'::interval)),
    CONSTRAINT decision_outcome_check CHECK ((outcome = ANY (ARRAY['allow'::text, 'limit'::text, 'remove'::text, 'hold'::text, 'none'::text, 'value'::text]))),
    CONSTRAINT decision_renderer_check CHECK ((length(renderer) <= 64)),
    CONSTRAINT decision_risk_score_check CHECK (((risk_score >= (0)::numeric) AND (risk_score <= (1)::numeric))),
    CONSTRAINT decision_seen_check CHECK (((seen >= 0) AND (seen <= 100))),
    CONSTRAINT decision_verdict_check CHECK ((verdict = ANY (ARRAY['approve'::text, 'limit'::text, 'reject'::text, 'escalate'::text, 'overturn'::text, 'uphold'::text]))),
    CONSTRAINT engine_explains CHECK (((kind <> 'automatic'::text) OR (num_nonnulls(band, explanation) = 2))),
    CONSTRAINT engine_has_no_principal CHECK (((principal_id IS NULL) = (actor = ANY (ARRAY['rules'::text, 'model'::text])))),
    CONSTRAINT engine_is_automatic CHECK (((actor = ANY (ARRAY['rules'::text, 'model'::text])) = (kind = 'automatic'::text))),
    CONSTRAINT person_says_verdict CHECK (((kind = ANY (ARRAY['verdict'::text, 'appeal'::text])) = (verdict IS NOT NULL))),
    CONSTRAINT value_is_named CHECK (((outcome = 'value'::text) = (outcome_value IS NOT NULL))),
    CONSTRAINT verdict_is_bound CHECK (((verdict IS NULL) OR (num_nonnulls(item_id, reason, evidence_hash, lease_token, verdict_token) = 5)))
);

ALTER TABLE fencepost.decision OWNER TO fencepost_owner;

ALTER TABLE fencepost.decision ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME fencepost.decision_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE fencepost.event (
    content_id bigint NOT NULL,
    seq bigint NOT NULL,
    type text NOT NULL,
    prev_hash bytea NOT NULL,
    canonical bytea NOT NULL,
    hash bytea NOT NULL,
    schema_version smallint DEFAULT 1 NOT NULL,
    xid xid8 DEFAULT pg_current_xact_id() NOT NULL,
    recorded_at timestamp with time zone DEFAULT fencepost.clock() NOT NULL,
    CONSTRAINT event_prev_hash_check CHECK ((length(prev_hash) = 32)),
    CONSTRAINT event_seq_check CHECK ((seq >= 1)),
    CONSTRAINT event_type_check CHECK ((type = ANY (ARRAY['content.submitted'::text, 'content.resubmitted'::text, 'content.withdrawn'::text, 'decision.recorded'::text, 'decision.applied'::text, 'decision.skipped'::text, 'evidence.revised'::text, 'evidence.viewed'::text, 'item.queued'::text, 'item.escalated'::text, 'item.parked'::text, 'item.moved'::text, 'item.withdrawn'::text, 'verdict.refused'::text]))),
    CONSTRAINT first_follows_nothing CHECK (((seq > 1) OR (prev_hash = decode(repeat('00'::text, 32), 'hex'::text)))),
    CONSTRAINT hash_is_true CHECK ((hash = sha256((('\x00'::bytea || prev_hash) || canonical))))
);

ALTER TABLE fencepost.event OWNER TO fencepost_owner;

CREATE TABLE fencepost.evidence (
    content_id bigint NOT NULL,
    revision integer NOT NULL,
    hash bytea NOT NULL,
    bytes bytea,
    policy_version text NOT NULL COLLATE pg_catalog."C",
    created_at timestamp with time zone DEFAULT fencepost.clock() NOT NULL,
    erased_at timestamp with time zone,
    CONSTRAINT evidence_check CHECK (((bytes IS NULL) OR (sha256(bytes) = hash))),
    CONSTRAINT evidence_check1 CHECK (((bytes IS NULL) = (erased_at IS NOT NULL))),
    CONSTRAINT evidence_hash_check CHECK ((length(hash) = 32)),
    CONSTRAINT evidence_revision_check CHECK ((revision >= 1))
);

ALTER TABLE fencepost.evidence OWNER TO fencepost_owner;

CREATE TABLE fencepost.exclusion (
    id bigint NOT NULL,
    item_id bigint,
    content_id bigint,
    principal_id bigint NOT NULL,
    until timestamp with time zone,
    why text NOT NULL,
    created_at timestamp with time zone DEFAULT fencepost.clock() NOT NULL,
    CONSTRAINT exclusion_check CHECK ((num_nonnulls(item_id, content_id) = 1)),
    CONSTRAINT exclusion_why_check CHECK ((why = ANY (ARRAY['released'::text, 'lapsed'::text, 'author'::text, 'decided_before'::text, 'conflict'::text, 'four_eyes'::text])))
);

ALTER TABLE fencepost.exclusion OWNER TO fencepost_owner;

ALTER TABLE fencepost.exclusion ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME fencepost.exclusion_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE fencepost.intake (
    content_id bigint NOT NULL,
    attempts integer DEFAULT 0 NOT NULL,
    last_error text,
    next_try_at timestamp with time zone DEFAULT fencepost.clock() NOT NULL,
    created_at timestamp with time zone DEFAULT fencepost.clock() NOT NULL,
    CONSTRAINT intake_last_error_check CHECK ((length(last_error) <= 500))
);

ALTER TABLE fencepost.intake OWNER TO fencepost_owner;

CREATE TABLE fencepost.item (
    id bigint NOT NULL,
    tenant_id bigint NOT NULL,
    content_id bigint NOT NULL,
    queue fencepost.word NOT NULL,
    round integer NOT NULL,
    source text NOT NULL,
    severity integer NOT NULL,
    base double precision NOT NULL,
    rank double precision NOT NULL,
    state text DEFAULT 'queued'::text NOT NULL,
    resolution text,
    owner bigint,
    fence_token uuid,
    claim_key uuid,
    leased_at timestamp with time zone,
    lease_expires timestamp with time zone,
    lease_epoch bigint DEFAULT 0 NOT NULL,
    lease_count integer DEFAULT 0 NOT NULL,
    left_by bigint[] DEFAULT '{}'::bigint[] NOT NULL,
    abandoned boolean DEFAULT false NOT NULL,
    escalated_at timestamp with time zone,
    stuck_at timestamp with time zone,
    first_enqueued_at timestamp with time zone DEFAULT fencepost.clock() NOT NULL,
    enqueued_at timestamp with time zone DEFAULT fencepost.clock() NOT NULL,
    wake_at timestamp with time zone,
    evidence_revision integer NOT NULL,
    resolved_at timestamp with time zone,
    terminal text,
    sla_from timestamp with time zone DEFAULT fencepost.clock(),
    parked_at timestamp with time zone,
    moved_at timestamp with time zone,
    CONSTRAINT at_rest_has_no_token CHECK (((state = ANY (ARRAY['queued'::text, 'leased'::text])) OR (fence_token IS NULL))),
    CONSTRAINT item_base_check CHECK (((base > '-Infinity'::double precision) AND (base < 'Infinity'::double precision))),
    CONSTRAINT item_lease_count_check CHECK ((lease_count >= 0)),
    CONSTRAINT item_rank_check CHECK (((rank > '-Infinity'::double precision) AND (rank < 'Infinity'::double precision))),
    CONSTRAINT item_resolution_check CHECK ((resolution = ANY (ARRAY['decided'::text, 'withdrawn'::text]))),
    CONSTRAINT item_round_check CHECK ((round >= 1)),
    CONSTRAINT item_severity_check CHECK (((severity >= 0) AND (severity <= 1000))),
    CONSTRAINT item_source_check CHECK ((source = ANY (ARRAY['engine'::text, 'case'::text, 'escalation'::text, 'undo'::text, 'appeal'::text, 'evidence'::text, 'rule'::text, 'reopen'::text, 'second_look'::text, 'golden'::text]))),
    CONSTRAINT item_state_check CHECK ((state = ANY (ARRAY['queued'::text, 'leased'::text, 'parked'::text, 'resolved'::text]))),
    CONSTRAINT item_terminal_check CHECK ((terminal ~ '^[A-Za-z0-9][A-Za-z0-9._:-]{0,63}$'::text)),
    CONSTRAINT leased_is_whole CHECK (((state <> 'leased'::text) OR (num_nonnulls(owner, fence_token, lease_expires, leased_at) = 4))),
    CONSTRAINT only_leased_expires CHECK (((state = 'leased'::text) OR (lease_expires IS NULL))),
    CONSTRAINT only_owned_has_terminal CHECK (((terminal IS NULL) OR (owner IS NOT NULL))),
    CONSTRAINT open_has_sla CHECK (((state = 'resolved'::text) OR (sla_from IS NOT NULL))),
    CONSTRAINT parked_is_whole CHECK ((num_nonnulls(wake_at, parked_at) =
CASE
    WHEN (state = 'parked'::text) THEN 2
    ELSE 0
END)),
    CONSTRAINT resolved_says_how CHECK ((((state = 'resolved'::text) = (resolution IS NOT NULL)) AND ((state = 'resolved'::text) = (resolved_at IS NOT NULL)))),
    CONSTRAINT token_has_owner CHECK (((fence_token IS NULL) = (owner IS NULL)))
)
WITH (autovacuum_vacuum_scale_factor='0', autovacuum_vacuum_threshold='5000', autovacuum_vacuum_cost_delay='0');

ALTER TABLE fencepost.item OWNER TO fencepost_owner;

ALTER TABLE fencepost.item ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME fencepost.item_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE fencepost.lease_log (
    id bigint NOT NULL,
    item_id bigint NOT NULL,
    lease_epoch bigint NOT NULL,
    happening text NOT NULL,
    principal_id bigint,
    token uuid,
    expires_at timestamp with time zone,
    reason text,
    at timestamp with time zone DEFAULT fencepost.clock() NOT NULL,
    by_principal bigint,
    CONSTRAINT lease_log_check CHECK (((token IS NOT NULL) = (happening = ANY (ARRAY['grant'::text, 'take_over'::text])))),
    CONSTRAINT lease_log_happening_check CHECK ((happening = ANY (ARRAY['grant'::text, 'renew'::text, 'release'::text, 'lapse'::text, 'take_over'::text, 'take_back'::text, 'park'::text, 'wake'::text, 'move'::text, 'escalate'::text, 'withdraw'::text]))),
    CONSTRAINT lease_log_reason_check CHECK ((reason = ANY (ARRAY['need_time'::text, 'policy_unclear'::text, 'sign_off'::text, 'tech'::text, 'distress'::text, 'conflict'::text, 'language'::text, 'undo'::text, 'take_back'::text, 'holder_away'::text, 'reassign'::text, 'mistake'::text, 'await_producer'::text, 'await_evidence'::text, 'await_date'::text]))),
    CONSTRAINT only_waking_is_nobodys CHECK (((principal_id IS NULL) = (happening = 'wake'::text)))
);

ALTER TABLE fencepost.lease_log OWNER TO fencepost_owner;

ALTER TABLE fencepost.lease_log ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME fencepost.lease_log_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE fencepost.migration (
    version integer NOT NULL,
    name text NOT NULL COLLATE pg_catalog."C",
    sha256 bytea NOT NULL,
    applied_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    CONSTRAINT migration_sha256_check CHECK ((length(sha256) = 32)),
    CONSTRAINT migration_version_check CHECK ((version >= 1))
);

ALTER TABLE fencepost.migration OWNER TO fencepost_owner;

CREATE TABLE fencepost.note (
    id bigint NOT NULL,
    item_id bigint NOT NULL,
    principal_id bigint NOT NULL,
    text text,
    created_at timestamp with time zone DEFAULT fencepost.clock() NOT NULL,
    erased_at timestamp with time zone,
    CONSTRAINT note_check CHECK (((text IS NULL) = (erased_at IS NOT NULL))),
    CONSTRAINT note_text_check CHECK (((length(text) >= 1) AND (length(text) <= 4000)))
);

ALTER TABLE fencepost.note OWNER TO fencepost_owner;

ALTER TABLE fencepost.note ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME fencepost.note_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE fencepost.outbox (
    id bigint NOT NULL,
    decision_id bigint,
    content_id bigint NOT NULL,
    kind fencepost.word NOT NULL,
    key text NOT NULL COLLATE pg_catalog."C",
    payload bytea NOT NULL,
    next_try_at timestamp with time zone DEFAULT fencepost.clock() NOT NULL,
    attempts integer DEFAULT 0 NOT NULL,
    last_error text,
    delivered_at timestamp with time zone,
    dead_at timestamp with time zone,
    created_at timestamp with time zone DEFAULT fencepost.clock() NOT NULL,
    question_id bigint,
    CONSTRAINT outbox_last_error_check CHECK ((length(last_error) <= 500)),
    CONSTRAINT tells_one_thing CHECK ((num_nonnulls(decision_id, question_id) = 1))
);

ALTER TABLE fencepost.outbox OWNER TO fencepost_owner;

ALTER TABLE fencepost.outbox ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME fencepost.outbox_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE fencepost.payload (
    content_id bigint NOT NULL,
    revision integer NOT NULL,
    body jsonb,
    nonce bytea,
    fingerprint bytea,
    erased_at timestamp with time zone,
    CONSTRAINT payload_check CHECK ((num_nonnulls(body, nonce, fingerprint) =
CASE
    WHEN (erased_at IS NULL) THEN 3
    ELSE 0
END)),
    CONSTRAINT payload_revision_check CHECK ((revision >= 1))
);

ALTER TABLE fencepost.payload OWNER TO fencepost_owner;

CREATE TABLE fencepost.pending_apply (
    decision_id bigint NOT NULL,
    content_id bigint NOT NULL,
    next_try_at timestamp with time zone NOT NULL,
    attempts integer DEFAULT 0 NOT NULL,
    last_error text,
    dead_at timestamp with time zone,
    created_at timestamp with time zone DEFAULT fencepost.clock() NOT NULL,
    CONSTRAINT pending_apply_last_error_check CHECK ((length(last_error) <= 500))
);

ALTER TABLE fencepost.pending_apply OWNER TO fencepost_owner;

CREATE TABLE fencepost.policy_active (
    id bigint NOT NULL,
    tenant_id bigint NOT NULL,
    version text NOT NULL COLLATE pg_catalog."C",
    activated_at timestamp with time zone DEFAULT fencepost.clock() NOT NULL,
    activated_by bigint
);

ALTER TABLE fencepost.policy_active OWNER TO fencepost_owner;

ALTER TABLE fencepost.policy_active ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME fencepost.policy_active_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE fencepost.policy_version (
    tenant_id bigint NOT NULL,
    version text NOT NULL COLLATE pg_catalog."C",
    document text NOT NULL,
    sha256 bytea NOT NULL,
    created_at timestamp with time zone DEFAULT fencepost.clock() NOT NULL,
    created_by bigint,
    CONSTRAINT policy_version_check CHECK ((sha256 = sha256(convert_to(document, 'UTF8'::name)))),
    CONSTRAINT policy_version_version_check CHECK ((version ~ '^[A-Za-z0-9][A-Za-z0-9._-]{0,31}$'::text))
);

ALTER TABLE fencepost.policy_version OWNER TO fencepost_owner;

CREATE TABLE fencepost.principal (
    id bigint NOT NULL,
    tenant_id bigint NOT NULL,
    name text NOT NULL COLLATE pg_catalog."C",
    kind text NOT NULL,
    active boolean DEFAULT true NOT NULL,
    created_at timestamp with time zone DEFAULT fencepost.clock() NOT NULL,
    CONSTRAINT principal_kind_check CHECK ((kind = ANY (ARRAY['person'::text, 'service'::text]))),
    CONSTRAINT principal_name_check CHECK ((name ~ '^[a-z0-9][a-z0-9._@-]{0,63}$'::text))
);

ALTER TABLE fencepost.principal OWNER TO fencepost_owner;

ALTER TABLE fencepost.principal ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME fencepost.principal_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE fencepost.question (
    id bigint NOT NULL,
    item_id bigint NOT NULL,
    content_id bigint NOT NULL,
    principal_id bigint NOT NULL,
    reason text NOT NULL,
    text text,
    wake_at timestamp with time zone NOT NULL,
    asked_at timestamp with time zone DEFAULT fencepost.clock() NOT NULL,
    erased_at timestamp with time zone,
    CONSTRAINT question_check CHECK (((text IS NULL) OR (erased_at IS NULL))),
    CONSTRAINT question_reason_check CHECK ((reason = ANY (ARRAY['await_producer'::text, 'await_evidence'::text, 'await_date'::text]))),
    CONSTRAINT question_text_check CHECK (((length(text) >= 1) AND (length(text) <= 2000)))
);

ALTER TABLE fencepost.question OWNER TO fencepost_owner;

ALTER TABLE fencepost.question ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME fencepost.question_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE fencepost.queue (
    tenant_id bigint NOT NULL,
    name fencepost.word NOT NULL,
    title text NOT NULL,
    severity integer NOT NULL,
    lease_ttl interval NOT NULL,
    max_hold interval NOT NULL,
    abandon_threshold integer NOT NULL,
    escalation_queue fencepost.word,
    escalation_boost double precision NOT NULL,
    undo_window interval NOT NULL,
    release_cooldown interval NOT NULL,
    sla interval NOT NULL,
    disabled_at timestamp with time zone,
    draining boolean DEFAULT false NOT NULL,
    successor fencepost.word,
    CONSTRAINT only_closed_has_successor CHECK (((successor IS NULL) OR (disabled_at IS NOT NULL))),
    CONSTRAINT queue_abandon_threshold_check CHECK (((abandon_threshold >= 1) AND (abandon_threshold <= 100))),
    CONSTRAINT queue_check CHECK ((max_hold >= lease_ttl)),
    CONSTRAINT queue_check1 CHECK (((escalation_queue)::text <> (name)::text)),
    CONSTRAINT queue_escalation_boost_check CHECK (((escalation_boost >= (0)::double precision) AND (escalation_boost <= (10000)::double precision))),
    CONSTRAINT queue_lease_ttl_check CHECK (((lease_ttl >= '00:00:01'::interval) AND (lease_ttl <= '1 day'::interval))),
    CONSTRAINT queue_release_cooldown_check CHECK (((release_cooldown >= '00:00:00'::interval) AND (release_cooldown <= '1 day'::interval))),
    CONSTRAINT queue_severity_check CHECK (((severity >= 0) AND (severity <= 1000))),
    CONSTRAINT queue_sla_check CHECK ((sla > '00:00:00'::interval)),
    CONSTRAINT queue_undo_window_check CHECK (((undo_window >= '00:00:00'::interval) AND (undo_window <= '1 day'::interval))),
    CONSTRAINT succeeds_another CHECK (((successor)::text <> (name)::text))
);

ALTER TABLE fencepost.queue OWNER TO fencepost_owner;

CREATE TABLE fencepost.reason (
    tenant_id bigint NOT NULL,
    code fencepost.word NOT NULL,
    title text NOT NULL
);

ALTER TABLE fencepost.reason OWNER TO fencepost_owner;

CREATE TABLE fencepost.role_grant (
    id bigint NOT NULL,
    principal_id bigint NOT NULL,
    role text NOT NULL,
    queue fencepost.word,
    granted_at timestamp with time zone DEFAULT fencepost.clock() NOT NULL,
    CONSTRAINT role_grant_role_check CHECK ((role = ANY (ARRAY['producer'::text, 'reviewer'::text, 'lead'::text, 'auditor'::text, 'operator'::text, 'admin'::text])))
);

ALTER TABLE fencepost.role_grant OWNER TO fencepost_owner;

ALTER TABLE fencepost.role_grant ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME fencepost.role_grant_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE fencepost.score (
    id bigint NOT NULL,
    content_id bigint NOT NULL,
    scorer fencepost.word NOT NULL,
    model_version text COLLATE pg_catalog."C",
    labels jsonb NOT NULL,
    mode text NOT NULL,
    received_at timestamp with time zone DEFAULT fencepost.clock() NOT NULL,
    CONSTRAINT score_labels_check CHECK ((jsonb_typeof(labels) = 'object'::text)),
    CONSTRAINT score_mode_check CHECK ((mode = ANY (ARRAY['acting'::text, 'shadow'::text])))
);

ALTER TABLE fencepost.score OWNER TO fencepost_owner;

ALTER TABLE fencepost.score ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME fencepost.score_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE fencepost.statement (
    appeal_id bigint NOT NULL,
    text text,
    erased_at timestamp with time zone,
    CONSTRAINT statement_check CHECK (((text IS NULL) = (erased_at IS NOT NULL))),
    CONSTRAINT statement_text_check CHECK (((length(text) >= 1) AND (length(text) <= 20000)))
);

ALTER TABLE fencepost.statement OWNER TO fencepost_owner;

CREATE TABLE fencepost.tenant (
    id bigint NOT NULL,
    name fencepost.word NOT NULL,
    created_at timestamp with time zone DEFAULT fencepost.clock() NOT NULL
);

ALTER TABLE fencepost.tenant OWNER TO fencepost_owner;

ALTER TABLE fencepost.tenant ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME fencepost.tenant_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE fencepost.verdict_reply (
    principal_id bigint NOT NULL,
    verdict_token uuid NOT NULL,
    fingerprint bytea NOT NULL,
    decision_id bigint NOT NULL,
    answer text NOT NULL,
    CONSTRAINT verdict_reply_fingerprint_check CHECK ((length(fingerprint) = 32))
);

ALTER TABLE fencepost.verdict_reply OWNER TO fencepost_owner;

ALTER TABLE ONLY fencepost.api_key
    ADD CONSTRAINT api_key_pkey PRIMARY KEY (id);

ALTER TABLE ONLY fencepost.appeal
    ADD CONSTRAINT appeal_pkey PRIMARY KEY (id);

ALTER TABLE ONLY fencepost.applied
    ADD CONSTRAINT applied_pkey PRIMARY KEY (decision_id);

ALTER TABLE ONLY fencepost.attachment
    ADD CONSTRAINT attachment_content_id_revision_sha256_key UNIQUE (content_id, revision, sha256);

ALTER TABLE ONLY fencepost.attachment
    ADD CONSTRAINT attachment_pkey PRIMARY KEY (content_id, revision, place);

ALTER TABLE ONLY fencepost.blob
    ADD CONSTRAINT blob_pkey PRIMARY KEY (tenant_id, sha256);

ALTER TABLE ONLY fencepost.category
    ADD CONSTRAINT category_pkey PRIMARY KEY (tenant_id, name);

ALTER TABLE ONLY fencepost.content
    ADD CONSTRAINT content_id_tenant_id_key UNIQUE (id, tenant_id);

ALTER TABLE ONLY fencepost.content
    ADD CONSTRAINT content_pkey PRIMARY KEY (id);

ALTER TABLE ONLY fencepost.content
    ADD CONSTRAINT content_tenant_id_content_id_key UNIQUE (tenant_id, content_id);

ALTER TABLE ONLY fencepost.decision
    ADD CONSTRAINT decision_id_content_id_key UNIQUE (id, content_id);

ALTER TABLE ONLY fencepost.decision
    ADD CONSTRAINT decision_lease_token_key UNIQUE (lease_token);

ALTER TABLE ONLY fencepost.decision
    ADD CONSTRAINT decision_pkey PRIMARY KEY (id);

ALTER TABLE ONLY fencepost.decision
    ADD CONSTRAINT decision_principal_id_verdict_token_key UNIQUE (principal_id, verdict_token);

ALTER TABLE ONLY fencepost.decision
    ADD CONSTRAINT decision_supersedes_key UNIQUE (supersedes);

ALTER TABLE ONLY fencepost.event
    ADD CONSTRAINT event_pkey PRIMARY KEY (content_id, seq);

ALTER TABLE ONLY fencepost.evidence
    ADD CONSTRAINT evidence_content_id_hash_key UNIQUE (content_id, hash);

ALTER TABLE ONLY fencepost.evidence
    ADD CONSTRAINT evidence_pkey PRIMARY KEY (content_id, revision);

ALTER TABLE ONLY fencepost.exclusion
    ADD CONSTRAINT exclusion_pkey PRIMARY KEY (id);

ALTER TABLE ONLY fencepost.intake
    ADD CONSTRAINT intake_pkey PRIMARY KEY (content_id);

ALTER TABLE ONLY fencepost.item
    ADD CONSTRAINT item_content_id_round_key UNIQUE (content_id, round);

ALTER TABLE ONLY fencepost.item
    ADD CONSTRAINT item_pkey PRIMARY KEY (id);

ALTER TABLE ONLY fencepost.lease_log
    ADD CONSTRAINT lease_log_pkey PRIMARY KEY (id);

ALTER TABLE ONLY fencepost.migration
    ADD CONSTRAINT migration_pkey PRIMARY KEY (version);

ALTER TABLE ONLY fencepost.note
    ADD CONSTRAINT note_pkey PRIMARY KEY (id);

ALTER TABLE ONLY fencepost.outbox
    ADD CONSTRAINT outbox_key_key UNIQUE (key);

ALTER TABLE ONLY fencepost.outbox
    ADD CONSTRAINT outbox_pkey PRIMARY KEY (id);

ALTER TABLE ONLY fencepost.payload
    ADD CONSTRAINT payload_pkey PRIMARY KEY (content_id, revision);

ALTER TABLE ONLY fencepost.pending_apply
    ADD CONSTRAINT pending_apply_pkey PRIMARY KEY (decision_id);

ALTER TABLE ONLY fencepost.policy_active
    ADD CONSTRAINT policy_active_pkey PRIMARY KEY (id);

ALTER TABLE ONLY fencepost.policy_version
    ADD CONSTRAINT policy_version_pkey PRIMARY KEY (tenant_id, version);

ALTER TABLE ONLY fencepost.principal
    ADD CONSTRAINT principal_pkey PRIMARY KEY (id);

ALTER TABLE ONLY fencepost.principal
    ADD CONSTRAINT principal_tenant_id_name_key UNIQUE (tenant_id, name);

ALTER TABLE ONLY fencepost.question
    ADD CONSTRAINT question_pkey PRIMARY KEY (id);

ALTER TABLE ONLY fencepost.queue
    ADD CONSTRAINT queue_pkey PRIMARY KEY (tenant_id, name);

ALTER TABLE ONLY fencepost.reason
    ADD CONSTRAINT reason_pkey PRIMARY KEY (tenant_id, code);

ALTER TABLE ONLY fencepost.role_grant
    ADD CONSTRAINT role_grant_pkey PRIMARY KEY (id);

ALTER TABLE ONLY fencepost.role_grant
    ADD CONSTRAINT role_grant_principal_id_role_queue_key UNIQUE NULLS NOT DISTINCT (principal_id, role, queue);

ALTER TABLE ONLY fencepost.score
    ADD CONSTRAINT score_pkey PRIMARY KEY (id);

ALTER TABLE ONLY fencepost.statement
    ADD CONSTRAINT statement_pkey PRIMARY KEY (appeal_id);

ALTER TABLE ONLY fencepost.tenant
    ADD CONSTRAINT tenant_name_key UNIQUE (name);

ALTER TABLE ONLY fencepost.tenant
    ADD CONSTRAINT tenant_pkey PRIMARY KEY (id);

ALTER TABLE ONLY fencepost.verdict_reply
    ADD CONSTRAINT verdict_reply_pkey PRIMARY KEY (principal_id, verdict_token);

CREATE INDEX api_key_principal ON fencepost.api_key USING btree (principal_id);

CREATE UNIQUE INDEX appeal_decision ON fencepost.appeal USING btree (decision_id, author_id);

CREATE UNIQUE INDEX appeal_one_open ON fencepost.appeal USING btree (content_id, author_id) WHERE (state = ANY (ARRAY['queued'::text, 'in_review'::text]));

CREATE INDEX attachment_blob ON fencepost.attachment USING btree (tenant_id, sha256);

CREATE INDEX decision_content ON fencepost.decision USING btree (content_id, id);

CREATE INDEX decision_recent ON fencepost.decision USING btree (tenant_id, recorded_at) WHERE (principal_id IS NOT NULL);

CREATE UNIQUE INDEX decision_root ON fencepost.decision USING btree (content_id) WHERE (supersedes IS NULL);

CREATE INDEX event_xid ON fencepost.event USING btree (xid);

CREATE INDEX exclusion_content ON fencepost.exclusion USING btree (content_id, principal_id) WHERE (content_id IS NOT NULL);

CREATE INDEX exclusion_item ON fencepost.exclusion USING btree (item_id, principal_id) WHERE (item_id IS NOT NULL);

CREATE INDEX exclusion_principal ON fencepost.exclusion USING btree (principal_id, until);

CREATE INDEX intake_due ON fencepost.intake USING btree (next_try_at);

CREATE INDEX item_abandoned ON fencepost.item USING btree (id) WHERE ((state = 'queued'::text) AND abandoned);

CREATE INDEX item_leased ON fencepost.item USING btree (tenant_id, queue, lease_expires, id) WHERE (state = 'leased'::text);

CREATE INDEX item_leased_since ON fencepost.item USING btree (tenant_id, queue, sla_from) WHERE (state = 'leased'::text);

CREATE UNIQUE INDEX item_one_open ON fencepost.item USING btree (content_id) WHERE ((state <> 'resolved'::text) AND (source <> ALL (ARRAY['second_look'::text, 'golden'::text])));

CREATE INDEX item_owner ON fencepost.item USING btree (owner) WHERE (owner IS NOT NULL);

CREATE INDEX item_parked ON fencepost.item USING btree (tenant_id, queue, wake_at, id) WHERE (state = 'parked'::text);

CREATE INDEX item_queued ON fencepost.item USING btree (tenant_id, queue, rank DESC, id) WHERE ((state = 'queued'::text) AND (NOT abandoned));

CREATE INDEX item_queued_since ON fencepost.item USING btree (tenant_id, queue, sla_from) WHERE (state = 'queued'::text);

CREATE INDEX item_stuck ON fencepost.item USING btree (tenant_id, queue) WHERE ((stuck_at IS NOT NULL) AND (state <> 'resolved'::text));

CREATE INDEX item_touched ON fencepost.item USING btree (tenant_id, queue, lease_count) WHERE ((state <> 'resolved'::text) AND (lease_count > 0));

CREATE INDEX lease_log_aside ON fencepost.lease_log USING btree (item_id) WHERE (happening = ANY (ARRAY['park'::text, 'wake'::text]));

CREATE INDEX lease_log_item ON fencepost.lease_log USING btree (item_id, id);

CREATE UNIQUE INDEX lease_log_token ON fencepost.lease_log USING btree (token) WHERE (token IS NOT NULL);

CREATE INDEX note_item ON fencepost.note USING btree (item_id);

CREATE INDEX outbox_due ON fencepost.outbox USING btree (next_try_at) WHERE ((delivered_at IS NULL) AND (dead_at IS NULL));

CREATE UNIQUE INDEX outbox_question ON fencepost.outbox USING btree (question_id) WHERE (question_id IS NOT NULL);

CREATE INDEX pending_apply_content ON fencepost.pending_apply USING btree (content_id, decision_id);

CREATE INDEX pending_apply_due ON fencepost.pending_apply USING btree (next_try_at) WHERE (dead_at IS NULL);

CREATE INDEX policy_active_newest ON fencepost.policy_active USING btree (tenant_id, id DESC);

CREATE INDEX question_content ON fencepost.question USING btree (content_id, id);

CREATE INDEX question_item ON fencepost.question USING btree (item_id, id);

CREATE INDEX score_content ON fencepost.score USING btree (content_id, id);

CREATE UNIQUE INDEX verdict_reply_decision ON fencepost.verdict_reply USING btree (decision_id);

CREATE TRIGGER append_only BEFORE DELETE OR UPDATE ON fencepost.applied FOR EACH ROW EXECUTE FUNCTION fencepost.refuse_rewrite();

ALTER TABLE fencepost.applied ENABLE ALWAYS TRIGGER append_only;

CREATE TRIGGER append_only BEFORE DELETE OR UPDATE ON fencepost.attachment FOR EACH ROW EXECUTE FUNCTION fencepost.refuse_rewrite();

ALTER TABLE fencepost.attachment ENABLE ALWAYS TRIGGER append_only;

CREATE TRIGGER append_only BEFORE DELETE OR UPDATE ON fencepost.decision FOR EACH ROW EXECUTE FUNCTION fencepost.refuse_rewrite();

ALTER TABLE fencepost.decision ENABLE ALWAYS TRIGGER append_only;

CREATE TRIGGER append_only BEFORE DELETE OR UPDATE ON fencepost.event FOR EACH ROW EXECUTE FUNCTION fencepost.refuse_rewrite();

ALTER TABLE fencepost.event ENABLE ALWAYS TRIGGER append_only;

CREATE TRIGGER append_only BEFORE DELETE OR UPDATE ON fencepost.lease_log FOR EACH ROW EXECUTE FUNCTION fencepost.refuse_rewrite();

ALTER TABLE fencepost.lease_log ENABLE ALWAYS TRIGGER append_only;

CREATE TRIGGER append_only BEFORE DELETE OR UPDATE ON fencepost.policy_active FOR EACH ROW EXECUTE FUNCTION fencepost.refuse_rewrite();

ALTER TABLE fencepost.policy_active ENABLE ALWAYS TRIGGER append_only;

CREATE TRIGGER append_only BEFORE DELETE OR UPDATE ON fencepost.policy_version FOR EACH ROW EXECUTE FUNCTION fencepost.refuse_rewrite();

ALTER TABLE fencepost.policy_version ENABLE ALWAYS TRIGGER append_only;

CREATE TRIGGER append_only BEFORE DELETE OR UPDATE ON fencepost.score FOR EACH ROW EXECUTE FUNCTION fencepost.refuse_rewrite();

ALTER TABLE fencepost.score ENABLE ALWAYS TRIGGER append_only;

CREATE TRIGGER append_only BEFORE DELETE OR UPDATE ON fencepost.verdict_reply FOR EACH ROW EXECUTE FUNCTION fencepost.refuse_rewrite();

ALTER TABLE fencepost.verdict_reply ENABLE ALWAYS TRIGGER append_only;

CREATE TRIGGER append_only_whole BEFORE TRUNCATE ON fencepost.applied FOR EACH STATEMENT EXECUTE FUNCTION fencepost.refuse_rewrite();

ALTER TABLE fencepost.applied ENABLE ALWAYS TRIGGER append_only_whole;

CREATE TRIGGER append_only_whole BEFORE TRUNCATE ON fencepost.attachment FOR EACH STATEMENT EXECUTE FUNCTION fencepost.refuse_rewrite();

ALTER TABLE fencepost.attachment ENABLE ALWAYS TRIGGER append_only_whole;

CREATE TRIGGER append_only_whole BEFORE TRUNCATE ON fencepost.decision FOR EACH STATEMENT EXECUTE FUNCTION fencepost.refuse_rewrite();

ALTER TABLE fencepost.decision ENABLE ALWAYS TRIGGER append_only_whole;

CREATE TRIGGER append_only_whole BEFORE TRUNCATE ON fencepost.event FOR EACH STATEMENT EXECUTE FUNCTION fencepost.refuse_rewrite();

ALTER TABLE fencepost.event ENABLE ALWAYS TRIGGER append_only_whole;

CREATE TRIGGER append_only_whole BEFORE TRUNCATE ON fencepost.lease_log FOR EACH STATEMENT EXECUTE FUNCTION fencepost.refuse_rewrite();

ALTER TABLE fencepost.lease_log ENABLE ALWAYS TRIGGER append_only_whole;

CREATE TRIGGER append_only_whole BEFORE TRUNCATE ON fencepost.policy_active FOR EACH STATEMENT EXECUTE FUNCTION fencepost.refuse_rewrite();

ALTER TABLE fencepost.policy_active ENABLE ALWAYS TRIGGER append_only_whole;

CREATE TRIGGER append_only_whole BEFORE TRUNCATE ON fencepost.policy_version FOR EACH STATEMENT EXECUTE FUNCTION fencepost.refuse_rewrite();

ALTER TABLE fencepost.policy_version ENABLE ALWAYS TRIGGER append_only_whole;

CREATE TRIGGER append_only_whole BEFORE TRUNCATE ON fencepost.score FOR EACH STATEMENT EXECUTE FUNCTION fencepost.refuse_rewrite();

ALTER TABLE fencepost.score ENABLE ALWAYS TRIGGER append_only_whole;

CREATE TRIGGER append_only_whole BEFORE TRUNCATE ON fencepost.verdict_reply FOR EACH STATEMENT EXECUTE FUNCTION fencepost.refuse_rewrite();

ALTER TABLE fencepost.verdict_reply ENABLE ALWAYS TRIGGER append_only_whole;

CREATE TRIGGER chain_is_whole AFTER INSERT ON fencepost.event REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION fencepost.refuse_broken_chain();

ALTER TABLE fencepost.event ENABLE ALWAYS TRIGGER chain_is_whole;

CREATE TRIGGER epoch_only_grows BEFORE UPDATE ON fencepost.item FOR EACH ROW WHEN ((new.lease_epoch < old.lease_epoch)) EXECUTE FUNCTION fencepost.refuse_transition();

CREATE TRIGGER only_leased_parks BEFORE UPDATE ON fencepost.item FOR EACH ROW WHEN (((new.state = 'parked'::text) AND (old.state <> ALL (ARRAY['leased'::text, 'parked'::text])))) EXECUTE FUNCTION fencepost.refuse_transition();

CREATE TRIGGER parked_returns_first BEFORE UPDATE ON fencepost.item FOR EACH ROW WHEN (((new.state = 'leased'::text) AND (old.state = 'parked'::text))) EXECUTE FUNCTION fencepost.refuse_transition();

CREATE TRIGGER pending_is_first BEFORE UPDATE ON fencepost.content FOR EACH ROW WHEN (((new.state = 'pending'::text) AND (old.state <> 'pending'::text))) EXECUTE FUNCTION fencepost.refuse_transition();

CREATE TRIGGER precedence BEFORE INSERT ON fencepost.decision FOR EACH ROW WHEN ((new.supersedes IS NOT NULL)) EXECUTE FUNCTION fencepost.refuse_weaker_actor();

ALTER TABLE fencepost.decision ENABLE ALWAYS TRIGGER precedence;

CREATE TRIGGER resolved_is_final BEFORE UPDATE ON fencepost.item FOR EACH ROW WHEN ((old.state = 'resolved'::text)) EXECUTE FUNCTION fencepost.refuse_transition();

CREATE TRIGGER seq_only_grows BEFORE UPDATE ON fencepost.content FOR EACH ROW WHEN (((new.seq < old.seq) OR ((new.seq = old.seq) AND (new.chain_head <> old.chain_head)))) EXECUTE FUNCTION fencepost.refuse_transition();

CREATE TRIGGER token_brings_epoch BEFORE UPDATE ON fencepost.item FOR EACH ROW WHEN (((new.fence_token <> old.fence_token) AND (new.lease_epoch = old.lease_epoch))) EXECUTE FUNCTION fencepost.refuse_transition();

ALTER TABLE ONLY fencepost.api_key
    ADD CONSTRAINT api_key_principal_id_fkey FOREIGN KEY (principal_id) REFERENCES fencepost.principal(id);

ALTER TABLE ONLY fencepost.appeal
    ADD CONSTRAINT appeal_content_id_tenant_id_fkey FOREIGN KEY (content_id, tenant_id) REFERENCES fencepost.content(id, tenant_id);

ALTER TABLE ONLY fencepost.appeal
    ADD CONSTRAINT appeal_decision_id_content_id_fkey FOREIGN KEY (decision_id, content_id) REFERENCES fencepost.decision(id, content_id);

ALTER TABLE ONLY fencepost.applied
    ADD CONSTRAINT applied_decision_id_fkey FOREIGN KEY (decision_id) REFERENCES fencepost.decision(id);

ALTER TABLE ONLY fencepost.attachment
    ADD CONSTRAINT attachment_content_id_revision_fkey FOREIGN KEY (content_id, revision) REFERENCES fencepost.payload(content_id, revision);

ALTER TABLE ONLY fencepost.attachment
    ADD CONSTRAINT attachment_content_id_tenant_id_fkey FOREIGN KEY (content_id, tenant_id) REFERENCES fencepost.content(id, tenant_id);

ALTER TABLE ONLY fencepost.attachment
    ADD CONSTRAINT attachment_tenant_id_sha256_fkey FOREIGN KEY (tenant_id, sha256) REFERENCES fencepost.blob(tenant_id, sha256);

ALTER TABLE ONLY fencepost.blob
    ADD CONSTRAINT blob_created_by_fkey FOREIGN KEY (created_by) REFERENCES fencepost.principal(id);

ALTER TABLE ONLY fencepost.blob
    ADD CONSTRAINT blob_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES fencepost.tenant(id);

ALTER TABLE ONLY fencepost.category
    ADD CONSTRAINT category_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES fencepost.tenant(id);

ALTER TABLE ONLY fencepost.content
    ADD CONSTRAINT content_applied_decision_id_fkey FOREIGN KEY (applied_decision, id) REFERENCES fencepost.decision(id, content_id);

ALTER TABLE ONLY fencepost.content
    ADD CONSTRAINT content_head_decision_id_fkey FOREIGN KEY (head_decision, id) REFERENCES fencepost.decision(id, content_id);

ALTER TABLE ONLY fencepost.content
    ADD CONSTRAINT content_submitted_by_fkey FOREIGN KEY (submitted_by) REFERENCES fencepost.principal(id);

ALTER TABLE ONLY fencepost.content
    ADD CONSTRAINT content_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES fencepost.tenant(id);

ALTER TABLE ONLY fencepost.decision
    ADD CONSTRAINT decision_content_id_evidence_hash_fkey FOREIGN KEY (content_id, evidence_hash) REFERENCES fencepost.evidence(content_id, hash);

ALTER TABLE ONLY fencepost.decision
    ADD CONSTRAINT decision_content_id_tenant_id_fkey FOREIGN KEY (content_id, tenant_id) REFERENCES fencepost.content(id, tenant_id);

ALTER TABLE ONLY fencepost.decision
    ADD CONSTRAINT decision_item_id_fkey FOREIGN KEY (item_id) REFERENCES fencepost.item(id);

ALTER TABLE ONLY fencepost.decision
    ADD CONSTRAINT decision_principal_id_fkey FOREIGN KEY (principal_id) REFERENCES fencepost.principal(id);

ALTER TABLE ONLY fencepost.decision
    ADD CONSTRAINT decision_supersedes_content_id_fkey FOREIGN KEY (supersedes, content_id) REFERENCES fencepost.decision(id, content_id);

ALTER TABLE ONLY fencepost.decision
    ADD CONSTRAINT decision_tenant_id_policy_version_fkey FOREIGN KEY (tenant_id, policy_version) REFERENCES fencepost.policy_version(tenant_id, version);

ALTER TABLE ONLY fencepost.decision
    ADD CONSTRAINT decision_tenant_id_reason_fkey FOREIGN KEY (tenant_id, reason) REFERENCES fencepost.reason(tenant_id, code);

ALTER TABLE ONLY fencepost.event
    ADD CONSTRAINT event_content_id_fkey FOREIGN KEY (content_id) REFERENCES fencepost.content(id);

ALTER TABLE ONLY fencepost.evidence
    ADD CONSTRAINT evidence_content_id_fkey FOREIGN KEY (content_id) REFERENCES fencepost.content(id);

ALTER TABLE ONLY fencepost.exclusion
    ADD CONSTRAINT exclusion_content_id_fkey FOREIGN KEY (content_id) REFERENCES fencepost.content(id);

ALTER TABLE ONLY fencepost.exclusion
    ADD CONSTRAINT exclusion_item_id_fkey FOREIGN KEY (item_id) REFERENCES fencepost.item(id);

ALTER TABLE ONLY fencepost.exclusion
    ADD CONSTRAINT exclusion_principal_id_fkey FOREIGN KEY (principal_id) REFERENCES fencepost.principal(id);

ALTER TABLE ONLY fencepost.intake
    ADD CONSTRAINT intake_content_id_fkey FOREIGN KEY (content_id) REFERENCES fencepost.content(id);

ALTER TABLE ONLY fencepost.item
    ADD CONSTRAINT item_content_id_evidence_revision_fkey FOREIGN KEY (content_id, evidence_revision) REFERENCES fencepost.evidence(content_id, revision);

ALTER TABLE ONLY fencepost.item
    ADD CONSTRAINT item_content_id_tenant_id_fkey FOREIGN KEY (content_id, tenant_id) REFERENCES fencepost.content(id, tenant_id);

ALTER TABLE ONLY fencepost.item
    ADD CONSTRAINT item_owner_fkey FOREIGN KEY (owner) REFERENCES fencepost.principal(id);

ALTER TABLE ONLY fencepost.item
    ADD CONSTRAINT item_tenant_id_queue_fkey FOREIGN KEY (tenant_id, queue) REFERENCES fencepost.queue(tenant_id, name);

ALTER TABLE ONLY fencepost.lease_log
    ADD CONSTRAINT lease_log_by_principal_fkey FOREIGN KEY (by_principal) REFERENCES fencepost.principal(id);

ALTER TABLE ONLY fencepost.lease_log
    ADD CONSTRAINT lease_log_item_id_fkey FOREIGN KEY (item_id) REFERENCES fencepost.item(id);

ALTER TABLE ONLY fencepost.lease_log
    ADD CONSTRAINT lease_log_principal_id_fkey FOREIGN KEY (principal_id) REFERENCES fencepost.principal(id);

ALTER TABLE ONLY fencepost.note
    ADD CONSTRAINT note_item_id_fkey FOREIGN KEY (item_id) REFERENCES fencepost.item(id);

ALTER TABLE ONLY fencepost.note
    ADD CONSTRAINT note_principal_id_fkey FOREIGN KEY (principal_id) REFERENCES fencepost.principal(id);

ALTER TABLE ONLY fencepost.outbox
    ADD CONSTRAINT outbox_content_id_fkey FOREIGN KEY (content_id) REFERENCES fencepost.content(id);

ALTER TABLE ONLY fencepost.outbox
    ADD CONSTRAINT outbox_decision_id_fkey FOREIGN KEY (decision_id) REFERENCES fencepost.applied(decision_id);

ALTER TABLE ONLY fencepost.outbox
    ADD CONSTRAINT outbox_question_id_fkey FOREIGN KEY (question_id) REFERENCES fencepost.question(id);

ALTER TABLE ONLY fencepost.payload
    ADD CONSTRAINT payload_content_id_fkey FOREIGN KEY (content_id) REFERENCES fencepost.content(id);

ALTER TABLE ONLY fencepost.pending_apply
    ADD CONSTRAINT pending_apply_decision_id_content_id_fkey FOREIGN KEY (decision_id, content_id) REFERENCES fencepost.decision(id, content_id);

ALTER TABLE ONLY fencepost.policy_active
    ADD CONSTRAINT policy_active_activated_by_fkey FOREIGN KEY (activated_by) REFERENCES fencepost.principal(id);

ALTER TABLE ONLY fencepost.policy_active
    ADD CONSTRAINT policy_active_tenant_id_version_fkey FOREIGN KEY (tenant_id, version) REFERENCES fencepost.policy_version(tenant_id, version);

ALTER TABLE ONLY fencepost.policy_version
    ADD CONSTRAINT policy_version_created_by_fkey FOREIGN KEY (created_by) REFERENCES fencepost.principal(id);

ALTER TABLE ONLY fencepost.policy_version
    ADD CONSTRAINT policy_version_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES fencepost.tenant(id);

ALTER TABLE ONLY fencepost.principal
    ADD CONSTRAINT principal_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES fencepost.tenant(id);

ALTER TABLE ONLY fencepost.question
    ADD CONSTRAINT question_content_id_fkey FOREIGN KEY (content_id) REFERENCES fencepost.content(id);

ALTER TABLE ONLY fencepost.question
    ADD CONSTRAINT question_item_id_fkey FOREIGN KEY (item_id) REFERENCES fencepost.item(id);

ALTER TABLE ONLY fencepost.question
    ADD CONSTRAINT question_principal_id_fkey FOREIGN KEY (principal_id) REFERENCES fencepost.principal(id);

ALTER TABLE ONLY fencepost.queue
    ADD CONSTRAINT queue_tenant_id_escalation_queue_fkey FOREIGN KEY (tenant_id, escalation_queue) REFERENCES fencepost.queue(tenant_id, name);

ALTER TABLE ONLY fencepost.queue
    ADD CONSTRAINT queue_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES fencepost.tenant(id);

ALTER TABLE ONLY fencepost.queue
    ADD CONSTRAINT queue_tenant_id_successor_fkey FOREIGN KEY (tenant_id, successor) REFERENCES fencepost.queue(tenant_id, name);

ALTER TABLE ONLY fencepost.reason
    ADD CONSTRAINT reason_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES fencepost.tenant(id);

ALTER TABLE ONLY fencepost.role_grant
    ADD CONSTRAINT role_grant_principal_id_fkey FOREIGN KEY (principal_id) REFERENCES fencepost.principal(id);

ALTER TABLE ONLY fencepost.score
    ADD CONSTRAINT score_content_id_fkey FOREIGN KEY (content_id) REFERENCES fencepost.content(id);

ALTER TABLE ONLY fencepost.statement
    ADD CONSTRAINT statement_appeal_id_fkey FOREIGN KEY (appeal_id) REFERENCES fencepost.appeal(id);

ALTER TABLE ONLY fencepost.verdict_reply
    ADD CONSTRAINT verdict_reply_decision_id_fkey FOREIGN KEY (decision_id) REFERENCES fencepost.decision(id);

ALTER TABLE ONLY fencepost.verdict_reply
    ADD CONSTRAINT verdict_reply_principal_id_fkey FOREIGN KEY (principal_id) REFERENCES fencepost.principal(id);

ALTER TABLE fencepost.evidence ENABLE ROW LEVEL SECURITY;

ALTER TABLE fencepost.payload ENABLE ROW LEVEL SECURITY;

CREATE POLICY reader_granted ON fencepost.evidence FOR SELECT TO fencepost_reader USING (fencepost.may_read(content_id));

CREATE POLICY reader_granted ON fencepost.payload FOR SELECT TO fencepost_reader USING (fencepost.may_read(content_id));

CREATE POLICY runtime_all ON fencepost.evidence TO fencepost_runtime USING (true) WITH CHECK (true);

CREATE POLICY runtime_all ON fencepost.payload TO fencepost_runtime USING (true) WITH CHECK (true);

GRANT USAGE ON SCHEMA fencepost TO fencepost_runtime;
GRANT USAGE ON SCHEMA fencepost TO fencepost_reader;

REVOKE ALL ON FUNCTION fencepost.actor_rank(actor text) FROM PUBLIC;
GRANT ALL ON FUNCTION fencepost.actor_rank(actor text) TO fencepost_runtime;

REVOKE ALL ON FUNCTION fencepost.clock() FROM PUBLIC;
GRANT ALL ON FUNCTION fencepost.clock() TO fencepost_runtime;
GRANT ALL ON FUNCTION fencepost.clock() TO fencepost_reader;

REVOKE ALL ON FUNCTION fencepost.holds_lease(person bigint, besides bigint, at timestamp with time zone) FROM PUBLIC;
GRANT ALL ON FUNCTION fencepost.holds_lease(person bigint, besides bigint, at timestamp with time zone) TO fencepost_runtime;

REVOKE ALL ON PROCEDURE fencepost.make_append_only(IN target regclass) FROM PUBLIC;

REVOKE ALL ON FUNCTION fencepost.may_read(wanted_content bigint) FROM PUBLIC;
GRANT ALL ON FUNCTION fencepost.may_read(wanted_content bigint) TO fencepost_reader;

REVOKE ALL ON FUNCTION fencepost.refuse_broken_chain() FROM PUBLIC;

REVOKE ALL ON FUNCTION fencepost.refuse_rewrite() FROM PUBLIC;

REVOKE ALL ON FUNCTION fencepost.refuse_transition() FROM PUBLIC;

REVOKE ALL ON FUNCTION fencepost.refuse_weaker_actor() FROM PUBLIC;

GRANT SELECT ON TABLE fencepost.api_key TO fencepost_runtime;

GRANT SELECT(id) ON TABLE fencepost.api_key TO fencepost_reader;
GRANT INSERT(id) ON TABLE fencepost.api_key TO fencepost_runtime;

GRANT SELECT(principal_id) ON TABLE fencepost.api_key TO fencepost_reader;
GRANT INSERT(principal_id) ON TABLE fencepost.api_key TO fencepost_runtime;

GRANT SELECT(env) ON TABLE fencepost.api_key TO fencepost_reader;
GRANT INSERT(env) ON TABLE fencepost.api_key TO fencepost_runtime;

GRANT INSERT(secret_sha256) ON TABLE fencepost.api_key TO fencepost_runtime;

GRANT SELECT(created_at) ON TABLE fencepost.api_key TO fencepost_reader;

GRANT SELECT(expires_at) ON TABLE fencepost.api_key TO fencepost_reader;
GRANT INSERT(expires_at) ON TABLE fencepost.api_key TO fencepost_runtime;

GRANT SELECT(last_used_at) ON TABLE fencepost.api_key TO fencepost_reader;
GRANT UPDATE(last_used_at) ON TABLE fencepost.api_key TO fencepost_runtime;

GRANT SELECT(revoked_at) ON TABLE fencepost.api_key TO fencepost_reader;
GRANT UPDATE(revoked_at) ON TABLE fencepost.api_key TO fencepost_runtime;

GRANT SELECT ON TABLE fencepost.appeal TO fencepost_runtime;
GRANT SELECT ON TABLE fencepost.appeal TO fencepost_reader;

GRANT INSERT(tenant_id) ON TABLE fencepost.appeal TO fencepost_runtime;

GRANT INSERT(content_id) ON TABLE fencepost.appeal TO fencepost_runtime;

GRANT INSERT(author_id) ON TABLE fencepost.appeal TO fencepost_runtime;

GRANT INSERT(decision_id) ON TABLE fencepost.appeal TO fencepost_runtime;

GRANT INSERT(original_actor) ON TABLE fencepost.appeal TO fencepost_runtime;

GRANT UPDATE(state) ON TABLE fencepost.appeal TO fencepost_runtime;

GRANT UPDATE(resolved_at) ON TABLE fencepost.appeal TO fencepost_runtime;

GRANT SELECT ON TABLE fencepost.applied TO fencepost_runtime;
GRANT SELECT ON TABLE fencepost.applied TO fencepost_reader;

GRANT INSERT(decision_id) ON TABLE fencepost.applied TO fencepost_runtime;

GRANT INSERT(result) ON TABLE fencepost.applied TO fencepost_runtime;

GRANT SELECT ON TABLE fencepost.attachment TO fencepost_runtime;
GRANT SELECT ON TABLE fencepost.attachment TO fencepost_reader;

GRANT INSERT(content_id) ON TABLE fencepost.attachment TO fencepost_runtime;

GRANT INSERT(revision) ON TABLE fencepost.attachment TO fencepost_runtime;

GRANT INSERT(place) ON TABLE fencepost.attachment TO fencepost_runtime;

GRANT INSERT(tenant_id) ON TABLE fencepost.attachment TO fencepost_runtime;

GRANT INSERT(sha256) ON TABLE fencepost.attachment TO fencepost_runtime;

GRANT SELECT ON TABLE fencepost.blob TO fencepost_runtime;

GRANT INSERT(tenant_id) ON TABLE fencepost.blob TO fencepost_runtime;

GRANT INSERT(sha256) ON TABLE fencepost.blob TO fencepost_runtime;

GRANT INSERT(media_type) ON TABLE fencepost.blob TO fencepost_runtime;

GRANT INSERT(size) ON TABLE fencepost.blob TO fencepost_runtime;

GRANT INSERT(bytes) ON TABLE fencepost.blob TO fencepost_runtime;

GRANT INSERT(created_by) ON TABLE fencepost.blob TO fencepost_runtime;

GRANT SELECT,INSERT ON TABLE fencepost.category TO fencepost_runtime;
GRANT SELECT ON TABLE fencepost.category TO fencepost_reader;

GRANT SELECT ON TABLE fencepost.content TO fencepost_runtime;
GRANT SELECT ON TABLE fencepost.content TO fencepost_reader;

GRANT INSERT(tenant_id) ON TABLE fencepost.content TO fencepost_runtime;

GRANT INSERT(content_id) ON TABLE fencepost.content TO fencepost_runtime;

GRANT INSERT(kind) ON TABLE fencepost.content TO fencepost_runtime;

GRANT INSERT(lang) ON TABLE fencepost.content TO fencepost_runtime;

GRANT INSERT(author_id) ON TABLE fencepost.content TO fencepost_runtime;

GRANT INSERT(author_followers) ON TABLE fencepost.content TO fencepost_runtime;

GRANT UPDATE(state) ON TABLE fencepost.content TO fencepost_runtime;

GRANT UPDATE(actor) ON TABLE fencepost.content TO fencepost_runtime;

GRANT INSERT(risk_score),UPDATE(risk_score) ON TABLE fencepost.content TO fencepost_runtime;

GRANT UPDATE(head_decision) ON TABLE fencepost.content TO fencepost_runtime;

GRANT UPDATE(applied_decision) ON TABLE fencepost.content TO fencepost_runtime;

GRANT UPDATE(seq) ON TABLE fencepost.content TO fencepost_runtime;

GRANT UPDATE(chain_head) ON TABLE fencepost.content TO fencepost_runtime;

GRANT UPDATE(revision) ON TABLE fencepost.content TO fencepost_runtime;

GRANT INSERT(policy_version),UPDATE(policy_version) ON TABLE fencepost.content TO fencepost_runtime;

GRANT INSERT(model_version),UPDATE(model_version) ON TABLE fencepost.content TO fencepost_runtime;

GRANT INSERT(submitted_by) ON TABLE fencepost.content TO fencepost_runtime;

GRANT INSERT(created_at) ON TABLE fencepost.content TO fencepost_runtime;

GRANT UPDATE(decided_at) ON TABLE fencepost.content TO fencepost_runtime;

GRANT UPDATE(updated_at) ON TABLE fencepost.content TO fencepost_runtime;

GRANT UPDATE(withdrawn_at) ON TABLE fencepost.content TO fencepost_runtime;

GRANT SELECT ON TABLE fencepost.decision TO fencepost_runtime;
GRANT SELECT ON TABLE fencepost.decision TO fencepost_reader;

GRANT INSERT(tenant_id) ON TABLE fencepost.decision TO fencepost_runtime;

GRANT INSERT(content_id) ON TABLE fencepost.decision TO fencepost_runtime;

GRANT INSERT(item_id) ON TABLE fencepost.decision TO fencepost_runtime;

GRANT INSERT(kind) ON TABLE fencepost.decision TO fencepost_runtime;

GRANT INSERT(actor) ON TABLE fencepost.decision TO fencepost_runtime;

GRANT INSERT(principal_id) ON TABLE fencepost.decision TO fencepost_runtime;

GRANT INSERT(verdict) ON TABLE fencepost.decision TO fencepost_runtime;

GRANT INSERT(outcome) ON TABLE fencepost.decision TO fencepost_runtime;

GRANT INSERT(outcome_value) ON TABLE fencepost.decision TO fencepost_runtime;

GRANT INSERT(reason) ON TABLE fencepost.decision TO fencepost_runtime;

GRANT INSERT(band) ON TABLE fencepost.decision TO fencepost_runtime;

GRANT INSERT(explanation) ON TABLE fencepost.decision TO fencepost_runtime;

GRANT INSERT(risk_score) ON TABLE fencepost.decision TO fencepost_runtime;

GRANT INSERT(evidence_hash) ON TABLE fencepost.decision TO fencepost_runtime;

GRANT INSERT(lease_token) ON TABLE fencepost.decision TO fencepost_runtime;

GRANT INSERT(verdict_token) ON TABLE fencepost.decision TO fencepost_runtime;

GRANT INSERT(supersedes) ON TABLE fencepost.decision TO fencepost_runtime;

GRANT INSERT(apply_after) ON TABLE fencepost.decision TO fencepost_runtime;

GRANT INSERT(hold) ON TABLE fencepost.decision TO fencepost_runtime;

GRANT INSERT(late_by) ON TABLE fencepost.decision TO fencepost_runtime;

GRANT INSERT(seen) ON TABLE fencepost.decision TO fencepost_runtime;

GRANT INSERT(dwell) ON TABLE fencepost.decision TO fencepost_runtime;

GRANT INSERT(renderer) ON TABLE fencepost.decision TO fencepost_runtime;

GRANT INSERT(policy_version) ON TABLE fencepost.decision TO fencepost_runtime;

GRANT INSERT(model_version) ON TABLE fencepost.decision TO fencepost_runtime;

GRANT SELECT ON TABLE fencepost.event TO fencepost_runtime;
GRANT SELECT ON TABLE fencepost.event TO fencepost_reader;

GRANT INSERT(content_id) ON TABLE fencepost.event TO fencepost_runtime;

GRANT INSERT(seq) ON TABLE fencepost.event TO fencepost_runtime;

GRANT INSERT(type) ON TABLE fencepost.event TO fencepost_runtime;

GRANT INSERT(prev_hash) ON TABLE fencepost.event TO fencepost_runtime;

GRANT INSERT(canonical) ON TABLE fencepost.event TO fencepost_runtime;

GRANT INSERT(hash) ON TABLE fencepost.event TO fencepost_runtime;

GRANT SELECT ON TABLE fencepost.evidence TO fencepost_runtime;
GRANT SELECT ON TABLE fencepost.evidence TO fencepost_reader;

GRANT INSERT(content_id) ON TABLE fencepost.evidence TO fencepost_runtime;

GRANT INSERT(revision) ON TABLE fencepost.evidence TO fencepost_runtime;

GRANT INSERT(hash) ON TABLE fencepost.evidence TO fencepost_runtime;

GRANT INSERT(bytes) ON TABLE fencepost.evidence TO fencepost_runtime;

GRANT INSERT(policy_version) ON TABLE fencepost.evidence TO fencepost_runtime;

GRANT SELECT ON TABLE fencepost.exclusion TO fencepost_runtime;
GRANT SELECT ON TABLE fencepost.exclusion TO fencepost_reader;

GRANT INSERT(item_id) ON TABLE fencepost.exclusion TO fencepost_runtime;

GRANT INSERT(content_id) ON TABLE fencepost.exclusion TO fencepost_runtime;

GRANT INSERT(principal_id) ON TABLE fencepost.exclusion TO fencepost_runtime;

GRANT INSERT(until) ON TABLE fencepost.exclusion TO fencepost_runtime;

GRANT INSERT(why) ON TABLE fencepost.exclusion TO fencepost_runtime;

GRANT SELECT,DELETE ON TABLE fencepost.intake TO fencepost_runtime;
GRANT SELECT ON TABLE fencepost.intake TO fencepost_reader;

GRANT INSERT(content_id) ON TABLE fencepost.intake TO fencepost_runtime;

GRANT UPDATE(attempts) ON TABLE fencepost.intake TO fencepost_runtime;

GRANT UPDATE(last_error) ON TABLE fencepost.intake TO fencepost_runtime;

GRANT UPDATE(next_try_at) ON TABLE fencepost.intake TO fencepost_runtime;

GRANT SELECT ON TABLE fencepost.item TO fencepost_runtime;
GRANT SELECT ON TABLE fencepost.item TO fencepost_reader;

GRANT INSERT(tenant_id) ON TABLE fencepost.item TO fencepost_runtime;

GRANT INSERT(content_id) ON TABLE fencepost.item TO fencepost_runtime;

GRANT INSERT(queue),UPDATE(queue) ON TABLE fencepost.item TO fencepost_runtime;

GRANT INSERT(round) ON TABLE fencepost.item TO fencepost_runtime;

GRANT INSERT(source) ON TABLE fencepost.item TO fencepost_runtime;

GRANT INSERT(severity),UPDATE(severity) ON TABLE fencepost.item TO fencepost_runtime;

GRANT INSERT(base),UPDATE(base) ON TABLE fencepost.item TO fencepost_runtime;

GRANT INSERT(rank),UPDATE(rank) ON TABLE fencepost.item TO fencepost_runtime;

GRANT UPDATE(state) ON TABLE fencepost.item TO fencepost_runtime;

GRANT UPDATE(resolution) ON TABLE fencepost.item TO fencepost_runtime;

GRANT UPDATE(owner) ON TABLE fencepost.item TO fencepost_runtime;

GRANT UPDATE(fence_token) ON TABLE fencepost.item TO fencepost_runtime;

GRANT UPDATE(claim_key) ON TABLE fencepost.item TO fencepost_runtime;

GRANT UPDATE(leased_at) ON TABLE fencepost.item TO fencepost_runtime;

GRANT UPDATE(lease_expires) ON TABLE fencepost.item TO fencepost_runtime;

GRANT UPDATE(lease_epoch) ON TABLE fencepost.item TO fencepost_runtime;

GRANT UPDATE(lease_count) ON TABLE fencepost.item TO fencepost_runtime;

GRANT INSERT(left_by),UPDATE(left_by) ON TABLE fencepost.item TO fencepost_runtime;

GRANT UPDATE(abandoned) ON TABLE fencepost.item TO fencepost_runtime;

GRANT INSERT(escalated_at),UPDATE(escalated_at) ON TABLE fencepost.item TO fencepost_runtime;

GRANT UPDATE(stuck_at) ON TABLE fencepost.item TO fencepost_runtime;

GRANT INSERT(first_enqueued_at) ON TABLE fencepost.item TO fencepost_runtime;

GRANT INSERT(enqueued_at),UPDATE(enqueued_at) ON TABLE fencepost.item TO fencepost_runtime;

GRANT UPDATE(wake_at) ON TABLE fencepost.item TO fencepost_runtime;

GRANT INSERT(evidence_revision),UPDATE(evidence_revision) ON TABLE fencepost.item TO fencepost_runtime;

GRANT UPDATE(resolved_at) ON TABLE fencepost.item TO fencepost_runtime;

GRANT INSERT(terminal),UPDATE(terminal) ON TABLE fencepost.item TO fencepost_runtime;

GRANT INSERT(sla_from),UPDATE(sla_from) ON TABLE fencepost.item TO fencepost_runtime;

GRANT UPDATE(parked_at) ON TABLE fencepost.item TO fencepost_runtime;

GRANT UPDATE(moved_at) ON TABLE fencepost.item TO fencepost_runtime;

GRANT SELECT ON TABLE fencepost.lease_log TO fencepost_runtime;
GRANT SELECT ON TABLE fencepost.lease_log TO fencepost_reader;

GRANT INSERT(item_id) ON TABLE fencepost.lease_log TO fencepost_runtime;

GRANT INSERT(lease_epoch) ON TABLE fencepost.lease_log TO fencepost_runtime;

GRANT INSERT(happening) ON TABLE fencepost.lease_log TO fencepost_runtime;

GRANT INSERT(principal_id) ON TABLE fencepost.lease_log TO fencepost_runtime;

GRANT INSERT(token) ON TABLE fencepost.lease_log TO fencepost_runtime;

GRANT INSERT(expires_at) ON TABLE fencepost.lease_log TO fencepost_runtime;

GRANT INSERT(reason) ON TABLE fencepost.lease_log TO fencepost_runtime;

GRANT INSERT(by_principal) ON TABLE fencepost.lease_log TO fencepost_runtime;

GRANT SELECT ON TABLE fencepost.migration TO fencepost_runtime;
GRANT SELECT ON TABLE fencepost.migration TO fencepost_reader;

GRANT SELECT ON TABLE fencepost.note TO fencepost_runtime;

GRANT INSERT(item_id) ON TABLE fencepost.note TO fencepost_runtime;

GRANT INSERT(principal_id) ON TABLE fencepost.note TO fencepost_runtime;

GRANT INSERT(text) ON TABLE fencepost.note TO fencepost_runtime;

GRANT SELECT ON TABLE fencepost.outbox TO fencepost_runtime;
GRANT SELECT ON TABLE fencepost.outbox TO fencepost_reader;

GRANT INSERT(decision_id) ON TABLE fencepost.outbox TO fencepost_runtime;

GRANT INSERT(content_id) ON TABLE fencepost.outbox TO fencepost_runtime;

GRANT INSERT(kind) ON TABLE fencepost.outbox TO fencepost_runtime;

GRANT INSERT(key) ON TABLE fencepost.outbox TO fencepost_runtime;

GRANT INSERT(payload) ON TABLE fencepost.outbox TO fencepost_runtime;

GRANT UPDATE(next_try_at) ON TABLE fencepost.outbox TO fencepost_runtime;

GRANT UPDATE(attempts) ON TABLE fencepost.outbox TO fencepost_runtime;

GRANT UPDATE(last_error) ON TABLE fencepost.outbox TO fencepost_runtime;

GRANT UPDATE(delivered_at) ON TABLE fencepost.outbox TO fencepost_runtime;

GRANT UPDATE(dead_at) ON TABLE fencepost.outbox TO fencepost_runtime;

GRANT INSERT(question_id) ON TABLE fencepost.outbox TO fencepost_runtime;

GRANT SELECT ON TABLE fencepost.payload TO fencepost_runtime;
GRANT SELECT ON TABLE fencepost.payload TO fencepost_reader;

GRANT INSERT(content_id) ON TABLE fencepost.payload TO fencepost_runtime;

GRANT INSERT(revision) ON TABLE fencepost.payload TO fencepost_runtime;

GRANT INSERT(body) ON TABLE fencepost.payload TO fencepost_runtime;

GRANT INSERT(nonce) ON TABLE fencepost.payload TO fencepost_runtime;

GRANT INSERT(fingerprint) ON TABLE fencepost.payload TO fencepost_runtime;

GRANT SELECT,DELETE ON TABLE fencepost.pending_apply TO fencepost_runtime;
GRANT SELECT ON TABLE fencepost.pending_apply TO fencepost_reader;

GRANT INSERT(decision_id) ON TABLE fencepost.pending_apply TO fencepost_runtime;

GRANT INSERT(content_id) ON TABLE fencepost.pending_apply TO fencepost_runtime;

GRANT INSERT(next_try_at),UPDATE(next_try_at) ON TABLE fencepost.pending_apply TO fencepost_runtime;

GRANT UPDATE(attempts) ON TABLE fencepost.pending_apply TO fencepost_runtime;

GRANT UPDATE(last_error) ON TABLE fencepost.pending_apply TO fencepost_runtime;

GRANT UPDATE(dead_at) ON TABLE fencepost.pending_apply TO fencepost_runtime;

GRANT SELECT ON TABLE fencepost.policy_active TO fencepost_runtime;
GRANT SELECT ON TABLE fencepost.policy_active TO fencepost_reader;

GRANT INSERT(tenant_id) ON TABLE fencepost.policy_active TO fencepost_runtime;

GRANT INSERT(version) ON TABLE fencepost.policy_active TO fencepost_runtime;

GRANT INSERT(activated_by) ON TABLE fencepost.policy_active TO fencepost_runtime;

GRANT SELECT ON TABLE fencepost.policy_version TO fencepost_runtime;
GRANT SELECT ON TABLE fencepost.policy_version TO fencepost_reader;

GRANT INSERT(tenant_id) ON TABLE fencepost.policy_version TO fencepost_runtime;

GRANT INSERT(version) ON TABLE fencepost.policy_version TO fencepost_runtime;

GRANT INSERT(document) ON TABLE fencepost.policy_version TO fencepost_runtime;

GRANT INSERT(sha256) ON TABLE fencepost.policy_version TO fencepost_runtime;

GRANT INSERT(created_by) ON TABLE fencepost.policy_version TO fencepost_runtime;

GRANT SELECT ON TABLE fencepost.principal TO fencepost_runtime;
GRANT SELECT ON TABLE fencepost.principal TO fencepost_reader;

GRANT INSERT(tenant_id) ON TABLE fencepost.principal TO fencepost_runtime;

GRANT INSERT(name) ON TABLE fencepost.principal TO fencepost_runtime;

GRANT INSERT(kind) ON TABLE fencepost.principal TO fencepost_runtime;

GRANT UPDATE(active) ON TABLE fencepost.principal TO fencepost_runtime;

GRANT SELECT ON TABLE fencepost.question TO fencepost_runtime;

GRANT INSERT(item_id) ON TABLE fencepost.question TO fencepost_runtime;

GRANT INSERT(content_id) ON TABLE fencepost.question TO fencepost_runtime;

GRANT INSERT(principal_id) ON TABLE fencepost.question TO fencepost_runtime;

GRANT INSERT(reason) ON TABLE fencepost.question TO fencepost_runtime;

GRANT INSERT(text) ON TABLE fencepost.question TO fencepost_runtime;

GRANT INSERT(wake_at) ON TABLE fencepost.question TO fencepost_runtime;

GRANT SELECT,INSERT,UPDATE ON TABLE fencepost.queue TO fencepost_runtime;
GRANT SELECT ON TABLE fencepost.queue TO fencepost_reader;

GRANT SELECT,INSERT ON TABLE fencepost.reason TO fencepost_runtime;
GRANT SELECT ON TABLE fencepost.reason TO fencepost_reader;

GRANT UPDATE(title) ON TABLE fencepost.reason TO fencepost_runtime;

GRANT SELECT,DELETE ON TABLE fencepost.role_grant TO fencepost_runtime;
GRANT SELECT ON TABLE fencepost.role_grant TO fencepost_reader;

GRANT INSERT(principal_id) ON TABLE fencepost.role_grant TO fencepost_runtime;

GRANT INSERT(role) ON TABLE fencepost.role_grant TO fencepost_runtime;

GRANT INSERT(queue) ON TABLE fencepost.role_grant TO fencepost_runtime;

GRANT SELECT ON TABLE fencepost.score TO fencepost_runtime;
GRANT SELECT ON TABLE fencepost.score TO fencepost_reader;

GRANT INSERT(content_id) ON TABLE fencepost.score TO fencepost_runtime;

GRANT INSERT(scorer) ON TABLE fencepost.score TO fencepost_runtime;

GRANT INSERT(model_version) ON TABLE fencepost.score TO fencepost_runtime;

GRANT INSERT(labels) ON TABLE fencepost.score TO fencepost_runtime;

GRANT INSERT(mode) ON TABLE fencepost.score TO fencepost_runtime;

GRANT SELECT ON TABLE fencepost.statement TO fencepost_runtime;

GRANT INSERT(appeal_id) ON TABLE fencepost.statement TO fencepost_runtime;

GRANT INSERT(text) ON TABLE fencepost.statement TO fencepost_runtime;

GRANT SELECT ON TABLE fencepost.tenant TO fencepost_runtime;
GRANT SELECT ON TABLE fencepost.tenant TO fencepost_reader;

GRANT SELECT,INSERT ON TABLE fencepost.verdict_reply TO fencepost_runtime;
GRANT SELECT ON TABLE fencepost.verdict_reply TO fencepost_reader;
