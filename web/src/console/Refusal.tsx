import { Link } from 'wouter';
import type { ApiError } from '../api/error';
import { Icon } from '../parts/Icon';

// Refusal says why a statement has no answer: the rule, the place, and how to rewrite it.
export function Refusal({ error }: { error: ApiError }) {
  return (
    <div className="note note-error refusal" role="alert">
      <Icon name="error" />
      <div>
        <p>
          <b>{error.message}</b>
        </p>
        {error.hint && <p>{error.hint}</p>}
        <small>
          {error.rule && (
            <>
              Rule <code>{error.rule}</code>
            </>
          )}
          {error.position ? ` at byte ${error.position}` : ''}
          {error.auditId && (
            <>
              {' · '}
              <Link href={`/console/statements/${encodeURIComponent(error.auditId)}`}>record</Link>
            </>
          )}
          {error.requestId && ` · request ${error.requestId}`}
        </small>
      </div>
    </div>
  );
}
