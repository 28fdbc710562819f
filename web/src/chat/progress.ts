import { useSyncExternalStore } from 'react';
import type { ProgressData } from './types';

// How far the calls of the turn under way are: passes by and is kept nowhere. Models number their calls anew in each turn.
const calls = new Map<string, ProgressData>();
const began = new Map<string, number>();
const ended = new Map<string, number>();
const listeners = new Set<() => void>();

export function noteProgress(call: string, p: ProgressData) {
  calls.set(call, p);
  for (const l of listeners) l();
}

// sinceSeen tells for how long this page has seen a call run.
export function sinceSeen(call: string): number {
  const now = Date.now();
  if (!began.has(call)) began.set(call, now);
  return now - began.get(call)!;
}

// watched is how long a call took that this page saw from its beginning, until the server tells exactly.
export function watched(call: string): number | undefined {
  const from = began.get(call);
  if (from === undefined) return undefined;
  if (!ended.has(call)) ended.set(call, Date.now());
  return ended.get(call)! - from;
}

export function forgetProgress() {
  for (const m of [calls, began, ended]) m.clear();
}

const subscribe = (l: () => void) => {
  listeners.add(l);
  return () => listeners.delete(l);
};

export const useProgress = (call: string) => useSyncExternalStore(subscribe, () => calls.get(call));
