import type { Session } from '../api/session';
import { signOut } from '../api/session';
import { Button } from '../parts/Button';
import { Dialog } from '../parts/Dialog';
import { SignInForm } from './SignInForm';

// SignInDialog stands over a page whose session ran out. The page stays as it is and goes on after signing in.
export function SignInDialog({ session }: { session: Session }) {
  return (
    <Dialog title="Your session has ended">
      <p>Sign in again to go on where you are. Nothing on this page is lost, and work under way on the server goes on.</p>
      <SignInForm email={session.person.email} organisation={session.organisation.id} />
      <Button kind="quiet" onClick={() => void signOut()}>
        Leave this page instead
      </Button>
    </Dialog>
  );
}
