import { request } from '../api/client';
import { ApiError, errorFrom } from '../api/error';
import type { Answer, Cell, ResultColumn } from './types';

// lines reads NDJSON as it comes, a batch of whole lines at a time.
async function* lines(response: Response): AsyncGenerator<unknown[]> {
  const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
  let rest = '';
  for (;;) {
    const { done, value } = await reader.read();
    if (done) break;
    const parts = (rest + value).split('\n');
    rest = parts.pop()!;
    if (parts.length > 0) yield parts.map((p) => JSON.parse(p) as unknown);
  }
  if (rest) yield [JSON.parse(rest)];
}

// post sends a request whose answer is a stream of lines.
export async function* postLines(path: string, body: unknown, signal: AbortSignal): AsyncGenerator<unknown[]> {
  const response = await request(path, { method: 'POST', body: JSON.stringify(body), headers: { 'Content-Type': 'application/json' }, signal });
  for await (const batch of lines(response)) {
    for (const line of batch) {
      if (isObject(line) && isObject(line.error)) throw errorFrom(line.error, 200);
    }
    yield batch;
  }
}

export const isObject = (v: unknown): v is Record<string, unknown> => typeof v === 'object' && v !== null && !Array.isArray(v);

// Result grows while its rows arrive. It is whole once it has its answer.
export interface Result {
  columns: ResultColumn[];
  rows: Cell[][];
  answer?: Answer;
}

// runQuery runs a statement and tells now and then how far its result has come.
export async function runQuery(ask: { sql: string; max_rows: number }, signal: AbortSignal, progress: (r: Result) => void): Promise<Result> {
  const result: Result = { columns: [], rows: [] };
  let told = 0;
  for await (const batch of postLines('/api/console/query', ask, signal)) {
    for (const line of batch) {
      if (Array.isArray(line)) result.rows.push(line as Cell[]);
      else if (isObject(line) && line.columns) result.columns = line.columns as ResultColumn[];
      else if (isObject(line) && line.answer) result.answer = line.answer as Answer;
    }
    if (performance.now() - told > 150) {
      told = performance.now();
      progress({ ...result });
    }
  }
  if (!result.answer) {
    throw new ApiError({ status: 0, code: 'interrupted', message: 'the answer ended early', hint: 'what arrived is not the whole result; run it again', retryable: true });
  }
  return result;
}
