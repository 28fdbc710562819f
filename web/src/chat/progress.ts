import { useSyncExternalStore } from 'react';
import type { ProgressData } from './types';

// How far the calls under way are: passes by and is kept nowhere.
const calls = new Map<string, ProgressData>();
const began = new Map<string, number>();
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

const subscribe = (l: () => void) => {
  listeners.add(l);
  return () => listeners.delete(l);
};

export const useProgress = (call: string) => useSyncExternalStore(subscribe, () => calls.get(call));
