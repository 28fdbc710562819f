import { useEffect } from 'react';
import { Route, Switch, useLocation, useSearchParams } from 'wouter';
import { useSessionState } from '../api/session';
import { SignInForm } from '../app/SignInForm';
import { Note } from '../parts/States';
import { Welcome } from './Welcome';

// The pages of who is not signed in yet: /signin and /welcome.
export default function Entry() {
  return (
    <main className="centre">
      <div className="card entry">
        <div className="entry-mark">
          <img src="/favicon.svg" alt="" width="30" height="30" />
          <span>Bordereau</span>
        </div>
        <Switch>
          <Route path="/welcome" component={Welcome} />
          <Route component={SignIn} />
        </Switch>
      </div>
    </main>
  );
}

// What the way back from an identity provider says.
const failures: Record<string, string> = {
  oidc_unknown: 'There is no single sign-on for that address. Sign in with your password, or ask an administrator.',
  oidc_state: 'That sign-in was not begun in this browser, or took too long. Try again.',
  oidc_denied: 'Your organisation’s sign-in let nobody in.',
  oidc_unverified: 'Your organisation’s sign-in has not verified your e-mail address. Ask its administrator.',
  oidc_provider: 'Your organisation’s sign-in doesn’t answer. Try again in some minutes.',
  oidc_token: 'What your organisation’s sign-in sent was refused. Ask an administrator; the log has the details.',
  oidc_nobody: 'You are signed in at your organisation, but have no account here. Ask an administrator to invite you.',
};

function SignIn() {
  const [, go] = useLocation();
  const [search] = useSearchParams();
  const state = useSessionState();
  // Only a path of ours: an address elsewhere would lead people away after signing in.
  const wanted = search.get('to') ?? '';
  const to = /^\/[a-z]/.test(wanted) ? wanted : '/chat';
  const failure = search.get('error');
  useEffect(() => {
    if (state.is === 'in') go(to, { replace: true });
  }, [state.is, go, to]);
  return (
    <>
      <h1>Sign in</h1>
      {failure && <Note kind="warn">{failures[failure] ?? 'Signing in failed. Try again.'}</Note>}
      <SignInForm to={to} />
      <p className="quiet">No account, or the password is lost? An administrator of your organisation sends you a link.</p>
    </>
  );
}
