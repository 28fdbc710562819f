import { Suspense, useEffect } from 'react';
import { Redirect, useLocation } from 'wouter';
import { loadSession, useSessionState } from '../api/session';
import { Boundary } from '../parts/Boundary';
import { Empty, ErrorNote, Loading } from '../parts/States';
import { SignInDialog } from './SignInDialog';
import { Shell } from './Shell';
import { faces } from './routes';

// App decides what is shown: a page, or the way in.
export function App() {
  const state = useSessionState();
  const [location] = useLocation();
  useEffect(() => void loadSession(), []);
  const segment = location.split('/')[1] ?? '';
  const face = faces.find((f) => f.paths.includes(segment));

  if (face?.open) return <Page face={face} />;
  switch (state.is) {
    case 'loading':
      return <Loading />;
    case 'unreachable':
      return (
        <main className="centre">
          <ErrorNote error={state.error} retry={() => void loadSession()} />
        </main>
      );
    case 'out':
      return <Redirect to={`/signin${segment ? `?to=${encodeURIComponent(location)}` : ''}`} replace />;
  }
  if (segment === '') return <Redirect to="/chat" replace />;
  return (
    <>
      <Shell>{face ? <Page face={face} /> : <Empty title="There is no such page" text={`Nothing is at ${location}.`} />}</Shell>
      {state.is === 'expired' && <SignInDialog session={state.session} />}
    </>
  );
}

function Page({ face }: { face: (typeof faces)[number] }) {
  return (
    <Boundary key={face.paths[0]}>
      <Suspense fallback={<Loading />}>
        <face.page />
      </Suspense>
    </Boundary>
  );
}
