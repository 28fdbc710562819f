// ApiError is a failure as the server types it: what happened, and what to do about it.
export class ApiError extends Error {
  readonly status: number; // 0: the server didn't answer
  readonly code: string;
  readonly hint?: string;
  readonly retryable: boolean;
  readonly requestId?: string;
  readonly rule?: string; // of a refused statement
  readonly position?: number; // where in it: a 1-based byte offset
  readonly auditId?: string; // its record
  readonly field?: string; // of the form, where one is wrong
  readonly organisations?: { id: string; name: string }[]; // to choose from, when signing in

  constructor(f: { status: number; code: string; message: string; hint?: string; retryable?: boolean; requestId?: string; rule?: string; position?: number; auditId?: string; field?: string; organisations?: { id: string; name: string }[] }) {
    super(f.message);
    this.name = 'ApiError';
    this.status = f.status;
    this.code = f.code;
    this.hint = f.hint;
    this.retryable = f.retryable ?? false;
    this.requestId = f.requestId;
    this.rule = f.rule;
    this.position = f.position;
    this.auditId = f.auditId;
    this.field = f.field;
    this.organisations = f.organisations;
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
  return errorFrom(body, response.status, response.headers.get('X-Request-ID') ?? undefined);
}

// errorFrom reads the error itself, which is also the last line of a stream that failed.
export function errorFrom(body: Record<string, unknown>, status: number, requestId?: string): ApiError {
  const text = (key: string) => (typeof body[key] === 'string' ? (body[key] as string) : undefined);
  return new ApiError({
    status,
    code: text('code') ?? 'internal',
    message: text('message') ?? `the server answered ${status}`,
    hint: text('hint'),
    retryable: body.retryable === true || status === 429 || status >= 502,
    requestId: text('request_id') ?? requestId,
    rule: text('rule'),
    position: typeof body.position === 'number' ? body.position : undefined,
    auditId: text('audit_id'),
    field: text('field'),
    organisations: Array.isArray(body.organisations) ? (body.organisations as { id: string; name: string }[]) : undefined,
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
