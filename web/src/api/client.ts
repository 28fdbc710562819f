import { asApiError, errorOf } from './error';
import { csrf, expired, lookAgain } from './session';

// request is fetch with the session's cookie and its CSRF header, and with typed failures. A session that ran out asks for a
// new sign-in over the page, which stays as it is; one that began anew in another tab is taken up.
export async function request(path: string, init: RequestInit = {}, again = true): Promise<Response> {
  const headers = new Headers(init.headers);
  const token = csrf();
  if (token && init.method && init.method !== 'GET') headers.set('X-CSRF-Token', token);
  let response: Response;
  try {
    response = await fetch(path, { ...init, headers, credentials: 'same-origin', redirect: 'error' });
  } catch (e) {
    if (init.signal?.aborted) throw e;
    throw asApiError(e);
  }
  if (response.ok) return response;
  const error = await errorOf(response);
  if (error.signedOut) expired();
  if (error.field === 'csrf' && again && (await lookAgain())) return request(path, init, false);
  throw error;
}

async function json<T>(path: string, init?: RequestInit): Promise<T> {
  const response = await request(path, init);
  return (response.status === 204 ? undefined : await response.json()) as T;
}

function send<T>(method: string, path: string, body?: unknown, signal?: AbortSignal): Promise<T> {
  return json<T>(path, {
    method,
    signal,
    ...(body === undefined ? {} : { body: JSON.stringify(body), headers: { 'Content-Type': 'application/json' } }),
  });
}

// api is how every page talks to the server.
export const api = {
  get: <T>(path: string, signal?: AbortSignal) => json<T>(path, { signal }),
  post: <T>(path: string, body?: unknown, signal?: AbortSignal) => send<T>('POST', path, body, signal),
  put: <T>(path: string, body?: unknown, signal?: AbortSignal) => send<T>('PUT', path, body, signal),
  patch: <T>(path: string, body?: unknown, signal?: AbortSignal) => send<T>('PATCH', path, body, signal),
  delete: <T>(path: string, signal?: AbortSignal) => send<T>('DELETE', path, undefined, signal),
};

// query writes ?a=b with only what is set.
export function query(values: Record<string, string | number | boolean | undefined | null>): string {
  const q = new URLSearchParams();
  for (const [key, value] of Object.entries(values)) {
    if (value !== undefined && value !== null && value !== '') q.set(key, String(value));
  }
  const text = q.toString();
  return text ? `?${text}` : '';
}
