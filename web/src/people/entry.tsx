import { useEffect } from 'react';
import { useLocation, useSearchParams } from 'wouter';
import { useSessionState } from '../api/session';
import { SignInForm } from '../app/SignInForm';

// The pages of who is not signed in yet: /signin and /welcome.
export default function Entry() {
  const [, go] = useLocation();
  const [search] = useSearchParams();
  const state = useSessionState();
  // Only a path of ours: an address elsewhere would lead people away after signing in.
  const to = /^\/[a-z]/.test(search.get('to') ?? '') ? search.get('to')! : '/chat';
  useEffect(() => {
    if (state.is === 'in') go(to, { replace: true });
  }, [state.is, go, to]);
  return (
    <main className="centre">
      <div className="card entry">
        <h1>Bordereau</h1>
        <SignInForm />
      </div>
    </main>
  );
}
