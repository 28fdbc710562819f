import type { Role } from '../api/session';

export type Kind = 'email' | 'webhook' | 'folder';

export interface Destination {
  kind: Kind;
  to: string;
  secret?: string;
}

export interface Schedule {
  id: string;
  person: { id: string; name: string };
  name: string;
  task: string;
  model: string;
  cron: string;
  zone: string;
  missed: 'run_once' | 'skip';
  overlap: 'skip' | 'queue';
  deliver: Destination[];
  alert: Destination[];
  paused: boolean;
  paused_why?: string;
  next: string[];
  last?: Run;
  mine: boolean;
}

// Draft is what a person writes.
export type Draft = Pick<Schedule, 'name' | 'task' | 'model' | 'cron' | 'zone' | 'missed' | 'overlap' | 'deliver' | 'alert'>;

export interface ScheduleList {
  schedules: Schedule[];
  kinds: Kind[];
  models: string[];
}

export interface Preview {
  next: string[];
  field?: string;
  problem?: string;
  hint?: string;
}

export interface Run {
  id: string;
  tick: string;
  cause: 'clock' | 'person';
  state: 'queued' | 'running' | 'completed' | 'cut_short' | 'cancelled' | 'failed' | 'skipped' | 'missed';
  note?: string;
  missed?: number;
  conversation?: string;
  found?: number;
  alert?: 'failed' | 'cut_short' | 'empty' | 'paused';
  artifacts?: { id: string; name: string; size: number; url: string }[];
  deliveries?: Delivery[];
}

export interface Delivery {
  id: string;
  parcel: 'report' | 'alert';
  kind: Kind;
  to: string;
  state: 'due' | 'sending' | 'sent' | 'failed';
  next_try?: string;
  attempts: { n: number; outcome: string; message?: string; hint?: string; started: string }[];
}

// oversees tells who sees the schedules of the whole organisation.
export const oversees = (role: Role) => role === 'auditor' || role === 'admin';
