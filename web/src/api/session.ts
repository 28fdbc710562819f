import { useSyncExternalStore } from 'react';
import { ApiError, asApiError, errorOf } from './error';

export type Role = 'underwriter' | 'analyst' | 'auditor' | 'admin';

export interface Session {
  person: { id: string; name: string; email: string; role: Role };
  organisation: { id: string; name: string };
  csrf: string;
}

// State is who is signed in. Expired keeps the session that ran out: its page stays, under a sign-in.
export type State =
  | { is: 'loading' }
  | { is: 'unreachable'; error: ApiError }
  | { is: 'out' }
  | { is: 'in'; session: Session }
  | { is: 'expired'; session: Session };

let state: State = { is: 'loading' };
const listeners = new Set<() => void>();

function set(next: State) {
  state = next;
  for (const l of listeners) l();
}

export const csrf = () => ('session' in state ? state.session.csrf : undefined);

// expired is called when an answer says that nobody is signed in.
export function expired() {
  if (state.is === 'in') set({ is: 'expired', session: state.session });
}

// signedInAgain resolves when there is a session again, at once if there is one.
export function signedInAgain(signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const look = () => {
      if (state.is !== 'in' && !signal?.aborted) return;
      listeners.delete(look);
      signal?.removeEventListener('abort', look);
      if (signal?.aborted) reject(signal.reason as Error);
      else resolve();
    };
    listeners.add(look);
    signal?.addEventListener('abort', look);
    look();
  });
}

export async function loadSession(): Promise<void> {
  try {
    const response = await fetch('/api/session', { credentials: 'same-origin' });
    if (response.status === 401) set({ is: 'out' });
    else if (!response.ok) throw await errorOf(response);
    else set({ is: 'in', session: (await response.json()) as Session });
  } catch (e) {
    set({ is: 'unreachable', error: asApiError(e) });
  }
}

async function post(path: string, body: unknown): Promise<void> {
  const response = await fetch(path, { method: 'POST', body: JSON.stringify(body), headers: { 'Content-Type': 'application/json' }, credentials: 'same-origin' }).catch((e: unknown) => {
    throw asApiError(e);
  });
  if (!response.ok) throw await errorOf(response);
  await loadSession();
}

export const signIn = (email: string, password: string, organisation?: string) => post('/api/session', { email, password, organisation });

// signInByLink takes the token of a first-run or invitation link and sets the password. An organisation's first administrator says who
// she is.
export const signInByLink = (token: string, password: string, first?: { email: string; name: string }) => post('/api/session/link', { token, password, ...first });

// lookAgain takes up a session that began elsewhere, as in another tab. Where there is none, everything stays. It tells whether the
// same person is signed in.
export async function lookAgain(): Promise<boolean> {
  const response = await fetch('/api/session', { credentials: 'same-origin' }).catch(() => undefined);
  if (!response?.ok) return false;
  const session = (await response.json()) as Session;
  const same = !('session' in state) || state.session.person.id === session.person.id;
  if (same) set({ is: 'in', session });
  else location.assign('/'); // somebody else: nothing of this page is hers
  return same;
}

export async function signOut(): Promise<void> {
  const response = await fetch('/api/session', { method: 'DELETE', headers: { 'X-CSRF-Token': csrf() ?? '' }, credentials: 'same-origin' });
  if (!response.ok && response.status !== 401) throw await errorOf(response);
  set({ is: 'out' });
}

const subscribe = (listener: () => void) => {
  listeners.add(listener);
  return () => listeners.delete(listener);
};

export const useSessionState = () => useSyncExternalStore(subscribe, () => state);

// useSession is for pages, which are shown only to who is signed in.
export function useSession(): Session {
  const s = useSessionState();
  if (!('session' in s)) throw new Error('a page was shown to nobody');
  return s.session;
}
