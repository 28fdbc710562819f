// What the console's API answers.

export interface Listed {
  audit_id: string;
  asked_at: string;
  seq: number;
  person: string;
  role: string;
  via: string;
  conversation?: string;
  turn?: string;
  sql: string;
  decision: string;
  rule?: string;
  outcome: string;
  relations: string[];
  generation?: string;
  rows: number;
  bytes: number;
  truncated: boolean;
  queue_ms: number;
  run_ms: number;
}

export interface StatementList {
  statements: Listed[];
  people: Record<string, string>;
  next?: string;
  looked?: string;
}

export interface Use {
  run_id: string;
  created_at: string;
  guideline: string;
  conversation: string;
  purpose?: string;
  findings: { id: string; submission_id: string; rule_id: string; severity: string; message: string }[];
  finding_count: number;
}

// Delivered is a file that a turn delivered; a report names the run that it was rendered from.
export interface Delivered {
  id: string;
  turn: string;
  name: string;
  url: string;
  run?: string;
  created: string;
}

export interface Statement extends Listed {
  person_name?: string;
  sql_asked: string;
  sql_run?: string;
  redacted: boolean;
  message?: string;
  hint?: string;
  position?: number;
  columns: string[];
  profile?: string;
  file_sha256?: string;
  epoch?: number;
  sandbox?: string;
  last_seq: number;
  hash: string;
  prev_hash: string;
  uses: Use[];
}

export interface ResultColumn {
  name: string;
  type: string;
}

export type Cell = string | null;

export interface Answer {
  audit_id: string;
  generation: string;
  rows: number;
  truncated: boolean;
  ms: number;
  sql_run: string;
  clipped?: number;
}

export interface PlanNode {
  name: string;
  children?: PlanNode[];
  extra_info?: Record<string, unknown>;
}

export interface Plan {
  audit_id: string;
  generation: string;
  role: string;
  sql_run: string;
  plan: PlanNode[];
}

export interface Schema {
  role: string;
  relations: { name: string; meaning: string; example: string; filtered: boolean; columns: { name: string; type: string; meaning?: string; mask?: string }[] }[];
  functions: string[];
}

export interface Policy {
  role: string;
  profile: string;
  relations: string[];
  masked: Record<string, string>;
  hidden: Record<string, string[]>;
  rows: Record<string, string>;
  limits: { rows: number; bytes: number; seconds: number; memory: number };
  budgets: { of: string; per: string; have: Spent; used: Spent }[];
}

export interface Spent {
  queries: number;
  seconds: number;
  bytes: number;
}

export interface Saved {
  id: string;
  person: string;
  name: string;
  sql: string;
  shared: boolean;
  own: boolean;
  updated_at: string;
}

export interface ComparedSide {
  audit_id: string;
  generation: string;
  sql_run: string;
  columns: ResultColumn[];
  rows: number;
  ms: number;
}

export interface Change {
  kind: 'added' | 'removed' | 'changed';
  left?: Cell[];
  right?: Cell[];
}

export interface Compared {
  left: ComparedSide;
  right: ComparedSide;
  columns: { name: string; left?: string; right?: string }[];
  compared: string[];
  same: number;
  added: number;
  removed: number;
  changed: number;
  changes: Change[];
}

export interface UsageList {
  by: string;
  all: boolean;
  groups: {
    key: string;
    person?: string;
    attempts: number;
    turns: number;
    usage: { input: number; output: number; cache_read: number; cache_write: number; cost_micros: number };
  }[];
}
