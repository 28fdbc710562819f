export interface Listed {
  key: string;
  id: string;
  carrier: string;
  name: string;
  version: string;
  effective: string;
  rules: number;
  own: boolean;
  in_force: boolean;
  published?: string;
  person?: string;
}

export interface Shown extends Listed {
  sha256: string;
  text?: string;
  parameters: Record<string, string>;
  rule_list: { id: string; text: string; severity: string; action: string; scope: string; basis?: string }[];
}

export interface Draft {
  id: string;
  revision: number;
  title: string;
  text?: string;
  person: string;
  at: string;
}

export interface Change {
  what: string;
  from?: string;
  to?: string;
}

export interface Checked {
  problems: { line: number; message: string; hint?: string }[];
  guideline?: Shown;
  against?: string;
  changes?: Change[];
}

export interface Finding {
  id: string;
  submission_id: string;
  rule_id: string;
  guideline?: string;
  severity: string;
  action: string;
  outcome: string;
  class: string;
  entity: string;
  field: string;
  message: string;
  stated?: string;
  expected?: string;
  explanation?: string;
  missing?: string[];
  confidence: number;
  evidence?: Evidence[];
  disposition?: string;
  comment?: string;
  reviewed_by?: string;
  reviewed_at?: string;
}

export interface Evidence {
  kind: string;
  audit_id?: string;
  filename?: string;
  document_type?: string;
  field?: string;
  page?: number;
  raw?: string;
  value?: string;
  confidence?: number;
  edited_by?: string;
  source?: string;
}

export interface Head {
  id: string;
  person: string;
  conversation?: string;
  created: string;
  guideline: string;
  submissions: number;
  findings: number;
}

export const dispositions: Record<string, string> = { '': 'open', accepted: 'accepted', waived: 'waived', to_broker: 'back to the broker', error: 'wrong finding' };

export const tones = { critical: 'bad', major: 'warn', minor: 'info', note: 'plain' } as const;
export const toneOf = (severity: string) => tones[severity as keyof typeof tones] ?? 'plain';
