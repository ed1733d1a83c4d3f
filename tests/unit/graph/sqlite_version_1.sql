CREATE TABLE setting (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE groups (no INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, changes INTEGER NOT NULL DEFAULT 0);
CREATE TABLE lane (
    group_no INTEGER NOT NULL REFERENCES groups (no), stage TEXT NOT NULL, version INTEGER NOT NULL,
    PRIMARY KEY (group_no, stage)) WITHOUT ROWID;
CREATE TABLE mark (
    group_no INTEGER NOT NULL REFERENCES groups (no), episode_id TEXT NOT NULL, stage TEXT NOT NULL, output TEXT,
    PRIMARY KEY (group_no, episode_id, stage));

CREATE TABLE episode (
    no INTEGER PRIMARY KEY, group_no INTEGER NOT NULL REFERENCES groups (no), id TEXT NOT NULL,
    state TEXT NOT NULL, reason TEXT, reference_time INTEGER NOT NULL, sequence INTEGER NOT NULL, thread_id TEXT,
    created_at INTEGER NOT NULL, usage TEXT NOT NULL, body TEXT NOT NULL,
    UNIQUE (group_no, id));
CREATE INDEX episode_by_time ON episode (group_no, reference_time, sequence);
CREATE INDEX episode_by_thread ON episode (group_no, thread_id, reference_time, sequence);
CREATE TABLE metadata (
    episode_no INTEGER NOT NULL REFERENCES episode (no), key TEXT NOT NULL, value TEXT NOT NULL,
    PRIMARY KEY (episode_no, key)) WITHOUT ROWID;

CREATE TABLE entity (
    no INTEGER PRIMARY KEY, group_no INTEGER NOT NULL REFERENCES groups (no), id TEXT NOT NULL,
    type TEXT, created_at INTEGER NOT NULL, community_id TEXT, body TEXT NOT NULL,
    UNIQUE (group_no, id));
CREATE INDEX entity_by_community ON entity (group_no, community_id);
CREATE TABLE entity_key (
    group_no INTEGER NOT NULL REFERENCES groups (no), key TEXT NOT NULL,
    entity_no INTEGER NOT NULL REFERENCES entity (no),
    PRIMARY KEY (group_no, key, entity_no)) WITHOUT ROWID;
CREATE INDEX entity_key_by_entity ON entity_key (entity_no);
CREATE TABLE mention (
    group_no INTEGER NOT NULL REFERENCES groups (no), episode_id TEXT NOT NULL,
    entity_no INTEGER NOT NULL REFERENCES entity (no), known_from INTEGER NOT NULL,
    PRIMARY KEY (group_no, episode_id, entity_no)) WITHOUT ROWID;
CREATE INDEX mention_by_entity ON mention (entity_no);

CREATE TABLE evidence (
    no INTEGER PRIMARY KEY, group_no INTEGER NOT NULL REFERENCES groups (no), id TEXT NOT NULL,
    subject TEXT NOT NULL, relation TEXT NOT NULL, object TEXT NOT NULL, cardinality TEXT NOT NULL,
    body TEXT NOT NULL,
    UNIQUE (group_no, id));
CREATE INDEX evidence_by_slot ON evidence (group_no, subject, relation, object);
CREATE INDEX evidence_by_object ON evidence (group_no, object, relation);

CREATE TABLE fact (
    no INTEGER PRIMARY KEY, group_no INTEGER NOT NULL REFERENCES groups (no), id TEXT NOT NULL,
    source TEXT NOT NULL, relation TEXT NOT NULL, target TEXT NOT NULL, created_at INTEGER NOT NULL,
    revision INTEGER NOT NULL, body TEXT NOT NULL,
    UNIQUE (group_no, id));
CREATE INDEX fact_by_source ON fact (group_no, source, relation, target);
CREATE INDEX fact_by_target ON fact (group_no, target, source);
CREATE TABLE belief (
    fact_no INTEGER NOT NULL REFERENCES fact (no), place INTEGER NOT NULL,
    known_from INTEGER NOT NULL, known_to INTEGER NOT NULL, holds INTEGER NOT NULL,
    valid_from INTEGER NOT NULL, valid_to INTEGER NOT NULL,
    PRIMARY KEY (fact_no, place)) WITHOUT ROWID;
CREATE TABLE support (
    fact_no INTEGER NOT NULL REFERENCES fact (no), place INTEGER NOT NULL,
    group_no INTEGER NOT NULL REFERENCES groups (no), episode_id TEXT NOT NULL,
    known_from INTEGER NOT NULL, known_to INTEGER NOT NULL,
    PRIMARY KEY (fact_no, place)) WITHOUT ROWID;
CREATE INDEX support_by_episode ON support (group_no, episode_id);
CREATE VIEW held AS
    SELECT f.no, f.group_no, f.id, f.source, f.relation, f.target, f.created_at,
        b.known_from, b.known_to, b.valid_from, b.valid_to
    FROM fact f JOIN belief b ON b.fact_no = f.no WHERE b.holds = 1;

CREATE TABLE community (
    no INTEGER PRIMARY KEY AUTOINCREMENT, group_no INTEGER NOT NULL REFERENCES groups (no), id TEXT NOT NULL,
    created_at INTEGER NOT NULL, body TEXT NOT NULL,
    UNIQUE (group_no, id));

CREATE TABLE vector (
    kind TEXT NOT NULL, item_no INTEGER NOT NULL, group_no INTEGER NOT NULL REFERENCES groups (no),
    change INTEGER NOT NULL, data BLOB NOT NULL,
    PRIMARY KEY (kind, item_no));
CREATE INDEX vector_by_change ON vector (kind, group_no, change);

CREATE VIRTUAL TABLE episode_text USING fts5 (scope, terms, tokenize = 'ascii');
CREATE VIRTUAL TABLE entity_text USING fts5 (scope, terms, tokenize = 'ascii');
CREATE VIRTUAL TABLE fact_text USING fts5 (scope, terms, tokenize = 'ascii');
CREATE VIRTUAL TABLE community_text USING fts5 (scope, terms, tokenize = 'ascii');
