-- What the reader remembers: ids that were handled, and the newest sequence of each series.
CREATE TABLE IF NOT EXISTS handled (id TEXT PRIMARY KEY, until INTEGER NOT NULL);
CREATE TABLE IF NOT EXISTS newest (series TEXT PRIMARY KEY, sequence TEXT NOT NULL, until INTEGER NOT NULL);
-- Owners (user/<id>, account/<id>) that were erased: nothing that comes about them later is kept.
CREATE TABLE IF NOT EXISTS erased (owner TEXT PRIMARY KEY, until INTEGER NOT NULL);

CREATE TABLE IF NOT EXISTS users (
  user TEXT PRIMARY KEY,
  sequence TEXT NOT NULL DEFAULT '',
  deleted INTEGER NOT NULL DEFAULT 0,
  attributes_sequence TEXT NOT NULL DEFAULT '',
  loan_id TEXT
);
CREATE TABLE IF NOT EXISTS accounts (
  account TEXT PRIMARY KEY,
  user TEXT,
  sequence TEXT NOT NULL DEFAULT '',
  deleted INTEGER NOT NULL DEFAULT 0
);
CREATE INDEX IF NOT EXISTS accounts_of_user ON accounts (user);
-- The newest version of each income document, as JSON: its address, and of its payments only what the sums need. NULL where
-- the provider has no data any more.
CREATE TABLE IF NOT EXISTS documents (
  subject TEXT PRIMARY KEY,
  account TEXT NOT NULL,
  sequence TEXT NOT NULL,
  document TEXT
);
CREATE INDEX IF NOT EXISTS documents_of_account ON documents (account);

-- The result. Deleted users and accounts have no income; it returns if the account is restored.
CREATE TABLE IF NOT EXISTS income (
  user TEXT NOT NULL,
  month TEXT NOT NULL,
  currency TEXT NOT NULL,
  loan_id TEXT,
  gross TEXT NOT NULL,
  net TEXT NOT NULL,
  payments INTEGER NOT NULL,
  documents TEXT NOT NULL,
  PRIMARY KEY (user, month, currency)
);
CREATE INDEX IF NOT EXISTS income_by_loan ON income (loan_id);
