import type { Role } from '../api/session';

// What the server says of people; GET /openapi.json describes it.
export const roles: Role[] = ['underwriter', 'analyst', 'auditor', 'admin'];

export const mayDo: Record<Role, string> = {
  underwriter: 'asks, and sees own conversations',
  analyst: 'asks, and sees every statement in the console',
  auditor: 'reads everything: conversations, statements, the admin log',
  admin: 'manages people, keys and imports, and reads everything',
};

export const scopes = {
  read: 'see conversations, files, runs, schedules',
  ask: 'send messages and files, stop turns',
  query: 'run SQL, read the audit',
  edit: 'change schedules, guidelines, dispositions',
  import: 'import data',
  admin: 'people, keys, the admin log',
} as const;

export type Scope = keyof typeof scopes;

export interface Person {
  id: string;
  name: string;
  email: string;
  role: Role;
  disabled: boolean;
  password: boolean;
  created: string;
  seen?: string;
}

export interface OneTimeLink {
  url: string;
  expires: string;
}

export interface Invitation {
  organisation: { id: string; name: string };
  person?: { id: string; name: string; email: string; role: Role };
  expires: string;
}

export interface BrowserSession {
  id: string;
  method: 'password' | 'link' | 'oidc';
  address: string;
  agent: string;
  created: string;
  used: string;
  expires: string;
  current: boolean;
}

export interface Key {
  id: string;
  person: string;
  label: string;
  scopes: Scope[];
  created: string;
  expires?: string;
  revoked?: string;
  used?: string;
}

export interface LogEntry {
  id: string;
  at: string;
  actor: string;
  actorName: string;
  action: string;
  subject: string;
  detail: string;
  address: string;
}
