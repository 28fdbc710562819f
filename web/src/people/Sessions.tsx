import { useState } from 'react';
import { api } from '../api/client';
import { asApiError, type ApiError } from '../api/error';
import { useResource } from '../api/useResource';
import { Button } from '../parts/Button';
import { Badge, ErrorNote, Loading } from '../parts/States';
import { exactly, when } from '../parts/format';
import type { BrowserSession } from './types';

interface Props {
  path: string; // GET lists, DELETE ends all but the one that asks
  one?: (id: string) => string; // DELETE ends one
  mayEnd: boolean;
}

// SessionList shows where somebody is signed in, and ends it.
export function SessionList({ path, one, mayEnd }: Props) {
  const list = useResource(path, (signal) => api.get<{ sessions: BrowserSession[] }>(path, signal));
  const [error, setError] = useState<ApiError>();
  const end = async (address: string) => {
    setError(undefined);
    try {
      await api.delete(address);
      list.reload();
    } catch (e) {
      setError(asApiError(e));
    }
  };
  if (list.error) return <ErrorNote error={list.error} retry={list.reload} />;
  if (!list.data) return <Loading />;
  const sessions = list.data.sessions;
  const others = sessions.filter((s) => !s.current).length;
  return (
    <>
      {error && <ErrorNote error={error} />}
      {sessions.length === 0 && <p className="quiet">Signed in nowhere.</p>}
      <ul className="sessions">
        {sessions.map((s) => (
          <li key={s.id}>
            <div>
              <b title={s.agent}>{browser(s.agent)}</b> {s.current && <Badge tone="good">this one</Badge>}
              <br />
              <small>
                {s.address} · by {methods[s.method]} · used {when(s.used)} · ends {exactly(s.expires)}
              </small>
            </div>
            {one && !s.current && (
              <Button small onClick={() => void end(one(s.id))} aria-label={`End the session in ${browser(s.agent)} from ${s.address}`}>
                End
              </Button>
            )}
          </li>
        ))}
      </ul>
      {mayEnd && others > 0 && (
        <div>
          <Button kind="danger" onClick={() => void end(path)}>
            {one ? 'Sign out everywhere else' : 'End all sessions'}
          </Button>
        </div>
      )}
    </>
  );
}

const methods = { password: 'password', link: 'one-time link', oidc: 'the organisation’s sign-in' };

// browser names what is known from what a browser calls itself; the whole text is in the tooltip.
function browser(agent: string): string {
  const name = /Edg\//.test(agent) ? 'Edge' : /Firefox\//.test(agent) ? 'Firefox' : /Chrom(e|ium)\//.test(agent) ? 'Chrome' : /Safari\//.test(agent) ? 'Safari' : 'A program';
  const system = /Windows/.test(agent) ? 'Windows' : /iPhone|iPad/.test(agent) ? 'iOS' : /Mac OS/.test(agent) ? 'macOS' : /Android/.test(agent) ? 'Android' : /Linux/.test(agent) ? 'Linux' : '';
  return system ? `${name} on ${system}` : name;
}
