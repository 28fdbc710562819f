// ApiError is a failure as the server types it: what happened, and what to do about it.
export class ApiError extends Error {
  readonly status: number; // 0: the server didn't answer
  readonly code: string;
  readonly hint?: string;
  readonly retryable: boolean;
  readonly requestId?: string;

  constructor(f: { status: number; code: string; message: string; hint?: string; retryable?: boolean; requestId?: string }) {
    super(f.message);
    this.name = 'ApiError';
    this.status = f.status;
    this.code = f.code;
    this.hint = f.hint;
    this.retryable = f.retryable ?? false;
    this.requestId = f.requestId;
  }

  get signedOut() {
    return this.status === 401;
  }
}

// errorOf reads a refused answer. Some parts send {error: {…}}, some the error itself.
export async function errorOf(response: Response): Promise<ApiError> {
  let body: Record<string, unknown> = {};
  try {
    const json = (await response.json()) as Record<string, unknown>;
    body = (json.error ?? json) as Record<string, unknown>;
  } catch {
    // A proxy's page, or nothing: the status says what is known.
  }
  const text = (key: string) => (typeof body[key] === 'string' ? (body[key] as string) : undefined);
  return new ApiError({
    status: response.status,
    code: text('code') ?? 'internal',
    message: text('message') ?? `the server answered ${response.status}`,
    hint: text('hint'),
    retryable: body.retryable === true || response.status === 429 || response.status >= 502,
    requestId: text('request_id') ?? response.headers.get('X-Request-ID') ?? undefined,
  });
}

// asApiError gives any failure the same form.
export function asApiError(e: unknown): ApiError {
  if (e instanceof ApiError) return e;
  if (e instanceof TypeError) {
    return new ApiError({ status: 0, code: 'unavailable', message: 'the server can’t be reached', hint: 'check the network; this page tries again by itself where it can', retryable: true });
  }
  return new ApiError({ status: 0, code: 'internal', message: e instanceof Error ? e.message : String(e) });
}
